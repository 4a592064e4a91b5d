# SPDX-License-Identifier: GPL-2.0
"""Run the tasks for a reply within a time limit, the most informative first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from quire import lab
from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.fuzz.cost import watch
from quire.host import process
from quire.host.errors import Difference, GuestLost
from quire.measure import bench, cycles
from quire.measure.bench import Sampling, Setup
from quire.measure.workloads import Benchmark, on_architecture
from quire.report.waterfall import name as row_name
from quire.review import blame, hunting
from quire.review.found import Found, Loss, Tested, Wrong, lost_in
from quire.session import Session
from quire.source import mail, nearest
from quire.source.nearest import BaseChoice
from quire.suites import expected, suite
from quire.suites.outcome import Case, Outcome
from quire.suites.suite import BootOptions, Job

# Folio sizes in KiB, the most informative first.
SIZES = ((4,), (64,), (2048,))
Task = tuple[str, Callable[[], object]]


@dataclass(frozen=True)
class Time:
    """Minutes available in total, and for the programs of each architecture."""

    budget: float
    fuzz: float
    started: float = field(default_factory=time.monotonic)


def with_series(session: Session, what: str) -> Session:
    """Return the session with the series or the branch as side B."""
    wanted, path = session.side_options, Path(what)
    if not wanted.git and mail.is_message_id(what):
        path = mail.fetch(session.cache, what)
    branch = wanted.git and not path.exists()
    wanted = replace(wanted, b=what) if branch else replace(wanted, series=path)
    return replace(session, side_options=wanted)


def base_of(session: Session, *, given: bool) -> BaseChoice | None:
    """Find a base to which a posted series applies or into which it merges; None for a branch."""
    wanted = session.side_options
    if not wanted.series:
        return None
    choice = mail.ThreadChoice(wanted.version, wanted.partial)
    series = mail.read_series(session.cache, wanted.series, choice)
    said = nearest.stated_by(session.cache, wanted.series, series)
    with session.progress.stage("base"):
        return nearest.choose(
            session.project.root, session.cache, wanted, series, said, given=given
        )


def run(session: Session, found: Found, given: Time) -> None:
    """Run what the time allows; stop what is still running at the end."""
    end = given.started + 60 * given.budget
    for name, task in _tasks(session, found, given):
        before = _rows_of(found)
        try:
            with process.until(end):
                process.in_time()
                task()
        except process.OutOfTime:
            some = _rows_of(found) > before
            left = name.replace(": benchmarks", ": other benchmarks") if some else name
            if left not in found.left:
                found.left.append(left)


def _tasks(session: Session, found: Found, given: Time) -> Iterator[Task]:
    """The tasks for the touched files, the most informative first, each with a name to report if it
    is left out."""
    concerned, architectures = found.concerned, session.architectures
    for arch in architectures:
        yield f"{arch.name}: build", partial(_build, session, arch, found)
    for sizes in SIZES:
        yield from _rows(session, found, sizes)
        for arch in architectures:
            if sizes != SIZES[0] and blame.pending(arch, found):
                yield f"{arch.name}: which patch", partial(blame.blame, session, arch, found)
        if sizes != SIZES[1]:
            continue
        for arch in architectures if concerned.cases else ():
            yield f"{arch.name}: tests", partial(test, session, arch, found, concerned.cases)
        for arch in architectures if concerned.programs else ():
            name = f"{arch.name}: programs"
            yield name, partial(hunting.hunt, session, arch, found, given.fuzz)
    for arch in architectures if found.null else ():
        yield f"{arch.name}: placement", partial(place, session, arch, found)


def _rows_of(found: Found) -> int:
    return sum(len(rows.rows) for rows, _ in found.parts.values())


def _build(session: Session, arch: Architecture, found: Found) -> None:
    lab.setups(session, arch, found.sides)
    found.built.append(arch)


def _rows(session: Session, found: Found, sizes: Sequence[int]) -> Iterator[Task]:
    """The benchmarks of these sizes; those without a size come with the first sizes."""
    if not found.concerned.rows:
        return
    benchmarks = lab.workloads(session).benchmarks(found.concerned.rows, sizes)
    some = [
        benchmark for benchmark in benchmarks if benchmark.size is not None or sizes == SIZES[0]
    ]
    some = cycles.added(some, found.cycles, session.architectures)
    for arch in session.architectures if some else ():
        name = f"{arch.name}: benchmarks at {', '.join(map(str, sizes))} KiB"
        yield name, partial(count, session, arch, found, some)


def test(session: Session, arch: Architecture, found: Found, cases: Sequence[str]) -> None:
    """Add the outcomes of both sides, unless one side always loses its guest."""
    kernels = [session.kernel(arch, side.tree) for side in found.sides.both]
    jobs = [Job(kernel, BootOptions()) for kernel in kernels]
    try:
        outcomes = suite.several(session, jobs, cases)
    except Difference as wrong:
        # No test ran, or the guest contradicts itself: nothing to compare.
        process.go_on()
        found.left.append(f"{arch.name}: tests ({wrong.what})")
        return
    if any(outcome.lost for outcome in outcomes):
        repeated = suite.several(session, jobs, cases)
        a, b = ((one.lost, two.lost) for one, two in zip(outcomes, repeated, strict=True))
        found.losses.append(Loss("tests", kernels[1], a, b))
        pairs = zip(outcomes, repeated, strict=True)
        outcomes = [two if one.lost else one for one, two in pairs]
        if any(outcome.lost for outcome in outcomes):
            return
    outcomes = expected.resolve(outcomes, expected.inherited(outcomes, found.sides))
    found.tests.append(Tested(*outcomes))


def count(
    session: Session, arch: Architecture, found: Found, benchmarks: Sequence[Benchmark]
) -> None:
    """Add the results of these benchmarks."""
    both, sampling = lab.setups(session, arch, found.sides), Sampling(place=session.place)
    benchmarks = on_architecture(arch, benchmarks)
    for setup in both:
        benchmarks, gone = bench.countable(benchmarks, setup.kernel)
        if gone:
            found.notes.append(f"{arch.title}, calls: {setup.kernel.tree.label} has {gone}")
    try:
        bench.measure(session.cache, both, benchmarks, session.progress, sampling)
    except (Difference, GuestLost):
        process.go_on()
        benchmarks = [
            benchmark for benchmark in benchmarks if _counts(session, both, benchmark, found)
        ]
    except process.OutOfTime:
        _compare_sides(
            session,
            found,
            both,
            [benchmark for benchmark in benchmarks if _is_counted(session, both, benchmark)],
        )
        raise
    _compare_sides(session, found, both, benchmarks)


def place(session: Session, arch: Architecture, found: Found) -> None:
    """Add the effect of code placement to the changed benchmarks."""
    if not (moved := found.moved(arch.name)):
        return
    rows, provenance = found.parts[arch.name]
    part, sampling = replace(rows, rows=tuple(moved)), Sampling(place=session.place)
    placed = lab.with_null(session, provenance.a, part, found.null, sampling)
    known = {row.benchmark: row for row in placed.rows}
    rows = replace(rows, rows=tuple(known.get(row.benchmark, row) for row in rows.rows))
    found.parts[arch.name] = (rows, provenance)


def _compare_sides(
    session: Session, found: Found, both: tuple[Setup, Setup], benchmarks: Sequence[Benchmark]
) -> None:
    sampling = Sampling(place=session.place)
    rows, provenance, samples = lab.compare(session, found.sides, both, benchmarks, sampling)
    found.add_rows(both[0].kernel.arch, rows, provenance)
    for benchmark in benchmarks:
        for sample in samples[both[1].kernel.image_sha256, benchmark]:
            found.ran.update(map(watch.function, sample.counts.symbols))


def _is_counted(session: Session, both: Sequence[Setup], benchmark: Benchmark) -> bool:
    """Whether both sides were counted."""
    return all(bench.known(session.cache, setup, benchmark) for setup in both)


def _counts(session: Session, both: Sequence[Setup], benchmark: Benchmark, found: Found) -> bool:
    """Whether a benchmark can be counted on both sides. If not, `found` says why."""
    lost, wrong = zip(*(_sample(session, setup, benchmark) for setup in both), strict=True)
    if any(lost):
        repeated = [_sample(session, setup, benchmark, fresh=True)[0] for setup in both]
        a, b = zip(lost, repeated, strict=True)
        found.losses.append(Loss(row_name(benchmark), both[1].kernel, a, b))
        return _is_counted(session, both, benchmark)
    if wrong[0]:
        arch = both[0].kernel.arch.title
        found.notes.append(f"{arch}, {row_name(benchmark)}: without the series: {wrong[0].what}")
    elif wrong[1]:
        found.wrong.append(_wrong(both[1], benchmark, wrong[1]))
    return not any(wrong)


def _sample(
    session: Session, setup: Setup, benchmark: Benchmark, *, fresh: bool = False
) -> tuple[GuestLost | None, Difference | None]:
    """Count once, with one retry; return what went wrong."""
    sampling = Sampling(fresh=fresh, place=session.place)
    wrong: list[Difference] = []

    def run() -> None:
        try:
            bench.measure(session.cache, [setup], [benchmark], session.progress, sampling)
        except Difference as difference:
            process.go_on()
            wrong.append(difference)

    return lost_in(run), wrong[0] if wrong else None


def _wrong(setup: Setup, benchmark: Benchmark, difference: Difference) -> Wrong:
    row = row_name(benchmark)
    case = Case(f"bench.{row}", Status.FAIL, difference.what)
    outcome = Outcome(f"{setup.kernel.arch.name}-{row}", setup.kernel, (case,))
    return Wrong(outcome, row, difference.what)
