# SPDX-License-Identifier: GPL-2.0
"""Print results on stdout, with colour only on a terminal; begin JSON documents."""

import sys
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

# Wide enough for every column when stdout is not a terminal.
PLAIN_WIDTH = 136
# A narrower table would truncate figures.
LEAST_WIDTH = 120
# The version of each docs/schema/NAME.json. It changes when a key is removed or changes its
# meaning, not when one is added.
VERSIONS = {"test": 1, "bench": 1, "time": 1, "compare": 2, "fit": 1}


def console() -> Console:
    """Return the console for results: colour only on a terminal, and only from a Text.

    Markup is off, because the text comes from kernels and files.
    """
    out = Console(highlight=False, markup=False)
    if not sys.stdout.isatty():
        out.width = PLAIN_WIDTH
    elif out.width < LEAST_WIDTH:
        # A line wrapped by the terminal is still readable; a truncated figure is wrong.
        out.width = LEAST_WIDTH
    return out


def grid(title: str = "", caption: str = "", *, pad_edge: bool = False) -> Table:
    """Return an empty table in the style of all tables."""
    return Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        caption=caption,
        caption_justify="left",
        pad_edge=pad_edge,
    )


def columns(table: Table, *names: str, right: bool = False, **style: Any) -> None:
    """Add columns of one style."""
    for name in names:
        table.add_column(name, justify="right" if right else "left", **style)


def show(word: str, style: str, text: str) -> None:
    """Print a line of results that begins with a coloured word."""
    console().print(Text.assemble((word, style), f" {text}"))


def head(name: str) -> dict[str, Any]:
    """Return the first keys of a document of this name."""
    return {"schema": f"quire-{name}", "schema_version": VERSIONS[name]}
