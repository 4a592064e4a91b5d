# SPDX-License-Identifier: GPL-2.0
"""The second table: what takes time beside instructions, per row and side."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from quire.host.console import console
from quire.measure import cost
from quire.measure.comparison import Comparison, Figure, Row
from quire.measure.cost import Cost
from quire.report.table import NOTABLE, UNKNOWN, number, other_units

# The columns: headings of two lines, and the kind of measure.cost. None: the locks of all classes.
COLUMNS: tuple[tuple[str, str | None], ...] = (
    ("atomics", "atomics"),
    ("barriers", "barriers"),
    ("locks", None),
    ("lines\nread", "lines read"),
    ("lines\nwritten", "lines written"),
    ("table\nwords", "table words"),
    ("TLB\npage", "tlb page"),
    ("TLB\nrange", "tlb range"),
    ("TLB\nspace", "tlb space"),
)


def show(comparison: Comparison, base: str) -> None:
    """Print one architecture's table of costs on stdout."""
    console().print(build(comparison, base))


def build(comparison: Comparison, base: str) -> Table:
    """The table as rich renders it: two lines for a row, side A above side B."""
    table = Table(
        title=f"{comparison.arch.title} · {base}: per page",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        caption=f"{UNKNOWN}: not counted. Locks: of all classes; the JSON report and the page have "
        f"them by class.{other_units(comparison)}",
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("workload", no_wrap=True)
    table.add_column("folio\nKiB", justify="right", no_wrap=True)
    table.add_column("side", no_wrap=True)
    for heading, _ in COLUMNS:
        table.add_column(heading, justify="right", no_wrap=True)
    previous = ""
    for row in comparison.rows:
        if previous and row.cell.workload.name != previous:
            table.add_section()
        previous = row.cell.workload.name
        _add(table, row, comparison.labels)
    return table


def of(figure: Figure, kind: str | None) -> float | None:
    """One column's number; None if it was not counted."""
    found: Cost = figure.cost
    return cost.locks_taken(found) if kind is None else found.get(kind)


def _add(table: Table, row: Row, labels: tuple[str, str]) -> None:
    size = str(row.cell.size) if row.cell.size is not None else UNKNOWN
    a = [of(row.a, kind) for _, kind in COLUMNS]
    b = [of(row.b, kind) for _, kind in COLUMNS]
    table.add_row(row.cell.label, size, labels[0], *(_number(value) for value in a))
    table.add_row(
        "",
        "",
        labels[1],
        *(Text(_number(new), _style(old, new)) for old, new in zip(a, b, strict=True)),
    )


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else number(value)


def _style(a: float | None, b: float | None) -> str:
    """Green if side B has notably fewer, red if it has more."""
    if a is None or b is None or abs(a - b) <= NOTABLE * b:
        return ""
    return "green" if b < a else "red"
