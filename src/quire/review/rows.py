# SPDX-License-Identifier: GPL-2.0
"""Count rows on both sides. One that cannot be counted does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence

from quire import lab
from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.host import process
from quire.host.errors import Difference, GuestLost
from quire.measure import bench
from quire.measure.bench import Sampling, Setup
from quire.measure.workloads import Benchmark, on_architecture
from quire.report.steps import name as row_name
from quire.review import loss
from quire.review.found import Found, Wrong
from quire.review.loss import Loss
from quire.session import Session
from quire.test.outcome import Case, Outcome


def count(
    session: Session, arch: Architecture, found: Found, benchmarks: Sequence[Benchmark]
) -> None:
    """Add the rows of these benchmarks."""
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
        _compare(
            session,
            found,
            both,
            [benchmark for benchmark in benchmarks if _known(session, both, benchmark)],
        )
        raise
    _compare(session, found, both, benchmarks)


def _compare(
    session: Session, found: Found, both: tuple[Setup, Setup], benchmarks: Sequence[Benchmark]
) -> None:
    sampling = Sampling(place=session.place)
    rows, provenance, _ = lab.compare(session, found.sides, both, benchmarks, sampling)
    found.add_rows(both[0].kernel.arch, rows, provenance)


def _known(session: Session, both: Sequence[Setup], benchmark: Benchmark) -> bool:
    """Whether both sides have been counted."""
    return all(bench.known(session.cache, setup, benchmark) for setup in both)


def _counts(session: Session, both: Sequence[Setup], benchmark: Benchmark, found: Found) -> bool:
    """Whether a row can be counted on both sides. If not, `found` has why."""
    lost, wrong = zip(*(_sample(session, setup, benchmark) for setup in both), strict=True)
    if any(lost):
        again = [_sample(session, setup, benchmark, fresh=True)[0] for setup in both]
        a, b = zip(lost, again, strict=True)
        found.losses.append(Loss(row_name(benchmark), both[1].kernel, a, b))
        return _known(session, both, benchmark)
    if wrong[0]:
        arch = both[0].kernel.arch.title
        found.notes.append(f"{arch}, {row_name(benchmark)}: without the series: {wrong[0].what}")
    elif wrong[1]:
        found.wrong.append(_wrong(both[1], benchmark, wrong[1]))
    return not any(wrong)


def _sample(
    session: Session, setup: Setup, benchmark: Benchmark, *, fresh: bool = False
) -> tuple[GuestLost | None, Difference | None]:
    """Count once, or once more; what went wrong."""
    sampling = Sampling(fresh=fresh, place=session.place)
    wrong: list[Difference] = []

    def run() -> None:
        try:
            bench.measure(session.cache, [setup], [benchmark], session.progress, sampling)
        except Difference as difference:
            process.go_on()
            wrong.append(difference)

    return loss.of(run), wrong[0] if wrong else None


def _wrong(setup: Setup, benchmark: Benchmark, difference: Difference) -> Wrong:
    row = row_name(benchmark)
    case = Case(f"bench.{row}", Status.FAIL, difference.what)
    outcome = Outcome(f"{setup.kernel.arch.name}-{row}", setup.kernel, (case,))
    return Wrong(outcome, row, difference.what)
