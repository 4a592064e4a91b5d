# SPDX-License-Identifier: GPL-2.0
"""Run the tasks for a reply within a time limit, the most informative first."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from quire import lab
from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.fuzz import runner
from quire.fuzz.cost import allowed, watch
from quire.fuzz.cost.costs import CostJudge
from quire.fuzz.difference import excuses
from quire.fuzz.difference.differences import DifferenceJudge
from quire.fuzz.hunt import Hunt
from quire.fuzz.judge import Judge
from quire.fuzz.programs import Programs
from quire.fuzz.runner import Target
from quire.host import process
from quire.host.errors import Difference, GuestLost, UserError
from quire.host.process import OutOfTime
from quire.measure import bench, cycles
from quire.measure.bench import Sampling, Setup
from quire.measure.workloads import Benchmark, on_architecture
from quire.review import blame
from quire.review.found import Found, Loss, Tested, Wrong, lost_in
from quire.session import Session
from quire.source import mail, nearest
from quire.source.nearest import BaseChoice
from quire.suites import expected, suite
from quire.suites.outcome import Case, Outcome
from quire.suites.suite import BootOptions, Job

# Folio sizes in KiB, the most informative first.
SIZES = ((4,), (64,), (2048,))
# Programs per boot, few enough for several boots a minute; findings after which a hunt stops.
PROGRAMS, FINDINGS = 25, 3
Task = tuple[str, Callable[[], object]]


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


def run(session: Session, found: Found, end: float, fuzz: float) -> None:
    """Run what the time allows, up to the `end` on the monotonic clock, with `fuzz` minutes for the
    programs of each architecture; stop what is still running then."""
    for name, task in _tasks(session, found, fuzz):
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


def _tasks(session: Session, found: Found, fuzz: float) -> Iterator[Task]:
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
            yield name, partial(hunt, session, arch, found, fuzz)
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
    both = lab.setups(session, arch, found.sides)
    benchmarks = on_architecture(arch, benchmarks)
    for setup in both:
        benchmarks, gone = bench.countable(benchmarks, setup.kernel)
        if gone:
            found.notes.append(f"{arch.title}, calls: {setup.kernel.tree.label} has {gone}")
    late: process.OutOfTime | None = None
    try:
        lab.measure(session, both, benchmarks)
    except (Difference, GuestLost):
        process.go_on()
        benchmarks = [one for one in benchmarks if _counts(session, both, one, found)]
    except process.OutOfTime as error:
        late, benchmarks = error, [one for one in benchmarks if _is_counted(session, both, one)]
    rows, provenance = lab.compare(session, found.sides, both, benchmarks)
    before = found.parts[arch.name][0].rows if arch.name in found.parts else ()
    found.parts[arch.name] = (replace(rows, rows=(*before, *rows.rows)), provenance)
    # From the cache: these boots were counted above.
    for samples in lab.measure(session, both[1:], benchmarks).values():
        for sample in samples:
            found.ran.update(map(watch.function, sample.counts.symbols))
    if late:
        raise late


def place(session: Session, arch: Architecture, found: Found) -> None:
    """Add the effect of code placement to the changed benchmarks."""
    if not (moved := found.moved(arch.name)):
        return
    rows, provenance = found.parts[arch.name]
    part = replace(rows, rows=tuple(moved))
    placed = lab.with_null(session, provenance.a, part, found.null)
    known = {row.benchmark: row for row in placed.rows}
    rows = replace(rows, rows=tuple(known.get(row.benchmark, row) for row in rows.rows))
    found.parts[arch.name] = (rows, provenance)


def _is_counted(session: Session, both: Sequence[Setup], benchmark: Benchmark) -> bool:
    """Whether both sides were counted."""
    return all(bench.known(session.cache, setup, benchmark) for setup in both)


def _counts(session: Session, both: Sequence[Setup], benchmark: Benchmark, found: Found) -> bool:
    """Whether a benchmark can be counted on both sides. If not, `found` says why."""
    lost, wrong = zip(*(_sample(session, setup, benchmark) for setup in both), strict=True)
    if any(lost):
        repeated = [_sample(session, setup, benchmark, fresh=True)[0] for setup in both]
        a, b = zip(lost, repeated, strict=True)
        found.losses.append(Loss(benchmark.heading, both[1].kernel, a, b))
        return _is_counted(session, both, benchmark)
    if wrong[0]:
        arch = both[0].kernel.arch.title
        found.notes.append(f"{arch}, {benchmark.heading}: without the series: {wrong[0].what}")
    elif wrong[1]:
        kernel, row, what = both[1].kernel, benchmark.heading, wrong[1].what
        cases = (Case(f"bench.{row}", Status.FAIL, what),)
        found.wrong.append(Wrong(Outcome(f"{kernel.arch.name}-{row}", kernel, cases), row, what))
    return not any(wrong)


def _sample(
    session: Session, setup: Setup, benchmark: Benchmark, *, fresh: bool = False
) -> tuple[GuestLost | None, Difference | None]:
    """Count once, with one retry; return what went wrong."""
    wrong: list[Difference] = []

    def run() -> None:
        try:
            lab.measure(session, [setup], [benchmark], Sampling(fresh=fresh))
        except Difference as difference:
            process.go_on()
            wrong.append(difference)

    return lost_in(run), wrong[0] if wrong else None


def hunt(session: Session, arch: Architecture, found: Found, minutes: float) -> None:
    """Hunt for this many minutes, and add the result."""
    sides = found.sides
    targets = runner.prepare(session, arch, sides, alone=False, noise=False, swap=runner.ZRAM)
    judges: list[Judge[Any]] = [DifferenceJudge(excuses.applying(sides.series))]
    try:
        functions = watch.functions(targets.tried.kernel)
        meant = allowed.applying(sides.series, sides.a.tree.series, functions)
        judges.append(CostJudge(watch.prepare(session, targets), meant))
    except UserError as error:
        # The series renames or inlines a watched function.
        found.notes.append(f"{arch.title}, costs of programs: {error.what}")
    hunting = Hunt(targets, judges, session.cache.root / "report" / "fuzz" / arch.name)
    found.hunts.append(hunting)
    try:
        suspects = _hunt(hunting, session, minutes)
        if suspects:
            what = f"{suspects} that seemed to differ could not be repeated in the time given"
            found.notes.append(f"{arch.title}, programs: {what}")
        if minutes and not judges[0].tally.programs:
            found.left.append(f"{arch.name}: programs")
    except GuestLost as lost:
        process.go_on()
        a, b = (_lost(target) for target in targets.all)
        if any((*a, *b)):
            found.losses.append(Loss("programs", targets.tried.kernel, a, b))
        else:
            found.notes.append(f"{arch.title}, programs: {lost.what}; not reproducible")


def _hunt(hunting: Hunt, session: Session, minutes: float) -> int:
    """Hunt until the time is over; return the number of suspects not repeated by then."""
    seed, started, before = 1, time.monotonic(), 0
    end = started + 60 * minutes
    with contextlib.suppress(OutOfTime), process.until(end):
        while time.monotonic() < end and len(hunting.findings) < FINDINGS:
            before = _suspects(hunting)
            hunting.run(Programs(PROGRAMS, seed), FINDINGS, session.progress)
            seed, before = seed + PROGRAMS, _suspects(hunting)
    hunting.seconds = time.monotonic() - started
    return _suspects(hunting) - before


def _suspects(hunting: Hunt) -> int:
    return sum(judge.tally.suspects for judge in hunting.judges)


def _lost(target: Target) -> tuple[GuestLost | None, ...]:
    """Whether a single program loses the executor: a batch that started none proves nothing."""
    programs = {0: Programs(1).program(0)}
    return tuple(lost_in(lambda: runner.run(target, programs)) for _ in range(2))
