# SPDX-License-Identifier: GPL-2.0
"""The dot plot: ratios of instructions on a log scale, as an SVG for light and dark."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

# The most important benchmarks: the number shown, and descriptive names.
MOST = 12
ROWS = {
    "ksm-walk 22169 plain": "KSM reverse walk, 22,169 VMAs",
    "cow-after-fork 64": "write after fork() and exit, 64 KiB",
    "mremap 64": "mremap(), 64 KiB",
    "idle mark 64": "idle-page bitmap, 64 KiB",
    "lazyfree-redirtied 2048": "redirtied MADV_FREE memory, 2 MiB",
    "mprotect 64": "mprotect(), 64 KiB",
    "reclaim mglru mixed 64": "reclaim of a cgroup (zeroes), 64 KiB",
    "swapout zero 64": "swap-out of zeroes, 64 KiB",
    "lazyfree 64": "reclaim after MADV_FREE, 64 KiB",
    "fork-swapped 64": "fork() of swapped-out memory, 64 KiB",
    "migrate 64": "move_pages(), 64 KiB",
    "swapout distinct 64": "swap-out of data to zram, 64 KiB",
}
# Print larger ratios as numbers at the edge, so that one benchmark does not dominate the scale.
MOST_SHOWN = 40.0
TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
WIDTH, LEFT, LINE = 900, 330, 26
# Class names begin with d to avoid conflicts with other classes of the page.
STYLE = """\
.dots{max-width:100%;height:auto;font:14px system-ui,sans-serif}
.dots text{fill:#1c2024}.dots line{stroke:#d5d9de}.dots .d1{stroke:#62686f}
.dc0{fill:#2166ac}.dc1{fill:#c2560c}
@media(prefers-color-scheme:dark){
.dots text{fill:#e2e5e9}.dots line{stroke:#353b43}.dots .d1{stroke:#98a0a9}
.dc0{fill:#6aa9e6}.dc1{fill:#f0a05a}}
"""

Json = Mapping[str, Any]
# A column: the kernel line and the architecture. A row: its name, and a ratio for each column.
Column = tuple[str, str]
Ratios = Mapping[str, Sequence[float | None]]


def name(row: Json) -> str:
    """Return the name of a report's benchmark: workload, parameters, folio size."""
    size = [str(row["folio_kib"])] if row["folio_kib"] is not None else []
    return " ".join([row["workload"], *row["parameters"].values(), *size])


def of_report(report: Json, *, full: bool = False) -> str:
    """Draw the plot of a report for a page. `full`: a file with all benchmarks, by topic."""
    # Further CPUs have few benchmarks.
    parts = report["architectures"] or report["further_cpus"]
    found = [{name(row): row["ratio"] for row in part["rows"]} for part in parts]
    rows = {name(row): row["topic"] for part in parts for row in part["rows"]}
    ratios = {one: [known.get(one) for known in found] for one in rows}
    columns = [("", part["name"]) for part in parts]
    if not full:
        return svg(columns, choose(ratios), alone=False, most=MOST_SHOWN)
    # A topic's heading is a line without figures.
    topics = {topic: [one for one in rows if rows[one] == topic] for topic in rows.values()}
    lines: dict[str, Sequence[float | None]] = {}
    for topic, names in topics.items():
        lines |= {topic: (), **{one: ratios[one] for one in names}}
    return svg(columns, lines)


def choose(ratios: Ratios) -> dict[str, Sequence[float | None]]:
    """Return the benchmarks to show, best first: those in ROWS, or else the first ones."""
    names = [name for name in ROWS if name in ratios] or list(ratios)[:MOST]
    known = {ROWS.get(name, name): ratios[name] for name in names if any(ratios[name])}
    return dict(sorted(known.items(), key=lambda row: -max(filter(None, row[1]))))


def svg(
    columns: Sequence[Column], ratios: Ratios, *, alone: bool = True, most: float = math.inf
) -> str:
    """Draw these benchmarks; colours show kernel lines, shapes show architectures. `alone`: a file
    rather than part of a page. Ratios above `most` are at the edge, with their numbers."""
    values = [min(value, most) for row in ratios.values() for value in row if value]
    low, high = min([1, *values]) / 1.1, max([2, *values]) * 1.1
    height = LINE * len(ratios) + 90

    def x(value: float) -> float:
        share = math.log(min(value, most) / low) / math.log(high / low)
        return LEFT + (WIDTH - 30 - LEFT) * share

    lines = list(dict.fromkeys(line for line, _ in columns))
    shapes = list(dict.fromkeys(name for _, name in columns))

    def mark(column: Column, at: float, y: float, title: str) -> str:
        # Each column has its own vertical offset, so that equal ratios do not overlap.
        y += 2.5 * (columns.index(column) - (len(columns) - 1) / 2)
        colour = f'class="dc{lines.index(column[0]) % 2}"'
        shape = (
            f'<rect x="{at - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" {colour}>{{}}</rect>'
            if shapes.index(column[1]) % 2
            else f'<circle cx="{at:.1f}" cy="{y:.1f}" r="5.5" {colour}>{{}}</circle>'
        )
        return shape.format(f"<title>{html.escape(title)}</title>")

    parts = [f"<style>{STYLE}</style>"]
    bottom = height - 40
    for tick in (tick for tick in TICKS if low <= tick <= high):
        at, middle = f"{x(tick):.1f}", ' class="d1"' if tick == 1 else ""
        parts.append(f'<line x1="{at}" x2="{at}" y1="34" y2="{bottom}"{middle}/>')
        parts.append(f'<text x="{at}" y="{bottom + 16}" text-anchor="middle">{tick:g}×</text>')
    parts.append(f'<text x="{LEFT}" y="{height - 6}">how many times fewer instructions</text>')
    for number, column in enumerate(columns):
        label, left = " ".join(column).strip(), LEFT + 145 * number
        parts.append(mark(column, left, 14 - 2.5 * (number - (len(columns) - 1) / 2), label))
        parts.append(f'<text x="{left + 11}" y="19">{html.escape(label)}</text>')
    for number, (label, row) in enumerate(ratios.items()):
        y = 34 + LINE * (number + 0.5)
        if not row:
            parts.append(f'<text x="0" y="{y + 5}" font-weight="bold">{html.escape(label)}</text>')
            continue
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y}" y2="{y}"/>')
        parts.append(
            f'<text x="{LEFT - 12}" y="{y + 5}" text-anchor="end">{html.escape(label)}</text>'
        )
        if beyond := [f"{value:.0f}×" for value in row if value and value > most]:
            text = f'<text x="{x(most) - 14:.1f}" y="{y + 5}" text-anchor="end">'
            parts.append(f"{text}{', '.join(beyond)} ›</text>")
        parts += [
            mark(column, x(value), y, f"{label}, {' '.join(column).strip()}: {value:.2f}×")
            for column, value in zip(columns, row, strict=True)
            if value
        ]
    space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    return (
        f'<svg{space} class="dots" role="img" aria-label="ratios of instructions" '
        f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
