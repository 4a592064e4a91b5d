# SPDX-License-Identifier: GPL-2.0
"""Run the soak test: one boot in which all operations run on the same memory concurrently.

The guest's `soak` (guest/soak/) reports in KTAP. Lines that begin with `soak` give its progress
and its operations. docs/dev/soak.md describes the operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from quire.boot import machine
from quire.host.errors import GuestLost
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.suites import suite
from quire.suites.outcome import Outcome
from quire.suites.suite import BootOptions, Job, Tests

# Enough for every kind of operation to overlap with every other one thousands of times.
OPERATIONS = 1_000_000
# With only --seconds, the guest runs until that time.
UNLIMITED = 10**12
# Wall-clock seconds for a boot on a busy host; operations per second below which it is hung.
BOOT_SECONDS, PACE = 900.0, 100.0
# The number of bytes read from the end of the results for the guest's progress.
TAIL = 4096

# The guest's case that checks for enough operations of every kind.
ENOUGH = ".enough"

_PROGRESS = re.compile(rb"^soak operations (\d+) (\d+)$", re.M)


@dataclass(frozen=True)
class SoakOptions:
    """With `cpus` above 1 the guest runs without -icount, so that races can happen."""

    operations: int = OPERATIONS
    # Seconds of guest time after which the guest stops; 0: only `operations` limits it.
    seconds: int = 0
    seed: int = 1
    cpus: int = 2
    memory: str = "1G"
    timeout: float = 0.0
    # Further kernel parameters.
    parameters: tuple[str, ...] = ()

    def words(self) -> tuple[str, ...]:
        """The arguments for the guest's init."""
        given = {"operations": self.operations, "seed": self.seed, "seconds": self.seconds}
        return ("soak", *(f"{name}={value}" for name, value in given.items() if value))

    def patience(self) -> float:
        """Seconds after which the guest counts as hung."""
        work = self.seconds or self.operations / PACE
        return self.timeout or BOOT_SECONDS + work


@dataclass(frozen=True)
class Pace:
    """The guest's progress: operations, and seconds of guest time."""

    operations: int = 0
    seconds: int = 0

    def left(self, target: int) -> str:
        """The estimated remaining time, as text."""
        if not self.operations or self.operations >= target or target == UNLIMITED:
            return ""
        minutes = self.seconds * (target - self.operations) / self.operations / 60
        return f"{self.seconds // 60} min of guest time, about {minutes:.0f} min left"


@dataclass(frozen=True)
class Kind:
    """A kind of operation: its count, and its total time over all threads."""

    name: str
    count: int
    milliseconds: int


@dataclass(frozen=True)
class Report:
    """The outcome of one boot, its progress, and its operations."""

    outcome: Outcome
    pace: Pace
    kinds: tuple[Kind, ...] = ()
    # Kernel events during the run, by counter name.
    events: tuple[tuple[str, int], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        outcome = self.outcome
        return bool(outcome.lost or outcome.failed or outcome.problem)

    @property
    def noticed(self) -> bool:
        """Whether the kernel misbehaved; too few operations alone do not count."""
        wrong = [case for case in self.outcome.failed if not case.name.endswith(ENOUGH)]
        return self.outcome.lost is not None or bool(wrong)

    def trouble(self) -> list[str]:
        """What failed, including the guest's own messages."""
        if self.outcome.lost:
            return [self.outcome.lost.what, *self.outcome.lost.where.splitlines()]
        lines = []
        for case in self.outcome.failed:
            lines.append(f"{case.name} {case.reason}".rstrip())
            lines += [f"| {text}" for text in case.diagnostics]
        return lines


def run(
    session: Session,
    kernel: Kernel,
    options: SoakOptions,
    seen: Callable[[Pace], None] | None = None,
) -> Report:
    """Boot and soak; also report on a lost guest. `seen` gets the pace periodically.

    Difference if the guest's exit status contradicts its report.
    """
    reached = Pace()

    def tick(results: Path) -> None:
        nonlocal reached
        reached = pace(results)
        if seen:
            seen(reached)

    boot = BootOptions(
        options.cpus, options.patience(), options.memory, parameters=options.parameters
    )
    job = Job(kernel, boot)
    tests = Tests(options.words(), "read the log", parameters=lambda _: ())
    try:
        ended = suite.run(session, job, (), tests, tick)
    except GuestLost as lost:
        return Report(Outcome(job.name, kernel, lost=lost), reached)
    results = Path(ended.logs) / machine.RESULTS
    lines = results.read_text().splitlines()
    kinds = [
        Kind(name, int(count), int(milliseconds))
        for count, milliseconds, name in _lines(lines, "kind", 3)
    ]
    events = [(name, int(count)) for count, name in _lines(lines, "event", 2)]
    return Report(ended, pace(results), tuple(kinds), tuple(events))


def pace(results: Path) -> Pace:
    """The progress of a guest that may still be running."""
    try:
        with results.open("rb") as file:
            file.seek(max(0, results.stat().st_size - TAIL))
            progress = _PROGRESS.findall(file.read())
    except OSError:
        return Pace()
    return Pace(*map(int, progress[-1])) if progress else Pace()


def _lines(lines: Iterable[str], word: str, fields: int) -> list[list[str]]:
    """The fields of the lines `soak WORD …`; the last field may contain spaces."""
    start = f"soak {word} "
    return [line[len(start) :].split(" ", fields - 1) for line in lines if line.startswith(start)]
