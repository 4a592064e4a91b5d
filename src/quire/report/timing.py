# SPDX-License-Identifier: GPL-2.0
"""Timings and their comparison as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire.host import schema
from quire.host.console import console
from quire.timing import compare, interval
from quire.timing.compare import Verdict
from quire.timing.document import Row, Timing
from quire.timing.interval import CONFIDENCE, Interval

STYLE = {compare.FASTER: "green", compare.SLOWER: "red", compare.CANNOT_TELL: "yellow"}


def show(timings: Sequence[Timing]) -> None:
    """A table of medians. Under emulation it has no times, and says so."""
    first = timings[0]
    if first.is_time:
        title = f"{first.machine.get('cpu', first.machine['architecture'])}: ns, median"
    else:
        title = f"NOT TIME ({first.clock['kind']}: {first.clock.get('why', '')}): the code ran"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("row", no_wrap=True)
    for one in timings:
        table.add_column(f"{one.name} {one.release}", justify="right")
    for row in first.rows:
        others = [next((r for r in one.rows if r.name == row.name), row) for one in timings]
        cells = [_cell(other, is_time=first.is_time) for other in others]
        table.add_row(f"{row.name} per {row.unit}", *cells)
    console().print(table)


def _cell(row: Row, *, is_time: bool) -> str:
    if row.skipped or row.failed:
        return f"{'failed' if row.failed else 'skipped'}: {row.failed or row.skipped}"
    if not is_time:
        return f"{len(row.runs)} runs"
    found = interval.of(row.medians) or interval.of(row.runs)
    return _text(found) if found else f"{len(row.runs)} runs, too few"


def _text(found: Interval) -> str:
    return f"{found.median:.4g} [{found.low:.4g}, {found.high:.4g}]"


def show_verdicts(a: Timing, b: Timing, verdicts: Sequence[Verdict]) -> None:
    """A row per verdict."""
    title = f"A: {a.name} {a.release}\nB: {b.name} {b.release}\n"
    title += f"time of A over time of B, {CONFIDENCE:.0%} interval"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("row", "A ns", "B ns", "A / B", "B is"):
        table.add_column(name, justify="left" if name in ("row", "B is") else "right")
    for one in verdicts:
        cells = [_text(found) if found else "–" for found in (one.a, one.b, one.ratio)]
        word = Text(one.verdict + (f" ({one.why})" if one.why else ""), STYLE[one.verdict])
        table.add_row(one.row.name, *cells, word)
    out = console()
    out.print(table)
    if any(one.values == "runs" for one in verdicts):
        out.print(
            "few boots: the values are runs, and what differs from boot to boot is not in the "
            "intervals"
        )


def as_json(a: Timing, b: Timing, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The document of docs/schema/compare.json."""
    return schema.head("compare") | {
        "confidence": CONFIDENCE,
        "a": {"name": a.name, "machine": a.machine},
        "b": {"name": b.name, "machine": b.machine},
        "rows": [
            {
                "name": one.row.name,
                "unit": one.row.unit,
                "verdict": one.verdict,
                "why": one.why,
                "values": one.values,
                "a_ns": asdict(one.a) if one.a else None,
                "b_ns": asdict(one.b) if one.b else None,
                "ratio": asdict(one.ratio) if one.ratio else None,
            }
            for one in verdicts
        ],
    }
