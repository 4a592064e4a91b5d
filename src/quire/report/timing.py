# SPDX-License-Identifier: GPL-2.0
"""Format timings and their comparison as tables and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from quire.host.console import columns, console, grid, head
from quire.timing import compare
from quire.timing.compare import CONFIDENCE, Interval, Verdict, median_interval
from quire.timing.document import TimedBenchmark, Timing

# For user-mode Linux: a counter, and the suffix of benchmarks that run inside its kernel.
SYNC, KERNEL = "um-sync-ns", ":kernel"
STYLE = {compare.FASTER: "green", compare.SLOWER: "red", compare.NOT_SIGNIFICANT: "yellow"}


def show(timings: Sequence[Timing]) -> None:
    """Print a table of medians; under emulation, say that it has no times."""
    first = timings[0]
    if first.is_time:
        title = f"{first.machine.get('cpu', first.machine['architecture'])}: ns, median"
    else:
        title = f"NOT TIMES ({first.clock['kind']}: {first.clock.get('why', '')}): the code ran"
    table = grid(title)
    columns(table, "benchmark", no_wrap=True)
    columns(table, *(f"{timing.name} {timing.release}" for timing in timings), right=True)
    for row in first.rows:
        same = [next((r for r in timing.rows if r.name == row.name), row) for timing in timings]
        cells = [_cell(timed, is_time=first.is_time) for timed in same]
        table.add_row(f"{row.name} per {row.unit}", *cells)
    console().print(table)


def _cell(row: TimedBenchmark, *, is_time: bool) -> str:
    if row.skipped or row.failed:
        return f"{'failed' if row.failed else 'skipped'}: {row.failed or row.skipped}"
    if not is_time:
        return f"{len(row.runs)} runs"
    interval = median_interval(row.medians) or median_interval(row.runs)
    return _text(interval) if interval else f"{len(row.runs)} runs, too few"


def _text(interval: Interval | None) -> str:
    if not interval:
        return "–"
    return f"{interval.median:.4g} [{interval.low:.4g}, {interval.high:.4g}]"


def show_verdicts(a: Timing, b: Timing, verdicts: Sequence[Verdict]) -> None:
    """Print a row per verdict."""
    title = f"A: {a.name} {a.release}\nB: {b.name} {b.release}\n"
    title += f"time of A / time of B, {CONFIDENCE:.0%} interval"
    table = grid(title)
    columns(table, "benchmark", overflow="fold")
    columns(table, "A ns", "B ns", "A / B", right=True, overflow="fold")
    columns(table, "B is", overflow="fold")
    for verdict in verdicts:
        word = verdict.verdict + (f" ({verdict.why})" if verdict.why else "")
        numbers = map(_text, (verdict.a, verdict.b, verdict.ratio))
        table.add_row(verdict.row.name, *numbers, Text(word, STYLE[verdict.verdict]))
    out = console()
    out.print(table)
    if any(verdict.values == "runs" for verdict in verdicts):
        out.print(
            "few boots: the values are single runs, and the intervals do not include variation "
            "between boots"
        )


def show_sync(timings: Sequence[Timing]) -> None:
    """Print the time of a benchmark's calls to the host, for user-mode Linux."""
    table = grid("ns to synchronise the host's mappings")
    columns(table, "benchmark", no_wrap=True)
    columns(table, *(timing.name for timing in timings), right=True)
    for same in zip(*(timing.rows for timing in timings), strict=True):
        spent = [row.counters.get(SYNC) for row in same]
        if not same[0].name.endswith(KERNEL) and all(isinstance(ns, float | int) for ns in spent):
            table.add_row(same[0].name, *(f"{ns:.4g}" for ns in spent))
    if table.row_count:
        console().print(table)


def as_json(a: Timing, b: Timing, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the document described by docs/schema/compare.json."""
    return head("compare") | {
        "confidence": CONFIDENCE,
        "a": {"name": a.name, "machine": a.machine},
        "b": {"name": b.name, "machine": b.machine},
        "rows": [
            {
                "name": verdict.row.name,
                "unit": verdict.row.unit,
                "verdict": verdict.verdict,
                "why": verdict.why,
                "values": verdict.values,
                "a_ns": asdict(verdict.a) if verdict.a else None,
                "b_ns": asdict(verdict.b) if verdict.b else None,
                "ratio": asdict(verdict.ratio) if verdict.ratio else None,
            }
            for verdict in verdicts
        ],
    }
