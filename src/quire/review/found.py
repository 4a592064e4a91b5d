# SPDX-License-Identifier: GPL-2.0
"""Findings about a series so far, also as outcomes of boots."""

from collections.abc import Callable
from dataclasses import dataclass, field

from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.fuzz.cost import watch
from quire.fuzz.coverage import guide
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
    """An architecture's cases on both sides; failures that side A shares are EXPECTED."""

    a: Outcome
    b: Outcome

    @property
    def skipped(self) -> list[Case]:
        """Return the cases that only side B skips."""
        ran = {case.name for case in self.a.cases if case.status not in SKIPPED}
        return [case for case in self.b.cases if case.status in SKIPPED and case.name in ran]


@dataclass(frozen=True)
class Wrong:
    """A benchmark that fails only on side B, for instance because the guest finds wrong data."""

    outcome: Outcome
    row: str
    what: str


@dataclass(frozen=True)
class Culprit:
    """The patches `first` to `last` of `count` that make a benchmark more expensive: usually one.

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
        """Return the patch number, or the range of numbers, as in a mail's subject."""
        alone = self.first == self.last
        return f"patch {self.last}/{self.count}" if alone else f"patches {self.first}-{self.last}"


@dataclass(frozen=True)
class Loss:
    """A lost guest: `what` ran on `kernel`, which has the series, and on side A.

    For each run of a side: why the guest was lost, or None.
    """

    what: str
    kernel: Kernel
    a: tuple[GuestLost | None, ...]
    b: tuple[GuestLost | None, ...]

    @property
    def blamed(self) -> bool:
        """Whether the series is responsible: the guest is always lost with it, never without."""
        return all(self.b) and not any(self.a)

    @property
    def name(self) -> str:
        """The architecture and the task."""
        return f"{self.kernel.arch.title}, {self.what}"

    @property
    def why(self) -> str:
        """Why the guest was lost, preferably with the series."""
        return next(lost.what for lost in (*self.b, *self.a) if lost)

    def text(self) -> str:
        """Return a sentence about the loss."""
        said, runs = f"{self.name}: the guest is lost", len(self.b)
        if self.blamed:
            return f"{said} in {runs} of {runs} runs, in none without the series: {self.why}."
        if any(self.a) and any(self.b):
            return f"{said} on both sides: a bug in the base."
        if any(self.b):
            return f"{said} in 1 of {runs} runs, not reproducibly: {self.why}."
        return f"{said} only without the series."


@dataclass
class Found:
    """All findings; `limit` is the largest acceptable cost increase, as a fraction."""

    sides: Sides
    concerned: Concerned
    limit: float
    # The number of kernels that measure the effect of code placement; the CPU whose caches are
    # simulated.
    null: int = 0
    cycles: str = ""
    # How the base was chosen, unless the user named it.
    chosen: BaseChoice | None = None
    # The architectures with kernels built for both sides.
    built: list[Architecture] = field(default_factory=list)
    # By architecture.
    parts: dict[str, tuple[Comparison, Provenance]] = field(default_factory=dict)
    # Functions that benchmarks ran with the series, on any architecture.
    ran: set[str] = field(default_factory=set)
    tests: list[Tested] = field(default_factory=list)
    # For more expensive benchmarks, by architecture.
    culprits: dict[tuple[str, Benchmark], Culprit] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)
    hunts: list[Hunt] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    # Work not done, mostly for lack of time.
    left: list[str] = field(default_factory=list)
    # Work left out for other reasons.
    notes: list[str] = field(default_factory=list)

    @property
    def not_run(self) -> list[str]:
        """List functions that the series changes and no benchmark runs, apart from inlined ones."""
        kernels = [provenance.b.kernel for _, provenance in self.parts.values()]
        known = {name for kernel in kernels for name in watch.functions(kernel)}
        return sorted(guide.touched(self.sides.series) & known - self.ran)

    def moved(self, arch: str) -> list[BenchmarkResult]:
        """Return the architecture's changed benchmarks, more expensive ones first."""
        rows = self.parts[arch][0].rows if arch in self.parts else ()
        moved = [row for row in rows if _moved(row) or self.costs_more(row)]
        return sorted(moved, key=lambda row: not self.costs_more(row))

    def costs_more(self, row: BenchmarkResult) -> bool:
        """Tell whether the benchmark is a regression of the series."""
        more = Move(0, row.a, row.b).share > self.limit and not row.by_placement
        return more or bool(row.excess)

    def expensive(self, arch: str) -> bool:
        """Tell whether a benchmark of that architecture costs more."""
        return any(map(self.costs_more, self.parts[arch][0].rows))

    def outcomes(self) -> list[Outcome]:
        """Return everything as boots with cases; the failures are the series' regressions."""
        found = [one for tested in self.tests for one in (tested.a, tested.b)]
        found += [wrong.outcome for wrong in self.wrong]
        for loss in self.losses:
            if loss.blamed:
                name = f"{loss.kernel.arch.name}-{loss.what}"
                found.append(Outcome(name, loss.kernel, lost=loss.b[-1]))
        for rows, provenance in self.parts.values():
            cases = [
                Case(f"bench.{row.benchmark.heading}", *self._verdict(row)) for row in rows.rows
            ]
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
    """Whether the change exceeds the effect of code placement."""
    move = Move(0, row.a, row.b)
    return move.moved and not (row.by_placement and move.events.keys() <= {CYCLES})


def lost_in(run: Callable[[], object]) -> GuestLost | None:
    """Call `run`; return why the guest was lost, or None."""
    try:
        run()
    except GuestLost as lost:
        process.go_on()
        return lost
    return None
