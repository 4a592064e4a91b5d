# SPDX-License-Identifier: GPL-2.0
"""What was found about a series so far, and the same as outcomes of boots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.fuzz.hunt import Hunt
from quire.host import process
from quire.host.errors import GuestLost
from quire.kernels.kernel import Kernel
from quire.measure.bench import Provenance
from quire.measure.comparison import CYCLES, BenchmarkResult, Comparison, Move
from quire.measure.concerns import Concerned
from quire.measure.workloads import Benchmark
from quire.report.table import number
from quire.source.nearest import BaseChoice
from quire.source.side import Sides
from quire.suites.outcome import SKIPPED, Case, Outcome


@dataclass(frozen=True)
class Tested:
    """The cases of an architecture on both sides; failures that side A has, too, are EXPECTED."""

    a: Outcome
    b: Outcome

    @property
    def skipped(self) -> list[Case]:
        """The cases that only side B skips."""
        ran = {case.name for case in self.a.cases if case.status not in SKIPPED}
        return [case for case in self.b.cases if case.status in SKIPPED and case.name in ran]


@dataclass(frozen=True)
class Wrong:
    """A row that fails on side B alone, since the guest finds wrong data, for instance."""

    outcome: Outcome
    row: str
    what: str


@dataclass(frozen=True)
class Culprit:
    """The patches `first` to `last` of `count`, with which a row begins to cost more: usually one.

    The subject is that of the last; instructions are before the first and after the last.
    """

    first: int
    last: int
    count: int
    subject: str
    before: float
    after: float

    @property
    def name(self) -> str:
        """Its number as in a mail's subject; of several, their numbers."""
        alone = self.first == self.last
        return f"patch {self.last}/{self.count}" if alone else f"patches {self.first}-{self.last}"


@dataclass
class Found:
    """All of it; `limit` is the share by which a row may cost more."""

    sides: Sides
    concerned: Concerned
    limit: float
    # So many kernels tell what code placement alone changes; caches of this CPU are simulated.
    null: int = 0
    cycles: str = ""
    # How the base was chosen, if none was given.
    chosen: BaseChoice | None = None
    # The architectures whose kernels are built, of both sides.
    built: list[Architecture] = field(default_factory=list)
    # By architecture.
    parts: dict[str, tuple[Comparison, Provenance]] = field(default_factory=dict)
    tests: list[Tested] = field(default_factory=list)
    # Of rows that cost more, by architecture.
    culprits: dict[tuple[str, Benchmark], Culprit] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)
    hunts: list[Hunt] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    # What was not done, mostly as the time was over.
    left: list[str] = field(default_factory=list)
    # What was left out for another reason.
    notes: list[str] = field(default_factory=list)

    def add_rows(self, arch: Architecture, rows: Comparison, provenance: Provenance) -> None:
        """Add rows of an architecture to those that it has."""
        before = self.parts[arch.name][0].rows if arch.name in self.parts else ()
        comparison = Comparison(rows.arch, rows.labels, (*before, *rows.rows))
        self.parts[arch.name] = (comparison, provenance)

    def moved(self, arch: str) -> list[BenchmarkResult]:
        """The rows of an architecture that changed, those that cost more first."""
        rows = self.parts[arch][0].rows if arch in self.parts else ()
        moved = [row for row in rows if _moved(row) or self.costs_more(row)]
        return sorted(moved, key=lambda row: not self.costs_more(row))

    def costs_more(self, row: BenchmarkResult) -> bool:
        """Whether the series has to answer for the row."""
        more = Move(0, row.a, row.b).share > self.limit and not row.by_placement
        return more or bool(row.excess)

    def expensive(self, arch: str) -> bool:
        """Whether a row of that architecture costs more."""
        return any(map(self.costs_more, self.parts[arch][0].rows))

    def outcomes(self) -> list[Outcome]:
        """Everything as boots with cases: what fails is what the series has to answer for."""
        found = [one for tested in self.tests for one in (tested.a, tested.b)]
        found += [wrong.outcome for wrong in self.wrong]
        for loss in self.losses:
            if loss.blamed:
                name = f"{loss.kernel.arch.name}-{loss.what}"
                found.append(Outcome(name, loss.kernel, lost=loss.b[-1]))
        for rows, provenance in self.parts.values():
            cases = [Case(f"bench.{row.title}", *self._verdict(row)) for row in rows.rows]
            found.append(Outcome(f"{rows.arch.name}-rows", provenance.b.kernel, tuple(cases)))
        for hunt in self.hunts:
            cases = [Case(f"fuzz.{line}", Status.FAIL) for line in hunt.problems]
            kernel = hunt.targets.tried.kernel
            found.append(Outcome(f"{kernel.arch.name}-fuzz", kernel, tuple(cases)))
        return found

    def _verdict(self, row: BenchmarkResult) -> tuple[Status, str]:
        if not self.costs_more(row):
            return Status.PASS, ""
        change = Move(0, row.a, row.b).share
        return Status.FAIL, f"{number(row.a.insns)} → {number(row.b.insns)} ({change:+.1%})"


def _moved(row: BenchmarkResult) -> bool:
    """Whether it changed by more than placement alone may change it."""
    move = Move(0, row.a, row.b)
    return move.moved and not (row.by_placement and move.events.keys() <= {CYCLES})


@dataclass(frozen=True)
class Loss:
    """Where a guest was lost: `what` ran on `kernel`, which has the series, and on side A.

    For each run of a side: why the guest was lost, or None.
    """

    what: str
    kernel: Kernel
    a: tuple[GuestLost | None, ...]
    b: tuple[GuestLost | None, ...]

    @property
    def blamed(self) -> bool:
        """Whether the series has to answer for it: always lost with it, and never without."""
        return all(self.b) and not any(self.a)

    @property
    def name(self) -> str:
        """The architecture, and what ran."""
        return f"{self.kernel.arch.title}, {self.what}"

    @property
    def why(self) -> str:
        """Why the guest was lost, with the series if that was so."""
        return next(lost.what for lost in (*self.b, *self.a) if lost)

    def text(self) -> str:
        """The loss in a sentence."""
        said, runs = f"{self.name}: the guest is lost", len(self.b)
        if self.blamed:
            return f"{said} in {runs} of {runs} runs, in none without the series: {self.why}."
        if any(self.a) and any(self.b):
            return f"{said} on both sides, a fault of the base."
        if any(self.b):
            return f"{said} in 1 of {runs} runs, which does not repeat: {self.why}."
        return f"{said} without the series only."


def lost_in(run: Callable[[], object]) -> GuestLost | None:
    """Why the guest was lost when `run` ran; None if it was not."""
    try:
        run()
    except GuestLost as lost:
        process.go_on()
        return lost
    return None
