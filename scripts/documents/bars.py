# SPDX-License-Identifier: GPL-2.0
"""Stacked bars: the table of a record as an SVG for light and dark, a bar for each column."""

from __future__ import annotations

import html
from collections.abc import Sequence

# Layers above this row are drawn.
TOTAL = "total"
WIDTH, LEFT, LINE, FIGURE = 900, 190, 30, 70
COLOURS = "#2166ac #67a9cf #b2c9dc #8c6bb1 #c2560c #f0a05a #4d9221 #a1d76a #62686f".split()
STYLE = """\
.bars{max-width:100%;height:auto;font:14px system-ui,sans-serif}
.bars text{fill:#1c2024}
@media(prefers-color-scheme:dark){.bars text{fill:#e2e5e9}}
"""


def svg(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw the rows above TOTAL as layers. Each row has a name and a figure for each column."""
    names = [row[0] for row in rows]
    layers = rows[: names.index(TOTAL)] if TOTAL in names else rows
    figures = [[float(text.replace(",", "")) for text in row[1:]] for row in layers]
    scale = (WIDTH - LEFT - FIGURE) / max(map(sum, zip(*figures, strict=True)))
    height = LINE * (len(columns) + len(layers)) + LINE // 2
    size = f'viewBox="0 0 {WIDTH} {height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" class="bars" {size}>']
    parts += [f"<style>{STYLE}</style>"]
    for at, column in enumerate(columns):
        y, x = at * LINE, float(LEFT)
        parts += [_text(LEFT - 8, y + 20, column, 'text-anchor="end"')]
        for colour, layer in zip(COLOURS, figures, strict=False):
            parts += [_box(x, y + 4, layer[at] * scale, colour)]
            x += layer[at] * scale
        parts += [_text(x + 6, y + 20, f"{sum(layer[at] for layer in figures):,.0f}")]
    for at, (colour, row) in enumerate(zip(COLOURS, layers, strict=False)):
        y = (len(columns) + at) * LINE + LINE // 2
        parts += [_box(LEFT, y + 4, 22, colour), _text(LEFT + 32, y + 20, row[0])]
    return "\n".join([*parts, "</svg>", ""])


def _box(x: float, y: int, width: float, colour: str) -> str:
    """A rectangle as high as a bar."""
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LINE - 8}" fill="{colour}"/>'


def _text(x: float, y: int, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}" {more}>{html.escape(text)}</text>'
