# SPDX-License-Identifier: GPL-2.0
"""Run a cluster's processes: the engine's scheduler, and workers, which run our jobs."""

import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from distributed import Scheduler, SpecCluster, Worker, get_worker
from distributed.worker import thread_state

from quire.cluster import job, policy
from quire.cluster.job import ALONE, RemoteJob, RemoteOutcome
from quire.cluster.policy import LOOPBACK, NO_PAGE, PATIENCE
from quire.host.errors import UserError


class Abandoned(Exception):
    """The client disconnected or cancelled the job."""


def _options(directory: Path, threads: int) -> dict[str, object]:
    place = {"local_directory": str(directory), "memory_limit": 0, "death_timeout": PATIENCE}
    return {"nthreads": threads, "resources": ALONE, **place, **NO_PAGE}


def local(directory: Path, workers: int) -> SpecCluster:
    """Start a scheduler and workers inside this process, unreachable from others."""
    here = {"protocol": "inproc://", **NO_PAGE}
    names = [f"local-{number}" for number in range(workers)]
    options = {name: {**here, **_options(directory / name, 1)} for name in names}
    specification = {name: {"cls": Worker, "options": options[name]} for name in names}
    return SpecCluster(specification, {"cls": Scheduler, "options": here})


async def schedule(host: str, port: int, tls: Path | None) -> None:
    """Run until interrupted; print the address on stdout. UserError for a port in use."""
    address = {"host": host, "port": port, "protocol": "tls" if tls else "tcp"}
    try:
        scheduler = await Scheduler(**address, security=policy.security(tls), **NO_PAGE)
    except OSError as error:
        what = f"the scheduler cannot listen on {host}:{port}"
        raise UserError(what, str(error), "choose another --port") from error
    print(scheduler.address, flush=True)
    reach = "anyone with a certificate" if tls else "any process on this host"
    print(f"quire: {reach} can use {scheduler.address}", file=sys.stderr)
    await scheduler.finished()


async def work(
    address: str, host: str, threads: int, name: str | None, tls: Path | None, directory: Path
) -> None:
    """Run until interrupted."""
    options = {"host": host if tls else LOOPBACK, "name": name, **_options(directory, threads)}
    worker = await Worker(address, security=policy.security(tls), **options)
    print(f"quire: worker {worker.name} of {address}: {threads} boots", file=sys.stderr)
    await worker.finished()


def run(what: RemoteJob, files: Mapping[str, bytes]) -> RemoteOutcome:
    """Run a job in a thread of this worker. Raises Abandoned when no client wants it any more."""
    worker, key = get_worker(), thread_state.key

    def wanted() -> None:
        state = worker.state.tasks.get(key)
        if state is None or state.state in ("cancelled", "released", "forgotten"):
            raise Abandoned(key)

    directory = Path(tempfile.mkdtemp(dir=worker.local_directory))
    # The engine's worker directory is below ours, and is removed with it.
    build = Path(worker.local_directory).parents[1] / "build"
    env = {"PYTHON": sys.executable, "BUILD": str(build), "JOBS": str(worker.state.nthreads)}
    try:
        outcome = job.carry_out(what, files, directory, env, wanted)
        return replace(outcome, worker=str(worker.name))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
