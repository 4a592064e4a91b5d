# SPDX-License-Identifier: GPL-2.0
"""Run each boot as a job on some worker; its outputs are as if it had run here."""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

from distributed import Future, KilledWorker

from quire.boot.launch import Ended, Silent
from quire.boot.machine import Machine
from quire.cluster import job, policy, worker
from quire.cluster.job import Contents, RemoteJob, RemoteOutcome
from quire.cluster.policy import GONE, LOCAL, PATIENCE
from quire.host.errors import GuestLost, UserError


class Cluster:
    """A place on a cluster: at an address, or LOCAL for our own workers, below `directory`."""

    def __init__(self, name: str, tls: Path | None, directory: Path, workers: int) -> None:
        self._name, self._lock, self._closing = name, threading.Lock(), False
        self._files: dict[str, Future[bytes]] = {}
        self._running: set[Future[RemoteOutcome]] = set()
        # Finished jobs by worker.
        self.done: Counter[str] = Counter()
        self._local = worker.local(directory, workers) if name == LOCAL else None
        self._client = policy.connect(self._local or name, name, tls)

    def require_workers(self) -> None:
        """Count the workers' machines. UserError if there are none."""
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            what, remedy = "has no workers", f"start some: quire cluster worker {self._name}"
            raise UserError(f"the scheduler at {self._name} {what}", str(error), remedy) from error

    @property
    def machines(self) -> int:
        """The number of machines that run at once."""
        return int(sum(self._client.nthreads().values())) or 1

    def about(self) -> str:
        """Return the number of finished jobs by worker, for the progress line."""
        names: set[str] = set()
        with contextlib.suppress(*GONE):
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
            names = {str(worker["name"]) for worker in workers.values()}
        told = [f"{name} {self.done[name]}" for name in sorted(names)]
        told += [f"{name} {self.done[name]} (gone)" for name in sorted(self.done.keys() - names)]
        return f"done by worker: {', '.join(told) or 'no workers'}"

    def run(self, machine: Machine, directory: Path, tick: Callable[[], None] | None, /) -> Ended:
        """Boot on some worker. If the worker dies, another one repeats the boot."""
        for name in job.OUTPUTS:
            (directory / name).unlink(missing_ok=True)
        contents: Contents = {}
        outcome = self.outcome(job.boot(machine, directory, contents), contents)
        outcome.write(directory, outcome.files)
        if outcome.silent:
            raise Silent(outcome.silent)
        if tick:
            # All records arrive at once, at the end.
            tick()
        return outcome.ended

    def outcome(
        self, what: RemoteJob, files: Contents, needs: dict[str, int] | None = None
    ) -> RemoteOutcome:
        """Run a job on some worker and return its result; `needs` are the engine's resources."""
        with self._lock:
            for sha in files.keys() - self._files.keys():
                data, key = files[sha].read_bytes(), f"contents-{sha}"
                self._files[sha] = self._client.submit(bytes, data, key=key)
            given = {sha: self._files[sha] for sha in files}
            future = self._client.submit(worker.run, what, given, pure=False, resources=needs)
            self._running.add(future)
        try:
            outcome: RemoteOutcome = future.result()
        except CancelledError as error:
            if self._closing:
                raise KeyboardInterrupt from error
            gone, remedy = "the scheduler exited or cancelled a job", "start it again"
            raise UserError(gone, f"{self._name}: {what.name}", remedy) from error
        except KilledWorker as error:
            died, remedy = "every worker that ran this died", "read the workers' output"
            raise GuestLost(died, f"{what.name}: {error}", remedy) from error
        finally:
            self._running.discard(future)
            future.release()
        with self._lock:
            self.done[outcome.worker] += 1
        return outcome

    def close(self) -> None:
        """Cancel our jobs on all workers, and disconnect. Other clients' jobs continue."""
        self._closing = True
        with contextlib.suppress(*GONE, CancelledError):
            self._client.cancel(list(self._running), force=True)
        with contextlib.suppress(*GONE, CancelledError):
            self._client.close(timeout=5)
        if self._local:
            self._local.close(timeout=5)
