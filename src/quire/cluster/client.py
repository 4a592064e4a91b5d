# SPDX-License-Identifier: GPL-2.0
"""A place on a cluster: each boot is a job, and what it leaves is as if it had run here."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker

from quire.boot.launch import Ended, Silent
from quire.boot.machine import Machine
from quire.cluster import engine, job, order, version, worker
from quire.cluster.job import Outcome
from quire.cluster.order import Call, Reply
from quire.cluster.security import Security
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import GuestLost, UserError

# Seconds to connect, and for a first worker to be there.
PATIENCE = 120.0


class Cluster:
    """A connection to a scheduler. UserError if there is none, or of another version, or alone."""

    def __init__(self, address: str, security: Security, workers: int = 1) -> None:
        engine.configure()
        worker.require_listening(address)
        try:
            self._client = Client(
                address,
                timeout=PATIENCE,
                security=engine.certificates(security),
                set_as_default=False,
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise worker.unreachable(address, error) from error
        self._address = address
        self._lock = threading.Lock()
        self._sent: set[str] = set()
        self._running: set[Future[Any]] = set()
        self._closing = False
        # What came back, by worker.
        self.done: Counter[str] = Counter()
        try:
            self._require(workers)
        except BaseException:
            self.close()
            raise

    def _require(self, workers: int) -> None:
        try:
            theirs = self._ask(engine.VERSION)
        except (OSError, TimeoutError, AttributeError, ValueError) as error:
            raise worker.unreachable(self._address, error) from error
        if theirs != version.ours():
            raise UserError(
                "the scheduler is of another version of quire",
                f"here {version.ours()}, at {self._address} {theirs}",
                "use one checkout for scheduler, workers and client",
            )
        try:
            self._client.wait_for_workers(workers, timeout=PATIENCE)
        except TimeoutError as error:
            raise UserError(
                f"the scheduler at {self._address} has no workers",
                str(error),
                f"start some: quire cluster worker {self._address}",
            ) from error

    @property
    def machines(self) -> int:
        """How many machines, or calls, run at once."""
        return int(sum(self._client.nthreads().values())) or 1

    def about(self) -> str:
        """For the progress line: each worker, and how much came from it."""
        names = {str(one["name"]) for one in self._workers()}
        told = [f"{name} {self.done[name]}" for name in sorted(names)]
        told += [f"{name} {self.done[name]} (gone)" for name in sorted(self.done.keys() - names)]
        return f"done by worker: {', '.join(told) or 'no workers'}"

    def run(self, machine: Machine, directory: Path, tick: Callable[[], None] | None, /) -> Ended:
        """Boot on some worker. A worker that dies does not matter: another one boots again."""
        for path in (directory / name for name in job.OUTPUTS):
            path.unlink(missing_ok=True)
        work = job.of(machine, directory, _qemu(machine.kernel.arch.qemu), self._put)
        name = f"{machine.kernel.arch.name} {directory.name}"
        outcome: Outcome = self._result(self._client.submit(worker.boot, work, pure=False), name)
        job.unpack(outcome, directory)
        if outcome.silent:
            raise Silent(outcome.silent)
        if tick:
            # All records at once: what has been seen is seen, and what ended early would end now.
            tick()
        return outcome.ended

    def call(self, call: Call, cache: Cache) -> Sequence[Any]:
        """Call a function on some worker; what it returns. Logs that it names are here, too."""
        work = order.of(call, cache, self._put)
        reply: Reply = self._result(self._client.submit(worker.call, work, pure=False), call.name)
        return order.received(reply, cache)

    def _result(self, future: Future[Any], name: str) -> Any:
        """The Outcome or the Reply of a job that was submitted."""
        with self._lock:
            self._running.add(future)
        try:
            found = future.result()
        except CancelledError as error:
            if self._closing:
                raise KeyboardInterrupt from error
            raise UserError(
                "the scheduler has gone, or has cancelled a job",
                f"{self._address}: {name}",
                "start it again, and the command: what it has finished is kept",
            ) from error
        except KilledWorker as error:
            raise GuestLost(
                "every worker that ran this has died",
                f"{name}: {error}",
                "read the workers' output",
            ) from error
        finally:
            with self._lock:
                self._running.discard(future)
            future.release()
        with self._lock:
            self.done[found.worker] += 1
        return found

    def close(self) -> None:
        """Cancel our own boots, on whatever worker, and disconnect. Nobody else's are touched."""
        self._closing = True
        with self._lock:
            running, self._running = list(self._running), set()
        with contextlib.suppress(OSError, TimeoutError, RuntimeError, CancelledError):
            self._client.cancel(running, force=True)
        with contextlib.suppress(OSError, TimeoutError, RuntimeError, CancelledError):
            self._client.close(timeout=5)

    def _put(self, sha: str, path: Path) -> None:
        """Give a file to the scheduler, unless it has it."""
        with self._lock:
            if sha in self._sent:
                return
            if not self._ask(engine.HAS, sha=sha):
                self._ask(engine.PUT, sha=sha, data=path.read_bytes())
            self._sent.add(sha)

    def _ask(self, message: str, **words: object) -> Any:
        return self._client.sync(getattr(self._client.scheduler, message), **words)

    def _workers(self) -> list[dict[str, Any]]:
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            return list(self._client.scheduler_info(n_workers=-1)["workers"].values())
        return []


@functools.cache
def _qemu(binary: str) -> str:
    return process.query(binary, "--version").output.partition("\n")[0]
