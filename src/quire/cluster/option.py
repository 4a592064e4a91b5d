# SPDX-License-Identifier: GPL-2.0
"""The option --cluster: boots, and what check compiles, run on a cluster."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from quire.cluster.order import Call
from quire.cluster.security import Security
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.session import Session

if TYPE_CHECKING:
    from quire.cluster.client import Cluster

ENGINE = "distributed"
LOCAL = "local"


class Workers(Protocol):
    """A cluster for what is not a boot."""

    def call(self, call: Call, cache: Cache, /) -> Sequence[Any]:
        """Call a function on some worker; what it returns."""


def add(part: argparse.ArgumentParser) -> None:
    """Add --cluster and --tls."""
    group = part.add_argument_group("many machines (docs/cluster.md)")
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="run on the workers of this scheduler: tcp://127.0.0.1:PORT, tls://HOST:PORT; or "
        "local: a scheduler and -j workers of our own, on this host",
    )
    group.add_argument(
        "--tls",
        type=Path,
        metavar="DIR",
        help="certificates for hosts other than this: DIR/ca.pem, cert.pem, key.pem",
    )


@contextlib.contextmanager
def using(
    session: Session, arguments: argparse.Namespace
) -> Iterator[tuple[Session, Workers | None]]:
    """The session whose machines run on the cluster of --cluster, and that cluster.

    UserError if the engine is not installed, or the cluster cannot be used.
    """
    if not arguments.cluster:
        yield session, None
        return
    require_engine()
    security = Security(arguments.tls)
    if arguments.cluster != LOCAL:
        security.require_address(arguments.cluster)
    with contextlib.ExitStack() as stack:
        address = arguments.cluster
        cluster = process.value(None, lambda: _enter(session, address, security, stack))
        yield replace(session, place=cluster) if cluster else session, cluster


def require_engine() -> None:
    """UserError unless dask.distributed is installed. It is not imported."""
    if importlib.util.find_spec(ENGINE) is None:
        raise UserError(
            "a cluster needs dask.distributed",
            f"no module {ENGINE} in {sys.prefix}",
            "scripts/bootstrap cluster",
        )


def _enter(
    session: Session, address: str, security: Security, stack: contextlib.ExitStack
) -> Cluster:
    from quire.cluster.client import Cluster  # noqa: PLC0415 -- only with --cluster

    workers = 1
    if address == LOCAL:
        address, workers = stack.enter_context(_started(session, security)), session.jobs
    with session.progress.stage(f"cluster {address}"):
        cluster = Cluster(address, security, workers)
    stack.callback(cluster.close)
    session.progress.also = cluster.about
    stack.callback(setattr, session.progress, "also", None)
    return cluster


@contextlib.contextmanager
def _started(session: Session, security: Security) -> Iterator[str]:
    """A scheduler and workers of our own on this host; the address. They end with us."""
    children = []
    tls = ("--tls", str(security.tls.resolve())) if security.tls else ()
    words = (*tls, f"O={session.cache.root}")
    try:
        with tempfile.TemporaryFile() as log:
            first = _spawn(("scheduler", "--port", "0", *words), log)
            children.append(first)
            address = _address(first, log)
        for number in range(session.jobs):
            name = ("--name", f"local-{number}", "-j1")
            children.append(_spawn(("worker", address, *name, *words), subprocess.DEVNULL))
        yield address
    finally:
        for child in children:
            process.stop(child)
            process.forget(child)


def _spawn(words: tuple[str, ...], output: IO[bytes] | int) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "quire", "cluster", *words]
    return process.spawn(process.Command(process.die_with_us(argv)), output)


def _address(child: subprocess.Popen[bytes], log: IO[bytes]) -> str:
    """The first line of the scheduler's output. UserError with all of it if it ends before."""
    while True:
        ended = child.poll() is not None
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines(keepends=True)
        found = [line for line in lines if line.startswith(("tcp://", "tls://"))]
        if found and found[0].endswith("\n"):
            return found[0].strip()
        if ended:
            raise UserError("the local scheduler did not start", "".join(lines))
        time.sleep(0.1)
