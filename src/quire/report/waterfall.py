# SPDX-License-Identifier: GPL-2.0
"""Show a series step by step: a table of changes, a waterfall as SVG, and JSON."""

import html
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from quire.host.console import columns, grid
from quire.lab import Stepped
from quire.measure import comparison, cost
from quire.measure.comparison import Move
from quire.report import counted
from quire.report.table import number

WIDTH, LEFT, RIGHT, LINE = 900, 400, 110, 20
STYLE = """\
.falls{max-width:100%;height:auto;font:13px system-ui,sans-serif}.falls text{fill:#1c2024}
.w0{fill:#62686f}.w1{fill:#2166ac}.w2{fill:#c2560c}
@media(prefers-color-scheme:dark){.falls text{fill:#e2e5e9}
.w0{fill:#98a0a9}.w1{fill:#6aa9e6}.w2{fill:#f0a05a}}
"""


def table(stepped: Stepped) -> Table:
    """Print each benchmark's first cost, each step that changed it, and the total."""
    moved = {move.number for benchmark in stepped.rows for move in stepped.moves(benchmark)[:-1]}
    numbers = [at for at in range(1, len(stepped.steps)) if at not in moved and stepped.kernels[at]]
    still = ", ".join(map(stepped.label, numbers)) or "none"
    notes = [f"{stepped.label(at)}: {note}" for at, note in stepped.notes.items()]
    booted = (
        f"{len(stepped.same)} of {len(stepped.steps)} steps share an earlier step's code: no boot."
    )
    caption = "\n".join([f"no benchmark changed: {still}.", booted, *notes])
    out = grid(f"{stepped.arch.title} · {stepped.title}", caption)
    columns(out, "benchmark", "step", no_wrap=True)
    columns(out, "instructions", "change", right=True, no_wrap=True)
    columns(out, "subject, and other changes per unit")
    for benchmark in stepped.rows:
        *each, whole = stepped.moves(benchmark)
        first = number(whole.a.insns), "", stepped.steps[0].subject
        out.add_section()
        out.add_row(benchmark.heading, stepped.label(0), *first)
        for move in each:
            text = "; ".join([stepped.steps[move.number].subject, *events(move)])
            out.add_row("", stepped.label(move.number), number(move.b.insns), _change(move), text)
        out.add_row("", "all", number(whole.b.insns), _change(whole), "")
    return out


def events(move: Move) -> list[str]:
    """Return the other changes, the largest first."""
    pairs = sorted(move.events.items(), key=lambda item: -abs(item[1][1] - item[1][0]))
    plain = (*cost.KINDS, comparison.CYCLES)
    names = {kind: kind if kind in plain else f"{kind} lock" for kind in move.events}
    return [f"{names[kind]} {number(a)} → {number(b)}" for kind, (a, b) in pairs]


def _change(move: Move) -> Text:
    style = "" if abs(move.share) <= comparison.SHARE else "green" if move.share < 0 else "red"
    return Text(f"{move.share:+.1%}", style)


def as_json(stepped: Stepped) -> dict[str, Any]:
    """Return all figures of all benchmarks, and the steps that changed them."""
    steps = [
        {
            "label": step.tree.label,
            "subject": step.subject,
            "image_sha256": kernel.image_sha256 if kernel else None,
            "code_of": stepped.same.get(at),
            "note": stepped.notes.get(at, ""),
        }
        for at, (step, kernel) in enumerate(zip(stepped.steps, stepped.kernels, strict=True))
    ]
    rows = [
        {
            "row": benchmark.heading,
            "unit": benchmark.workload.unit,
            "moved_in": [move.number for move in stepped.moves(benchmark)[:-1]],
            "steps": [counted.figure(figure) if figure else None for figure in figures],
        }
        for benchmark, figures in stepped.rows.items()
    ]
    return {"name": stepped.arch.name, "steps": steps, "rows": rows}


def svg(results: Sequence[Stepped]) -> str:
    """Draw the waterfall: per step, a bar from the cost before it to the cost after it."""
    parts, y = list[str](), 0
    for stepped in results:
        for benchmark in stepped.rows:
            y += 32
            parts.append(_text(0, y, f"{stepped.arch.name} · {benchmark.heading}", "start"))
            *each, whole = stepped.moves(benchmark)
            bars = [(0.0, whole.a.insns, 0, f"{stepped.label(0)} {stepped.steps[0].subject}", "")]
            for move in each:
                label = f"{stepped.label(move.number)} {stepped.steps[move.number].subject}"
                colour = 1 if move.share < 0 else 2
                bars.append((move.a.insns, move.b.insns, colour, label, f" {move.share:+.1%}"))
            bars.append((0.0, whole.b.insns, 0, "all", f" {whole.share:+.1%}"))
            scale = (WIDTH - LEFT - RIGHT) / max(end for bar in bars for end in bar[:2])
            for start, end, colour, label, share in bars:
                y += LINE
                x, width = LEFT + min(start, end) * scale, max(abs(end - start) * scale, 1.5)
                place = f'x="{x:.1f}" y="{y - 12}" width="{width:.1f}" height="{LINE - 6}"'
                parts.append(f'<rect {place} class="w{colour}"/>')
                parts.append(_text(LEFT - 8, y, label[:50], "end"))
                parts.append(_text(x + width + 6, y, number(end) + share, "start"))
    size = f'viewBox="0 0 {WIDTH} {y + 10}" width="{WIDTH}" height="{y + 10}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="falls" role="img" {size}>'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>\n"])


def _text(x: float, y: int, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y}" text-anchor="{anchor}">{html.escape(text)}</text>'
