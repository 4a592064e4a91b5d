# SPDX-License-Identifier: GPL-2.0
"""The console for results: stdout, with colour only on a terminal."""

from __future__ import annotations

import sys

from rich.console import Console

# Wide enough for every column when stdout is not a terminal.
PLAIN_WIDTH = 136
# A narrower table would truncate figures.
LEAST_WIDTH = 120


def console() -> Console:
    """The console that results are printed on: colour only on a terminal, and only from a Text.

    Markup is off, because the text comes from kernels and files.
    """
    out = Console(highlight=False, markup=False)
    if not sys.stdout.isatty():
        out.width = PLAIN_WIDTH
    elif out.width < LEAST_WIDTH:
        # A line wrapped by the terminal is still readable; a truncated figure is wrong.
        out.width = LEAST_WIDTH
    return out
