# SPDX-License-Identifier: GPL-2.0
"""A worker: boots the machines of jobs, and calls the functions of orders."""

from __future__ import annotations

import asyncio
import pickle
import shutil
import socket
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from distributed import Worker, get_worker
from distributed.core import rpc
from distributed.utils import sync
from distributed.worker import thread_state

from quire.boot import launch
from quire.boot.launch import Ended, Silent
from quire.cluster import call as calls
from quire.cluster import engine, job, order, version
from quire.cluster.blobs import Blobs
from quire.cluster.job import Input, Job, Outcome
from quire.cluster.order import Order, Reply
from quire.cluster.scheduler import NO_PAGE
from quire.cluster.security import LOOPBACK, Security
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import BuildFailed, UserError

# Seconds for a scheduler to appear, and after which a worker without one ends.
PATIENCE = 120.0


class Abandoned(Exception):
    """The client has gone or has cancelled the job."""


def serve(
    address: str, host: str, threads: int, name: str | None, security: Security, directory: Path
) -> None:
    """Run until interrupted. UserError for a scheduler that is not there or another version's."""
    engine.configure()
    asyncio.run(_serve(address, host, threads, name, security, directory))


async def _serve(
    address: str, host: str, threads: int, name: str | None, security: Security, directory: Path
) -> None:
    certificates = engine.certificates(security)
    await _require_version(address, security)
    with tempfile.TemporaryDirectory(prefix="quire-worker-") as scratch:
        try:
            worker = await asyncio.wait_for(
                Worker(
                    address,
                    nthreads=threads,
                    name=name,
                    host=host if security.tls else LOOPBACK,
                    security=certificates,
                    local_directory=scratch,
                    memory_limit=0,
                    dashboard=False,
                    dashboard_address=NO_PAGE,
                    death_timeout=PATIENCE,
                ),
                PATIENCE,
            )
        except (OSError, TimeoutError) as error:
            raise unreachable(address, error) from error
        worker.quire_blobs = Blobs(directory)
        worker.quire_cache = Cache(directory / "build")
        worker.quire_scratch = Path(scratch)
        print(f"quire: worker {worker.name} of {address}: {threads} boots", file=sys.stderr)
        await worker.finished()


async def _require_version(address: str, security: Security) -> None:
    """UserError if the scheduler cannot be reached, or runs other code."""
    require_listening(address)
    certificates = engine.certificates(security)
    arguments = certificates.get_connection_args("worker") if certificates else {}
    try:
        async with rpc(address, connection_args=arguments, timeout=PATIENCE) as scheduler:
            theirs = await asyncio.wait_for(getattr(scheduler, engine.VERSION)(), PATIENCE)
    except (OSError, TimeoutError, AttributeError, ValueError) as error:
        raise unreachable(address, error) from error
    if theirs != version.ours():
        raise UserError(
            "this worker and the scheduler are of different versions of quire",
            f"here {version.ours()}, at {address} {theirs}",
            "use one checkout for scheduler, workers and client",
        )


def require_listening(address: str) -> None:
    """UserError at once if nothing listens there: the engine would try again and again."""
    host, _, port = address.partition("://")[2].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except OSError as error:
        raise unreachable(address, error) from error


def unreachable(address: str, error: BaseException) -> UserError:
    """The error for a scheduler that does not answer as ours does."""
    return UserError(
        f"no scheduler of quire answers at {address}",
        f"{type(error).__name__}: {error}"[:300],
        "start one: quire cluster scheduler; or use --cluster local",
    )


def boot(work: Job) -> Outcome:
    """Run a job in a thread of this worker. Raises Abandoned when nobody wants it any more."""
    worker = get_worker()
    qemu = process.query(_qemu(work), "--version").output.partition("\n")[0]
    if qemu != work.qemu:
        raise UserError(
            f"worker {worker.name} has another QEMU",
            f"{qemu}; the client has {work.qemu}",
            "install one version everywhere: counts depend on it",
        )
    directory = Path(tempfile.mkdtemp(dir=worker.quire_scratch))
    try:
        paths = [_lay_out(worker, one, directory / f"input-{n}")
                 for n, one in enumerate(work.inputs)]  # fmt: skip
        argv = process.die_with_us([_filled(word, paths, directory) for word in work.argv])
        command = process.Command(argv, log=directory / "qemu.log", timeout=work.timeout)
        growing = [directory / name for name in job.OUTPUTS[:2]]
        ended, silent = Ended(), ""
        try:
            ended = launch.execute(command, _wanted(worker, work.name), growing, work.silence)
        except Silent as error:
            silent = str(error)
        return Outcome(str(worker.name), ended, silent, job.pack(directory))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def call(work: Order) -> Reply:
    """Carry out an order in a process of its own, in a thread of this worker. Raises as boot()."""
    worker = get_worker()
    cache: Cache = worker.quire_cache
    directory = Path(tempfile.mkdtemp(dir=worker.quire_scratch))
    try:
        order.unpack(work, cache, lambda sha: _fetched(worker, sha))
        (directory / calls.ORDER).write_bytes(pickle.dumps(work))
        command = calls.command(directory, cache.root, worker.state.nthreads)
        process.run(command, _wanted(worker, work.name))
        if not (directory / calls.REPLY).is_file():
            raise BuildFailed(
                f"worker {worker.name} could not do {work.name}", process.tail(directory / "log")
            )
        reply: Reply = pickle.loads((directory / calls.REPLY).read_bytes())
        return replace(reply, worker=str(worker.name))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _wanted(worker: Worker, name: str) -> Callable[[], None]:
    """A callback that raises Abandoned when nobody wants the result of this thread's task."""
    key = thread_state.key

    def wanted() -> None:
        state = worker.state.tasks.get(key)
        if state is None or state.state in ("cancelled", "released", "forgotten"):
            raise Abandoned(name)

    return wanted


def _qemu(work: Job) -> str:
    return next(word for word in work.argv if word.startswith("qemu-system-"))


def _lay_out(worker: Worker, one: Input, path: Path) -> Path:
    """An input's path: the blob itself, or a file of its own."""
    if one.sha256:
        blob = _fetched(worker, one.sha256)
        if not one.tail:
            return blob
        shutil.copyfile(blob, path)
    with path.open("ab") as file:
        file.write(zlib.decompress(one.tail))
    return path


def _fetched(worker: Worker, sha: str) -> Path:
    """A blob, from the scheduler if it is not here."""
    blobs: Blobs = worker.quire_blobs
    get = getattr(worker.scheduler, engine.GET)
    return blobs.fetched(sha, lambda wanted: bytes(sync(worker.loop, get, sha=wanted)))


def _filled(word: str, paths: list[Path], directory: Path) -> str:
    for number, path in enumerate(paths):
        word = word.replace(job.INPUT.format(number), str(path))
    return word.replace(job.OUTPUT, str(directory))
