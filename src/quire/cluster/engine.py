# SPDX-License-Identifier: GPL-2.0
"""The engine, dask.distributed, and its settings."""

from __future__ import annotations

import logging
from typing import Any

import dask
from distributed import Security as Certificates

from quire.cluster.security import Security

# The messages that our scheduler answers besides the engine's own.
VERSION, HAS, PUT, GET = "quire_version", "quire_has", "quire_put", "quire_get"


def configure() -> None:
    """Settings for every process of a cluster."""
    logging.getLogger("distributed").setLevel(logging.ERROR)
    dask.config.set(
        {
            # A boot takes minutes, and a host may be busy.
            "distributed.comm.timeouts.connect": "20s",
            "distributed.comm.timeouts.tcp": "120s",
            # A job that waits for its worker goes to one that is idle.
            "distributed.scheduler.work-stealing": True,
            # A program that kills its worker this often is to blame itself.
            "distributed.scheduler.allowed-failures": 5,
            "distributed.worker.memory.pause": False,
            "distributed.worker.memory.terminate": False,
            "distributed.worker.memory.spill": False,
            "distributed.worker.memory.target": False,
        }
    )


def certificates(security: Security) -> Certificates | None:
    """The engine's object; None for loopback without certificates."""
    words: dict[str, Any] = dict(security.arguments())
    return Certificates(require_encryption=True, **words) if words else None
