# SPDX-License-Identifier: GPL-2.0
"""The soak test: one boot in which all operations run on the same memory concurrently.

The guest's `soak` (guest/soak/) reports in KTAP. Lines that begin with `soak` give its progress
and its operations. docs/soak.md describes the operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from quire.boot import ktap, launch, machine
from quire.boot.ktap import Test
from quire.boot.machine import CHATTY, Hardware, Machine
from quire.boot.results import Results
from quire.build.kernel import Kernel
from quire.host.cache import digest
from quire.host.errors import Difference, GuestLost
from quire.session import Session

# Enough for every kind of operation to coincide with every other one thousands of times.
OPERATIONS = 1_000_000
# With only --seconds, the guest runs until that time.
UNLIMITED = 10**12
# Wall-clock seconds for a boot on a busy host; operations per second, below which it hangs.
BOOT_SECONDS, PACE = 900.0, 100.0
# How many bytes from the end of the results are read for the guest's progress.
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
    """The result of one boot. `lost` is set instead of a report when the guest was lost."""

    kernel: Kernel
    pace: Pace
    logs: str
    test: Test | None = None
    kinds: tuple[Kind, ...] = ()
    # Kernel events during the run, by counter name.
    events: tuple[tuple[str, int], ...] = ()
    lost: GuestLost | None = None

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return self.lost is not None or (self.test is not None and self.test.failed)

    @property
    def noticed(self) -> bool:
        """Whether the kernel misbehaved; too few operations alone do not count."""
        wrong = [name for name, test in self.test.leaves() if test.failed] if self.test else []
        return self.lost is not None or any(not name.endswith(ENOUGH) for name in wrong)

    def trouble(self) -> list[str]:
        """What failed, including the guest's own messages."""
        if self.lost:
            return [self.lost.what, *self.lost.where.splitlines()]
        lines = []
        for name, test in self.test.leaves() if self.test else []:
            if test.failed:
                lines.append(f"{name.lstrip('.')} {test.problem}".rstrip())
                lines += [f"| {text}" for text in test.diagnostics]
        return lines


def run(
    session: Session,
    kernel: Kernel,
    options: SoakOptions,
    seen: Callable[[Pace], None] | None = None,
) -> Report:
    """Boot and soak; a lost guest also gets a report. `seen` gets the pace periodically."""
    program = session.guest(kernel)
    boot = Machine(
        kernel,
        program,
        options.words(),
        Hardware(options.cpus, options.memory, icount=options.cpus == 1, lean=True),
        timeout=options.patience(),
        loglevel=CHATTY,
        parameters=options.parameters,
    )
    work = launch.workdir(session.cache, _name(boot))

    def tick() -> None:
        if seen:
            seen(pace(work / machine.RESULTS))

    try:
        outcome = launch.boot(boot, session.place, work, tick)
    except GuestLost as lost:
        return Report(kernel, pace(work / machine.RESULTS), str(work), lost=lost)
    return read(kernel, outcome, pace(work / machine.RESULTS), str(work))


def read(kernel: Kernel, outcome: Results, reached: Pace, logs: str) -> Report:
    """The guest's report. Difference if its exit status contradicts the report."""
    test = ktap.parse(outcome.other)
    if (outcome.exit == 0) == test.failed:
        raise Difference(
            f"exit status {outcome.exit} contradicts the report",
            "\n".join([test.problem or "see the log", *outcome.notes, f"whole log: {logs}"]),
            "read the log; a result is missing",
        )
    kinds = [
        Kind(name, int(count), int(milliseconds))
        for count, milliseconds, name in _lines(outcome.other, "kind", 3)
    ]
    events = [(name, int(count)) for count, name in _lines(outcome.other, "event", 2)]
    return Report(kernel, reached, logs, test, tuple(kinds), tuple(events))


def pace(results: Path) -> Pace:
    """The progress of a guest that may still be running."""
    try:
        with results.open("rb") as file:
            file.seek(max(0, results.stat().st_size - TAIL))
            found = _PROGRESS.findall(file.read())
    except OSError:
        return Pace()
    return Pace(int(found[-1][0]), int(found[-1][1])) if found else Pace()


def _lines(lines: Iterable[str], word: str, fields: int) -> list[list[str]]:
    """The fields of the lines `soak WORD …`; the last field may contain spaces."""
    start = f"soak {word} "
    return [line[len(start) :].split(" ", fields - 1) for line in lines if line.startswith(start)]


def _name(boot: Machine) -> str:
    """A unique name: several runs may be active at the same time."""
    kernel = boot.kernel
    key = digest(kernel.image_sha256, boot.append())
    return f"soak-{kernel.arch.name}-{kernel.tree.label}-smp{boot.hardware.cpus}-{key}"
