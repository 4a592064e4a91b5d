# SPDX-License-Identifier: GPL-2.0
"""Run the soak test: one boot in which all operations run on the same memory concurrently.

The guest's `soak` (guest/soak/) reports in KTAP. Lines that begin with `soak` give its progress
and its operations. docs/dev/soak.md describes the operations.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quire.boot import machine
from quire.host.errors import Difference, GuestLost, QuireError
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.source.side import Sides
from quire.suites import seeded, suite
from quire.suites.outcome import Outcome
from quire.suites.seeded import Bug
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
        """Return the arguments for the guest's init."""
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
        """Return the estimated remaining time, as text."""
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
        """Return what failed, including the guest's own messages."""
        if self.outcome.lost:
            return [self.outcome.lost.what, *self.outcome.lost.where.splitlines()]
        lines = []
        for case in self.outcome.failed:
            lines.append(f"{case.name} {case.reason}".rstrip())
            lines += [f"| {text}" for text in case.diagnostics]
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the report for --json."""
        kernel = self.outcome.kernel
        return {
            "architecture": kernel.arch.name,
            "tree": kernel.tree.label,
            "base": str(kernel.tree.base.version),
            "failed": self.failed,
            "noticed": self.noticed,
            "operations": self.pace.operations,
            "seconds": self.pace.seconds,
            "kinds": {kind.name: kind.count for kind in self.kinds},
            "events": dict(self.events),
            "trouble": self.trouble(),
        }


def on_kernel(session: Session, kernel: Kernel, options: SoakOptions, bug: str = "") -> Report:
    """Boot and soak, with this bug selected; also report on a lost guest.

    Difference if the guest's exit status contradicts its report.
    """
    if bug:
        options = replace(options, parameters=(f"{seeded.PARAMETER}={bug}",))
    name = f"{kernel.arch.name} {bug or kernel.tree.label} soak"
    total = None if options.operations == UNLIMITED else options.operations
    with session.progress.stage(name, total):
        return run(session, kernel, options)


def on_bugs(
    session: Session, sides: Sides, names: Sequence[str], options: SoakOptions
) -> Iterator[tuple[Bug, Report]]:
    """Soak the kernels with seeded bugs, one of these bugs at a time."""
    where = seeded.folder(sides)
    bugs = seeded.select(seeded.read(where), names)
    tree = seeded.tree_with_bugs(session.cache, sides, where)
    for kernel in [session.kernel(arch, tree) for arch in session.architectures]:
        for bug in bugs:
            if bug.shown_by(kernel, session.configs):
                yield bug, on_kernel(session, kernel, options, bug.name)


def missed(found: Sequence[tuple[Bug, Report]]) -> QuireError | None:
    """Return the error for bugs that were not detected, or None."""
    names = [f"{r.outcome.kernel.arch.name}: {bug.name}" for bug, r in found if not r.noticed]
    what = f"{len(names)} of {len(found)} seeded bugs were not detected"
    remedy = "use more --operations, or another --seed; docs/dev/soak.md lists exceptions"
    return Difference(what, "\n".join(names), remedy) if names else None


def failures(reports: Sequence[Report]) -> QuireError | None:
    """Return the error for the first lost guest, or for all failures; None without either."""
    if lost := [report.outcome.lost for report in reports if report.outcome.lost]:
        return lost[0]
    lines = []
    for report in reports:
        if report.failed:
            kernel = report.outcome.kernel
            lines += [f"{kernel.arch.name} {kernel.tree.label}:", *report.trouble()]
            lines.append(f"whole log: {report.outcome.logs}")
    remedy = "read the log, which includes the seed"
    return Difference("the soak test failed", "\n".join(lines), remedy) if lines else None


def run(session: Session, kernel: Kernel, options: SoakOptions) -> Report:
    """Boot and soak; the pace is the progress of the stage."""
    reached = Pace()

    def tick(results: Path) -> None:
        nonlocal reached
        reached = pace(results)
        left = reached.left(options.operations) or f"{reached.seconds} s"
        session.progress.at(reached.operations, left)

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
    """Return the progress of a guest that may still be running."""
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
