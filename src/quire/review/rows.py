# SPDX-License-Identifier: GPL-2.0
"""Count rows on both sides. One that cannot be counted does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quire import lab
from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.host import process
from quire.host.errors import Difference, GuestLost
from quire.measure import bench
from quire.measure.bench import Rig, Sampling
from quire.measure.workloads import Cell, on_architecture
from quire.report.steps import name as row_name
from quire.review import loss
from quire.review.found import Found, Wrong
from quire.review.loss import Loss
from quire.session import Session
from quire.test.outcome import Case, Outcome


def count(session: Session, arch: Architecture, found: Found, cells: Sequence[Cell]) -> None:
    """Add the rows of these cells."""
    both, sampling = lab.rigs(session, arch, found.sides), Sampling(place=session.place)
    cells = on_architecture(arch, cells)
    for rig in both:
        cells, gone = bench.countable(cells, rig.kernel)
        if gone:
            found.notes.append(f"{arch.title}, calls: {rig.kernel.tree.label} has {gone}")
    try:
        bench.measure(session.cache, both, cells, session.progress, sampling)
    except (Difference, GuestLost):
        process.go_on()
        cells = [cell for cell in cells if _counts(session, both, cell, found)]
    except process.OutOfTime:
        _compare(session, found, both, [cell for cell in cells if _known(session, both, cell)])
        raise
    _compare(session, found, both, cells)


def place(session: Session, arch: Architecture, found: Found) -> None:
    """Add what placement alone changes to the rows that moved."""
    if not (moved := found.moved(arch.name)):
        return
    rows, made = found.parts[arch.name]
    part = replace(rows, rows=tuple(moved))
    placed = lab.with_null(session, made.a, part, found.null, Sampling(place=session.place))
    known = {row.cell: row for row in placed.rows}
    rows = replace(rows, rows=tuple(known.get(row.cell, row) for row in rows.rows))
    found.parts[arch.name] = (rows, made)


def _compare(session: Session, found: Found, both: tuple[Rig, Rig], cells: Sequence[Cell]) -> None:
    sampling = Sampling(place=session.place)
    rows, made, _ = lab.compare(session, found.sides, both, cells, sampling)
    found.add_rows(both[0].kernel.arch, rows, made)


def _known(session: Session, both: Sequence[Rig], cell: Cell) -> bool:
    """Whether both sides have been counted."""
    return all(bench.known(session.cache, rig, cell) for rig in both)


def _counts(session: Session, both: Sequence[Rig], cell: Cell, found: Found) -> bool:
    """Whether a row can be counted on both sides. If not, `found` has why."""
    lost, wrong = zip(*(_sample(session, rig, cell) for rig in both), strict=True)
    if any(lost):
        again = [_sample(session, rig, cell, fresh=True)[0] for rig in both]
        a, b = zip(lost, again, strict=True)
        found.losses.append(Loss(row_name(cell), both[1].kernel, a, b))
        return _known(session, both, cell)
    if wrong[0]:
        arch = both[0].kernel.arch.title
        found.notes.append(f"{arch}, {row_name(cell)}: without the series: {wrong[0].what}")
    elif wrong[1]:
        found.wrong.append(_wrong(both[1], cell, wrong[1]))
    return not any(wrong)


def _sample(
    session: Session, rig: Rig, cell: Cell, *, fresh: bool = False
) -> tuple[GuestLost | None, Difference | None]:
    """Count once, or once more; what went wrong."""
    sampling = Sampling(fresh=fresh, place=session.place)
    wrong: list[Difference] = []

    def run() -> None:
        try:
            bench.measure(session.cache, [rig], [cell], session.progress, sampling)
        except Difference as difference:
            process.go_on()
            wrong.append(difference)

    return loss.of(run), wrong[0] if wrong else None


def _wrong(rig: Rig, cell: Cell, difference: Difference) -> Wrong:
    row = row_name(cell)
    case = Case(f"bench.{row}", Status.FAIL, difference.what)
    outcome = Outcome(f"{rig.kernel.arch.name}-{row}", rig.kernel, (case,))
    return Wrong(outcome, row, difference.what)
