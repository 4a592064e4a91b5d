# SPDX-License-Identifier: GPL-2.0
"""Where results go: stdout, with colour only on a terminal."""

from __future__ import annotations

import sys

from rich.console import Console

# Wide enough for every column when stdout is no terminal.
PLAIN_WIDTH = 136
# Below this, figures would be cut.
LEAST_WIDTH = 120


def console() -> Console:
    """Results go here: colour only on a terminal, and only where a Text says so.

    What is printed comes from kernels and files, and is no markup.
    """
    out = Console(highlight=False, markup=False)
    if not sys.stdout.isatty():
        out.width = PLAIN_WIDTH
    elif out.width < LEAST_WIDTH:
        # A long line that the terminal breaks can be read; a figure cut short deceives.
        out.width = LEAST_WIDTH
    return out
