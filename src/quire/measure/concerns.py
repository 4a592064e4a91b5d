# SPDX-License-Identifier: GPL-2.0
"""Which rows and cases a change concerns, by the files that it touches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.host import data

FILE = "concerns.toml"


@dataclass(frozen=True)
class Concern:
    """Patterns of paths; rows as for `quire bench` and cases as for `quire test`."""

    files: tuple[str, ...]
    rows: tuple[str, ...]
    cases: tuple[str, ...]


@dataclass(frozen=True)
class _File:
    concern: tuple[Concern, ...]


def read(folder: Path) -> tuple[Concern, ...]:
    """The table in the folder of the workloads. UserError says what is wrong with it."""
    return data.read(folder / FILE, _File, "give each [[concern]] files, rows and cases").concern


def by_files(folder: Path, files: Collection[str]) -> tuple[list[str], list[str]]:
    """The rows and the cases that these files concern, in the order of the table."""
    rows, cases = dict[str, None](), dict[str, None]()
    for concern in read(folder):
        if any(fnmatchcase(file, pattern) for file in files for pattern in concern.files):
            rows |= dict.fromkeys(concern.rows)
            cases |= dict.fromkeys(concern.cases)
    return list(rows), list(cases)
