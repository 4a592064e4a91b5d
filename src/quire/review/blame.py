# SPDX-License-Identifier: GPL-2.0
"""Find the patch or commit that makes a benchmark more expensive: bisect, counting only that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from quire import lab
from quire.arch import Architecture
from quire.host import process
from quire.host.errors import BuildFailed, Difference, GuestLost
from quire.measure import comparison
from quire.measure.bench import Samples
from quire.measure.comparison import BenchmarkResult, Move, References, grown
from quire.measure.workloads import Benchmark
from quire.report.table import number
from quire.report.waterfall import events
from quire.review.found import Culprit, Found
from quire.session import Session
from quire.source import base, steps
from quire.source.steps import BAD, GOOD, KIND, SKIP, OfGit, OfSeries, Step, Steps

# Maximum benchmarks per architecture; each step is a build.
ROWS = 2
# Maximum number of symbols that explain a commit.
SYMBOLS = 10
# A step that cannot be counted.
FAILURES = (BuildFailed, GuestLost, Difference)


def blame(session: Session, arch: Architecture, found: Found) -> None:
    """Name the patch for each more expensive benchmark that has none yet, in table order."""
    where, patches = _steps(session, found)
    for row in pending(arch, found):
        culprit = _culprit(session, arch, where, patches, row)
        found.culprits[arch.name, row.benchmark] = culprit


def pending(arch: Architecture, found: Found) -> list[BenchmarkResult]:
    """Return benchmarks that take more instructions, one per workload, if there are several
    patches."""
    a, b = found.sides.a.origin, found.sides.b.origin
    several = len(found.sides.series.patches) > 1 or (a != b and b.hash.startswith("git:"))
    if arch.name not in found.parts or not several:
        return []
    named = {benchmark.label for name, benchmark in found.culprits if name == arch.name}
    rows: dict[str, BenchmarkResult] = {}
    for row in found.parts[arch.name][0].rows:
        if Move(0, row.a, row.b).share > found.limit and row.benchmark.label not in named:
            rows.setdefault(row.benchmark.label, row)
    return [*rows.values()][: max(ROWS - len(named), 0)]


def search(cost: Callable[[int], float | None], last: int) -> tuple[int, int]:
    """Return the first and last step among which the benchmark's cost changes from that of step 0
    to that of step `last`: a single step, unless some cannot be counted."""
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
    wanted, start = session.side_options, found.sides.base
    if wanted.git and wanted.a and wanted.b:
        commits = OfGit.of(session.cache, wanted.git, wanted.a)
        return commits, commits.steps(wanted.b)
    patches = OfSeries(start, found.sides.series, session.cache.path(KIND, start.key))
    return patches, patches.steps()


def _culprit(
    session: Session,
    arch: Architecture,
    where: Steps,
    patches: Sequence[Step],
    row: BenchmarkResult,
) -> Culprit:
    count = len(patches) - 1
    known: dict[int, float] = {0: row.a.insns, count: row.b.insns}

    def insns(at: int) -> float | None:
        if at not in known:
            try:
                _, samples, _ = lab.count_step(session, arch, where, patches[at], row.benchmark)
                known[at] = comparison.figure(arch, row.benchmark, samples).insns
            except FAILURES:
                process.go_on()
        return known.get(at)

    first, last = search(insns, count)
    return Culprit(first, last, count, patches[last].subject, known[first - 1], known[last])


@dataclass
class Bisection:
    """One benchmark on one architecture, at any revision, with notes on skips and lost options."""

    session: Session
    arch: Architecture
    benchmark: Benchmark
    commits: OfGit
    images: dict[str, str] = field(default_factory=dict)
    samples: Samples = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def run(self, good: str, bad: str, limit: float) -> dict[str, Any]:
        """Bisect between two counted commits; return the result for JSON. A commit is bad if it
        takes more than `limit` instructions."""
        log = [self.line(good, GOOD), self.line(bad, BAD)]

        def judge(commit: str) -> str:
            try:
                verdict = BAD if self.insns(commit) > limit else GOOD
            except FAILURES as error:
                process.go_on()
                verdict, self.notes[commit] = SKIP, error.what
            log.append(self.line(commit, verdict))
            self.session.progress.say(log[-1])
            return verdict

        found = steps.bisect(self.commits.repository, good, bad, judge)
        heading = f"{self.arch.name} · {self.benchmark.heading}: bad above {number(limit)}"
        answer = {"heading": heading, "limit": limit, "tried": log, "first_bad": found}
        return answer | (self.explain(found[0], good) if len(found) == 1 else {})

    def insns(self, commit: str) -> float:
        """Measure a commit's cost. BuildFailed, GuestLost or Difference if that fails."""
        step = self.commits.step(commit)
        kernel, samples, note = lab.count_step(
            self.session, self.arch, self.commits, step, self.benchmark
        )
        self.samples[kernel.image_sha256, self.benchmark] = samples
        self.images[commit], self.notes[commit] = kernel.image_sha256, note
        return self.row(commit, commit).b.insns

    def row(self, a: str, b: str) -> BenchmarkResult:
        """Compare two measured commits."""
        images, known = (self.images[a], self.images[b]), References(locks=lab.locks(self.session))
        compared = comparison.compare(
            self.arch, (a, b), images, [self.benchmark], self.samples, known
        )
        return compared.rows[0]

    def line(self, commit: str, verdict: str = SKIP) -> str:
        """Print a tested commit: its cost, its subject, its note."""
        cost = number(self.row(commit, commit).b.insns) if commit in self.images else "–"
        note = f"  ({self.notes[commit]})" if self.notes.get(commit) else ""
        return f"{verdict:<4} {commit[:12]} {cost:>9}  {self.commits.step(commit).subject}{note}"

    def explain(self, commit: str, good: str) -> dict[str, Any]:
        """List what grew at a commit since its first parent or, if that was not tested, `good`."""
        parent = base.commit(self.commits.repository, f"{commit}^")
        row = self.row(parent if parent in self.images else good, commit)
        return {
            "subject": self.commits.step(commit).subject,
            "instructions": (row.a.insns, row.b.insns),
            "events": events(Move(0, row.a, row.b)),
            "symbols": {line.symbol: (line.a.insns, line.b.insns) for line in grown(row)[:SYMBOLS]},
        }
