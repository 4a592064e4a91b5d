# SPDX-License-Identifier: GPL-2.0
"""Our scheduler: the engine's, which also keeps the files that jobs name by their hash."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from distributed import Scheduler

from quire.cluster import engine, version
from quire.cluster.blobs import Blobs
from quire.cluster.security import LOOPBACK, Security
from quire.host.errors import UserError

# Its status page: on loopback, on any free port.
NO_PAGE = f"{LOOPBACK}:0"


def serve(host: str, port: int, security: Security, directory: Path) -> None:
    """Run until interrupted. The address is the line on stdout. UserError for a port in use."""
    engine.configure()
    asyncio.run(_serve(host, port, security, directory))


async def _serve(host: str, port: int, security: Security, directory: Path) -> None:
    blobs = Blobs(directory)
    try:
        scheduler = await Scheduler(
            host=host,
            port=port,
            protocol=security.scheme,
            security=engine.certificates(security),
            dashboard=False,
            dashboard_address=NO_PAGE,
        )
    except OSError as error:
        raise UserError(
            f"the scheduler cannot listen on {host}:{port}", str(error), "choose another --port"
        ) from error
    scheduler.handlers[engine.VERSION] = version.ours
    scheduler.handlers[engine.HAS] = blobs.has
    scheduler.handlers[engine.PUT] = lambda sha, data: blobs.put(sha, bytes(data))
    scheduler.handlers[engine.GET] = lambda sha: blobs.path(sha).read_bytes()
    print(scheduler.address, flush=True)
    reach = "whoever has a certificate" if security.tls else "processes of this host alone"
    print(f"quire: {reach} can use {scheduler.address}", file=sys.stderr)
    await scheduler.finished()
