# SPDX-License-Identifier: GPL-2.0
"""The table of trees on which the series was tried: docs/results/trees.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from quire.report.table import UNKNOWN
from quire.source.version import parse

FILE = Path("docs/results/trees.json")
# What else was done with a tree; empty: it was not done.
DONE = ("compiled", "mail", "built", "booted", "tests", "KMI", "note")


def rows(root: Path) -> Iterator[list[str]]:
    """The rows, with the columns that tables.toml names."""
    for entry in json.loads((root / FILE).read_text()):
        cells = [f"{entry['tree']} ({entry['origin']})", _versions(list(entry["versions"]))]
        cells += [_commits(list(entry["versions"].values())), _named(entry["fits"])]
        cells.append(_named(entry["left"]))
        yield [*cells, *(entry.get(word) or UNKNOWN for word in DONE)]


def _versions(versions: Sequence[str]) -> str:
    """ "6.12.19 to 6.12.94, without 6.12.57"."""
    if len(versions) == 1:
        return versions[0]
    numbers = [parse(version) for version in versions]
    between = range(numbers[0].patch, numbers[-1].patch)
    have = {number.patch for number in numbers}
    missing = [f"{numbers[0].line}.{patch}" for patch in between if patch not in have]
    text = f"{versions[0]} to {versions[-1]}"
    return f"{text}, without {', '.join(missing)}" if missing else text


def _commits(commits: Sequence[str]) -> str:
    known = [commit[:12] for commit in commits if commit]
    return " … ".join(dict.fromkeys([known[0], known[-1]])) if known else UNKNOWN


def _named(names: Sequence[Any]) -> str:
    """The topics, and how many single corrections."""
    topics = [name for name in names if "/" not in name]
    corrections = len(names) - len(topics)
    words = [f"`{name}`" for name in topics]
    if corrections:
        words.append(f"{corrections} of `fixes`")
    return ", ".join(words) or UNKNOWN
