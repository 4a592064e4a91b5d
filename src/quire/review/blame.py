# SPDX-License-Identifier: GPL-2.0
"""Find the patch that makes a benchmark more expensive: bisect the series, counting only that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quire import lab
from quire.arch import Architecture
from quire.host import process
from quire.host.errors import BuildFailed, Difference, GuestLost
from quire.measure import bench, comparison
from quire.measure.bench import Sampling
from quire.measure.comparison import BenchmarkResult, Move
from quire.measure.workloads import Benchmark
from quire.review.found import Culprit, Found
from quire.session import Session
from quire.source.steps import KIND, OfGit, OfSeries, Step, Steps

# Maximum benchmarks per architecture; each step is a build.
ROWS = 2


def blame(session: Session, arch: Architecture, found: Found) -> None:
    """Name the patch for each more expensive benchmark that has none yet, in table order."""
    where, steps = _steps(session, found)
    count = len(steps) - 1
    for row in pending(arch, found):
        trial = Trial(
            session, arch, where, steps, row.benchmark, {0: row.a.insns, count: row.b.insns}
        )
        first, last = search(trial.insns, count)
        before, after = trial.known[first - 1], trial.known[last]
        culprit = Culprit(first, last, count, steps[last].subject, before, after)
        found.culprits[arch.name, row.benchmark] = culprit


def pending(arch: Architecture, found: Found) -> list[BenchmarkResult]:
    """Benchmarks that take more instructions, one per workload, if there are several patches."""
    if arch.name not in found.parts or not _several(found):
        return []
    named = {benchmark.label for name, benchmark in found.culprits if name == arch.name}
    rows: dict[str, BenchmarkResult] = {}
    for row in found.parts[arch.name][0].rows:
        if Move(0, row.a, row.b).share > found.limit and row.benchmark.label not in named:
            rows.setdefault(row.benchmark.label, row)
    return [*rows.values()][: max(ROWS - len(named), 0)]


def _several(found: Found) -> bool:
    """Whether the series has steps: patches, or commits of a branch."""
    a, b = found.sides.a.origin, found.sides.b.origin
    return len(found.sides.series.patches) > 1 or (a != b and b.hash.startswith("git:"))


def search(cost: Callable[[int], float | None], last: int) -> tuple[int, int]:
    """The first and last step among which the benchmark's cost changes from that of step 0 to that
    of step `last`: a single step, unless some cannot be counted."""
    good, bad = 0, last
    limit = ((cost(good) or 0) + (cost(bad) or 0)) / 2
    failed: set[int] = set()
    while left := [at for at in range(good + 1, bad) if at not in failed]:
        middle = left[len(left) // 2]
        insns = cost(middle)
        if insns is None:
            failed.add(middle)
        elif insns > limit:
            bad = middle
        else:
            good = middle
    return good + 1, bad


def _steps(session: Session, found: Found) -> tuple[Steps, list[Step]]:
    wanted, base = session.side_options, found.sides.base
    if wanted.git and wanted.a and wanted.b:
        commits = OfGit.of(session.cache, wanted.git, wanted.a)
        return commits, commits.steps(wanted.b)
    patches = OfSeries(base, found.sides.series, session.cache.path(KIND, base.key))
    return patches, patches.steps()


@dataclass
class Trial:
    """A benchmark at the steps; `known` has its cost by step."""

    session: Session
    arch: Architecture
    where: Steps
    steps: list[Step]
    benchmark: Benchmark
    known: dict[int, float]

    def insns(self, at: int) -> float | None:
        """The benchmark's cost; None if the step does not build or its guest fails."""
        if at not in self.known:
            try:
                self.known[at] = self._count(at)
            except (BuildFailed, GuestLost, Difference):
                process.go_on()
        return self.known.get(at)

    def _count(self, at: int) -> float:
        session, sampling = self.session, Sampling(place=self.session.place)
        built, _ = lab.step(session, self.arch, self.where, self.steps[at])
        setup = lab.setup(session, built.kernel)
        (benchmark,), _ = bench.countable([self.benchmark], built.kernel)
        samples = bench.measure(session.cache, [setup], [benchmark], session.progress, sampling)
        found = samples[built.kernel.image_sha256, benchmark]
        return comparison.figure(self.arch, benchmark, found).insns
