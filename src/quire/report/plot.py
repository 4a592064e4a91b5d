# SPDX-License-Identifier: GPL-2.0
"""The plot: one row of panels per workload, one column per architecture, SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quire.measure.comparison import Comparison, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

A, B = "#b8bcc4", "#2166ac"
WIDTH, PANEL_HEIGHT = 9.0, 1.75
# Ratios within this distance of 1 are not printed above their bars.
NOTABLE = 0.01
# Panels whose bars differ by more than this factor get a logarithmic scale.
LOGARITHMIC = 40
# With more bars than this, labels are smaller.
MANY = 6


def draw(comparisons: Sequence[Comparison], title: str, stem: Path) -> list[Path]:
    """Write `stem`.svg and `stem`.png; return their paths."""
    import matplotlib as mpl  # noqa: PLC0415 -- slow, and useless to other commands
    from matplotlib import pyplot as plt  # noqa: PLC0415

    mpl.use("Agg")
    # The same numbers produce the same bytes.
    mpl.rcParams.update({"svg.hashsalt": "quire", "svg.fonttype": "none", "font.size": 8})
    groups = list(dict.fromkeys(_group(row) for c in comparisons for row in c.rows))
    figure, axes = plt.subplots(
        len(groups),
        len(comparisons),
        figsize=(WIDTH, PANEL_HEIGHT * len(groups) + 0.9),
        squeeze=False,
        layout="constrained",
    )
    for column, comparison in enumerate(comparisons):
        for line, group in enumerate(groups):
            rows = [row for row in comparison.rows if _group(row) == group]
            _panel(axes[line][column], rows, group, comparison.labels)
        axes[0][column].set_title(f"{comparison.arch.title}\n{groups[0]}", fontsize=9)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, frameon=False)
    paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.savefig(paths[1], dpi=150, metadata={"Software": None})
    plt.close(figure)
    return paths


def _group(row: Row) -> str:
    """Rows of one panel differ only in folio size; workloads without a size share a panel."""
    return row.cell.label if row.cell.size is not None else row.cell.workload.name


def _panel(axes: Axes, rows: Sequence[Row], group: str, labels: tuple[str, str]) -> None:
    axes.set_title(group, fontsize=9)
    if not rows:
        axes.set_axis_off()
        return
    places = range(len(rows))
    a = [row.a.insns for row in rows]
    b = [row.b.insns for row in rows]
    axes.bar([x - 0.2 for x in places], a, 0.38, color=A, label=labels[0])
    axes.bar([x + 0.2 for x in places], b, 0.38, color=B, label=labels[1])
    axes.set_xticks(list(places), [_tick(row) for row in rows])
    if len(rows) > MANY:
        axes.tick_params(axis="x", labelsize=6)
    axes.set_ylabel(f"instructions\nper {_unit(rows[0])}")
    if max(a + b) > LOGARITHMIC * min(a + b):
        axes.set_yscale("log")
    for x, row in zip(places, rows, strict=True):
        if abs(row.ratio - 1) > NOTABLE:
            top = max(row.a.insns, row.b.insns)
            axes.annotate(
                f"{row.ratio:.2f}×",
                (x, top),
                (0, 1),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=7,
            )
    axes.margins(y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="x", length=0)


def _tick(row: Row) -> str:
    if row.cell.size is None:
        return "\n".join(value for _, value in row.cell.parameters)
    return f"{row.cell.size} K" if row.cell.size < 1024 else f"{row.cell.size // 1024} M"


def _unit(row: Row) -> str:
    return "4 KiB page" if row.cell.workload.unit == "page" else row.cell.workload.unit
