# SPDX-License-Identifier: GPL-2.0
"""Compare two sides: the same benchmarks on the same architecture."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from quire.arch import Architecture
from quire.host import data
from quire.host.errors import Difference
from quire.measure import cost, cycles, profile
from quire.measure.bench import Sample, Samples
from quire.measure.cost import Cost, Locks
from quire.measure.null import Null
from quire.measure.profile import ProfileLine
from quire.measure.workloads import Benchmark, Calls

# Two runs that differ by more than this fraction count as different.
STABLE = 0.001
# Maximum changed symbols kept per benchmark.
SYMBOLS = 30


@dataclass(frozen=True)
class Posted:
    """One figure. An empty `arch`, `size` or `parameters` means that the posting does not say, or
    that the figure applies to all."""

    text: str
    # The posting: author, subject, date.
    source: str
    arch: str = ""
    size: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    # The posted values of the benchmark's counter, before and after.
    counters: str = ""

    def covers(self, benchmark: Benchmark, arch: str) -> bool:
        """Tell whether the figure is for exactly this benchmark of its workload."""
        return (
            self.arch in ("", arch)
            and self.size == benchmark.size
            and self.parameters in ({}, dict(benchmark.parameters))
        )


# By workload.
Figures = Mapping[str, tuple[Posted, ...]]


@dataclass(frozen=True)
class Figure:
    """One kernel's cost of one benchmark, per unit (a 4 KiB page, or a walk)."""

    # Median over the runs.
    insns: float
    kernel: float
    # Only the workload's `own` symbols; None if it names none.
    own: float | None
    tlb: dict[str, float]
    # TLB invalidations per operation (call), not per page.
    tlb_per_op: float
    # The change of each counter that the guest reads, over the whole region.
    counters: dict[str, int]
    # Instructions per unit in each of the workload's spans, and calls of its counted functions.
    spans: dict[str, float]
    calls: dict[str, float]
    runs: int
    # (largest − smallest) / median of `insns` over the runs.
    spread: float
    # Counted kinds of measure.cost.KINDS, and locks taken by class; per unit.
    cost: Cost = field(default_factory=dict)
    # Estimated cycles by cause, per unit; empty if caches were not simulated.
    cycles: dict[str, float] = field(default_factory=dict)

    @property
    def tlb_total(self) -> float:
        """The sum of all classes."""
        return sum(self.tlb.values())

    @property
    def cycles_total(self) -> float:
        """The sum of all estimated cycles; 0 if there are none."""
        return sum(self.cycles.values())


@dataclass(frozen=True)
class BenchmarkResult:
    """The results of one benchmark: one row of the table."""

    benchmark: Benchmark
    a: Figure
    b: Figure
    posted: Posted | None
    # The symbols that changed most.
    symbols: tuple[ProfileLine, ...] = ()
    # The spread due to code placement, if it was counted.
    null: Null | None = None

    @property
    def ratio(self) -> float:
        """A / B: above 1, B takes fewer instructions."""
        return self.a.insns / self.b.insns

    @property
    def cycles_ratio(self) -> float | None:
        """The ratio A / B of estimated cycles; None if there are none."""
        a, b = self.a.cycles_total, self.b.cycles_total
        return a / b if a and b else None

    @property
    def spread(self) -> float:
        """The larger of the two kernels' spreads."""
        return max(self.a.spread, self.b.spread)

    @property
    def unstable(self) -> bool:
        """Whether runs of one build differ by more than STABLE."""
        return self.spread > STABLE

    @property
    def by_placement(self) -> bool:
        """Whether code placement may explain the changes of instructions and estimated cycles."""
        if not self.null or abs(self.b.insns / self.a.insns - 1) > self.null.insns:
            return False
        cycles = self.null.cycles
        return cycles is None or abs(self.b.cycles_total / self.a.cycles_total - 1) <= cycles

    @property
    def excess(self) -> list[Calls]:
        """Calls that B makes more often than A although the workload forbids that."""
        return [
            calls
            for calls in self.benchmark.workload.calls
            if calls.no_more_than_a and self.b.calls[calls.what] > self.a.calls[calls.what]
        ]


@dataclass(frozen=True)
class Comparison:
    """One architecture's table."""

    arch: Architecture
    # The sides' labels.
    labels: tuple[str, str]
    rows: tuple[BenchmarkResult, ...]


@dataclass(frozen=True)
class References:
    """References to interpret counts: the posted figures, and the classes of locks."""

    posted: Figures = field(default_factory=dict)
    locks: Locks | None = None


def compare(
    arch: Architecture,
    labels: tuple[str, str],
    images: tuple[str, str],
    benchmarks: Sequence[Benchmark],
    samples: Samples,
    known: References = References(),
) -> Comparison:
    """Compare both sides. `images`: the SHA-256 of the kernel images, side A's first."""
    rows = []
    for benchmark in benchmarks:
        a, b = (samples[image, benchmark] for image in images)
        sides = (figure(arch, benchmark, a, known.locks), figure(arch, benchmark, b, known.locks))
        authors = find_posted(known.posted, benchmark, arch.name)
        lines = profile.lines(_chosen(benchmark, a), _chosen(benchmark, b), known.locks)
        changed = [line for line in lines if line.a != line.b][:SYMBOLS]
        rows.append(BenchmarkResult(benchmark, *sides, authors, tuple(changed)))
    return Comparison(arch, labels, tuple(rows))


