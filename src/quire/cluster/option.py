# SPDX-License-Identifier: GPL-2.0
"""The option --cluster: run boots, and check's compilations, on a cluster."""

import argparse
import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quire.host.errors import UserError
from quire.session import Session

if TYPE_CHECKING:
    from quire.cluster.client import Cluster


def add(part: argparse.ArgumentParser) -> None:
    """Add --cluster and --tls."""
    group = part.add_argument_group("cluster (docs/dev/cluster.md)")
    text = "run on the workers of this scheduler: tcp://127.0.0.1:PORT, tls://HOST:PORT; or on "
    text += "local: -j workers in this process"
    group.add_argument("--cluster", metavar="ADDRESS", help=text)
    text = "certificates for other hosts: ca.pem, cert.pem and key.pem in DIR"
    group.add_argument("--tls", type=Path, metavar="DIR", help=text)


@contextlib.contextmanager
def using(session: Session, arguments: argparse.Namespace) -> Iterator[Session]:
    """Return a session whose machines run on the cluster of --cluster, or else here."""
    cluster: Cluster | None = None
    if arguments.tls and not arguments.cluster:
        raise UserError("--tls requires --cluster", str(arguments.tls), "--cluster tls://HOST:PORT")
    if name := arguments.cluster:
        require_engine()
        from quire.cluster import client, policy  # noqa: PLC0415 -- only with --cluster

        if name != policy.LOCAL:
            policy.require(name, arguments.tls)
        policy.configure()
        where = (name, arguments.tls, session.cache.root / "cluster", session.jobs)
        cluster = client.Cluster(*where)
    try:
        if cluster:
            with session.progress.stage(f"cluster {name}"):
                cluster.require_workers()
            session.progress.also = cluster.about
        yield replace(session, place=cluster) if cluster else session
    finally:
        session.progress.also = None
        if cluster:
            cluster.close()


def require_engine() -> None:
    """Raise UserError unless dask.distributed is installed, without importing it."""
    if not importlib.util.find_spec("distributed"):
        where = f"no module `distributed` in {sys.prefix}"
        raise UserError("a cluster needs dask.distributed", where, "scripts/bootstrap cluster")
