# SPDX-License-Identifier: GPL-2.0
"""The table of compile results: one row per configuration, one column per topic."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from quire.check.architectures.check import FAILED, NO_COMPILER, OK, Compilation
from quire.host.console import console

STYLES = {OK: "green", FAILED: "red", NO_COMPILER: "yellow"}


def show(cells: Sequence[Compilation], title: str) -> None:
    """Print the table on stdout, followed by the failures."""
    out = console()
    out.print(build(cells, title))
    for cell in cells:
        if cell.state == FAILED:
            out.print(Text(f"{cell.configuration}: {cell.topic}: {cell.state}", "red"))
            for line in cell.trouble.splitlines():
                out.print(f"     {line}")


def build(cells: Sequence[Compilation], title: str) -> Table:
    """The table as rich renders it."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("configuration", no_wrap=True)
    rows: dict[str, list[Compilation]] = {}
    for cell in cells:
        rows.setdefault(cell.configuration, []).append(cell)
    for topic in dict.fromkeys(cell.topic for cell in cells):
        table.add_column(topic, no_wrap=True)
    for name, row in rows.items():
        table.add_row(name, *(Text(cell.state, STYLES[cell.state]) for cell in row))
    return table
