# SPDX-License-Identifier: GPL-2.0
"""Lines of a mail: plain text that fits."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

# Columns of a mail; lines of a list of names.
WIDTH, LINES = 72, 4
# What a mail program may not show.
PLAIN = str.maketrans({"→": "->", "–": "-", "…": "...", "×": "x", "\u202f": " ", "\xa0": " "})


def listed(head: str, names: Sequence[str]) -> list[str]:
    """Names in lines that fit, and how many are left out."""
    shown = list(names)
    while len(lines := wrap(_sentence(head, names, shown))) > LINES:
        shown.pop()
    return lines


def _sentence(head: str, names: Sequence[str], shown: Sequence[str]) -> str:
    more = len(names) - len(shown)
    return f"{head}{', '.join(shown)}{f' and {more} more' if more else ''}"


def plural(count: int, word: str) -> str:
    """A number of things."""
    many = f"{word}es" if word.endswith("ch") else f"{word}s"
    return f"{count} {word if count == 1 else many}"


def fit(line: str, end: str = "") -> str:
    """One line, cut off before its `end` if it is too long."""
    indent = line[: len(line) - len(line.lstrip())]
    line, width = line.translate(PLAIN), WIDTH - len(indent) - len(end)
    return indent + textwrap.shorten(line, width, placeholder=" ...") + end


def wrap(text: str) -> list[str]:
    """A sentence in lines that fit a mail."""
    text = text.translate(PLAIN)
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, WIDTH, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