def figure(
    arch: Architecture, benchmark: Benchmark, samples: Sequence[Sample], locks: Locks | None = None
) -> Figure:
    """Return the median over `samples`, and their spread."""
    sample, totals = _chosen(benchmark, samples), [_insns(sample) for sample in samples]
    counts, divisor, middle = sample.counts, sample.divisor, _insns(sample)
    return Figure(
        insns=middle,
        kernel=counts.kernel / divisor,
        own=own(benchmark, sample) if benchmark.workload.own else None,
        tlb={name: number / divisor for name, number in counts.tlb.items()},
        tlb_per_op=counts.tlb_total / (sample.results.regions[0].ops or 1),
        counters={k: after - before for k, (before, after) in sample.results.counters.items()},
        spans={name: insns / divisor for name, (_, insns) in counts.spans.items()},
        calls={
            counted.what: calls(sample, counted) / counted.passes
            for counted in benchmark.workload.calls
        },
        runs=len(samples),
        spread=(max(totals) - min(totals)) / middle if middle else 0.0,
        cost=cost.per_unit(arch, counts, divisor, locks, sample.others),
        cycles=cycles.estimate(arch, benchmark.cycles, counts, divisor, sample.others)
        if benchmark.cycles
        else {},
    )


def _insns(sample: Sample) -> float:
    return sample.counts.total / sample.divisor


def _chosen(benchmark: Benchmark, samples: Sequence[Sample]) -> Sample:
    """The median, the lower of two; with several CPUs the minimum, as disturbances only add."""
    if benchmark.cpus > 1:
        return min(samples, key=_insns)
    middle = statistics.median_low(map(_insns, samples))
    return next(sample for sample in samples if _insns(sample) == middle)


def calls(sample: Sample, counted: Calls) -> float:
    """Return the number of calls to a function, per unit."""
    symbols = sample.counts.symbols.items()
    return sum(count.calls for name, count in symbols if counted.counts(name)) / sample.divisor


def require(comparisons: Sequence[Comparison]) -> None:
    """Raise Difference that lists every benchmark in which B makes additional forbidden calls."""
    excess = [
        (compared.arch, row, calls)
        for compared in comparisons
        for row in compared.rows
        for calls in row.excess
    ]
    if not excess:
        return
    lines = [
        f"{arch.label} {row.benchmark.heading}: {calls.what} ({calls.symbols[0]}) "
        f"{row.a.calls[calls.what]:g} → {row.b.calls[calls.what]:g} "
        f"per {row.benchmark.workload.unit}"
        for arch, row, calls in excess
    ]
    arch, row, _ = excess[0]
    size = f" --size {row.benchmark.size}" if row.benchmark.size is not None else ""
    raise Difference(
        "side B takes a path that side A does not take",
        "\n".join(lines),
        f"locate it: quire profile {row.benchmark.workload.name}{size} ARCH={arch.name}",
    )


def own(benchmark: Benchmark, sample: Sample) -> float:
    """Instructions per unit in the symbols that the workload measures."""
    total = sum(
        count.insns
        for name, count in sample.counts.symbols.items()
        if any(fnmatchcase(name, pattern) for pattern in benchmark.workload.own)
    )
    return total / sample.divisor


# A benchmark moved if its instructions changed by more than this fraction, or if a kind of event
# changed by more than this number per unit: an interrupt in a region also takes a lock.
SHARE, EVENT = 0.003, 0.02
# Estimated cycles, among the events.
CYCLES = "est. cycles"
# A symbol counts as grown if it grew by this fraction of the largest growth.
GREW = 0.01


@dataclass(frozen=True)
class Move:
    """A benchmark's change from one kernel to a later one, whose position is `number`."""

    number: int
    a: Figure
    b: Figure

    @property
    def share(self) -> float:
        """The relative change of instructions; below 0, B takes fewer."""
        return self.b.insns / self.a.insns - 1

    @property
    def events(self) -> dict[str, tuple[float, float]]:
        """Other changes per unit, A and B, of measure.cost's kinds, locks, and CYCLES."""
        a, b = ({**one.cost, CYCLES: sum(one.cycles.values())} for one in (self.a, self.b))
        pairs = {kind: (a.get(kind, 0.0), b.get(kind, 0.0)) for kind in {**a, **b}}
        return {k: (a, b) for k, (a, b) in pairs.items() if abs(a - b) > max(EVENT, SHARE * a)}

    @property
    def moved(self) -> bool:
        """Whether anything changed."""
        return abs(self.share) > SHARE or bool(self.events)


def between(figures: Sequence[Figure | None]) -> list[Move]:
    """Return a benchmark's moves from each kernel to the next; None: a kernel without figures."""
    known = [(number, figure) for number, figure in enumerate(figures) if figure]
    steps = (Move(number, a, b) for (_, a), (number, b) in pairwise(known))
    return [move for move in steps if move.moved]


def grown(row: BenchmarkResult) -> list[ProfileLine]:
    """Return the symbols that cost more on side B, the largest increase first."""
    lines = [line for line in row.symbols if line.change() > 0]
    return [line for line in lines if line.change() >= GREW * max(map(ProfileLine.change, lines))]


def read_posted(file: Path) -> Figures:
    """Read a file's figures; none if it does not exist. UserError says what is wrong with it."""
    return data.optional(
        file, dict[str, tuple[Posted, ...]], "lines/6.12/posted.toml shows the keys"
    )


def find_posted(figures: Figures, benchmark: Benchmark, arch: str) -> Posted | None:
    """Return the figure for a benchmark, or None."""
    of_workload = figures.get(benchmark.workload.name, ())
    return next((figure for figure in of_workload if figure.covers(benchmark, arch)), None)
