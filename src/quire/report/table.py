# SPDX-License-Identifier: GPL-2.0
"""The table: workload × folio size, both sides, ratio, the authors' posted figures."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from quire.host.console import console
from quire.measure.comparison import Comparison, Row

# Ratios within this distance of 1 are not coloured.
NOTABLE = 0.01
# In place of a number that was not counted.
UNKNOWN = "–"


def show(comparison: Comparison, base: str) -> None:
    """Print one architecture's table on stdout."""
    console().print(build(comparison, base))


def build(comparison: Comparison, base: str) -> Table:
    """The table as rich renders it."""
    posted = any(row.posted for row in comparison.rows)
    table = Table(
        title=f"{comparison.arch.title} · {base}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        caption=_caption(comparison, posted=posted),
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("workload", no_wrap=True)
    table.add_column("folio\nKiB", justify="right", no_wrap=True)
    a, b = comparison.labels
    for name in (f"instructions\n{a}", f"per page\n{b}"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ratio", justify="right", no_wrap=True)
    for name in (f"TLB inv.\n{a}", f"per page\n{b}"):
        table.add_column(name, justify="right", no_wrap=True)
    if posted:
        table.add_column("posted\n(time)", no_wrap=True)
    # Only this column may wrap on a narrow terminal.
    table.add_column("")
    previous = ""
    for row in comparison.rows:
        if previous and row.cell.workload.name != previous:
            table.add_section()
        previous = row.cell.workload.name
        _add(table, row, posted=posted)
    return table


def _add(table: Table, row: Row, *, posted: bool) -> None:
    size = str(row.cell.size) if row.cell.size is not None else "–"
    table.add_row(
        row.cell.label,
        size,
        number(row.a.insns),
        number(row.b.insns),
        _ratio(row.ratio),
        number(row.a.tlb_total),
        number(row.b.tlb_total),
        *([_posted(row)] if posted else []),
        remarks(row),
    )
    if row.a.own and row.b.own:
        ratio = row.a.own / row.b.own
        own = (number(row.a.own), number(row.b.own))
        table.add_row("  unmapping alone", "", *own, _ratio(ratio))


def number(value: float) -> str:
    """Three significant digits below 100, whole numbers above; thousands are separated."""
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    if value == 0:
        return "0"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3g}"


def remarks(row: Row) -> str:
    """The workload's counters, and whether the row's counts are repeatable."""
    parts = []
    for name in row.cell.workload.counters:
        if name in row.a.counters:
            parts.append(f"{name} {row.a.counters[name]} → {row.b.counters.get(name)}")
    for before, after in (
        (row.a.spans, row.b.spans),
        (row.a.calls, row.b.calls),
    ):
        for name in before:
            parts.append(f"{name.replace('_', ' ')} {number(before[name])} → {number(after[name])}")
    if row.excess:
        parts.append(f"MORE CALLS: {', '.join(calls.what for calls in row.excess)}")
    if row.unstable:
        parts.append(f"unstable, spread {row.spread:.2%}")
    elif row.a.runs > 1:
        parts.append(f"spread {row.spread:.3%} of {row.a.runs}")
    return "; ".join(parts)


def _posted(row: Row) -> str:
    if not row.posted:
        return ""
    return ", ".join(part for part in (row.posted.text, row.posted.counters) if part)


def _ratio(ratio: float) -> Text:
    style = "green" if ratio > 1 + NOTABLE else "red" if ratio < 1 - NOTABLE else ""
    return Text(f"{ratio:.2f}×", style=style)


def _caption(comparison: Comparison, *, posted: bool) -> str:
    text = f"ratio: instructions of {' / '.join(comparison.labels)}."
    if posted:
        text += " posted: the authors' wall time, old / new."
    return text + other_units(comparison)


def other_units(comparison: Comparison) -> str:
    """The part of a caption that names workloads whose figures are not per page."""
    others = [row.cell.workload for row in comparison.rows if row.cell.workload.unit != "page"]
    units = dict.fromkeys(f"{workload.name}: per {workload.unit}" for workload in others)
    return f" Not per page: {'; '.join(units)}." if units else ""
