# SPDX-License-Identifier: GPL-2.0
"""Which rows and cases a change concerns, by the files that it touches."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.host import data

FILE = "concerns.toml"


@dataclass(frozen=True)
class Concern:
    """Patterns of paths; rows as for `quire bench` and cases as for `quire test`.

    `programs`: the fuzzer's programs use these files, too.
    """

    files: tuple[str, ...]
    rows: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    programs: bool = True

    def matches(self, file: str) -> bool:
        """Whether one of the patterns does."""
        return any(fnmatchcase(file, pattern) for pattern in self.files)


@dataclass(frozen=True)
class Nearest:
    """Rows for files that no entry measures: the nearest to them."""

    files: tuple[str, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class ConcernTable:
    """The whole file. `ignored`: patterns of paths that are in no kernel."""

    concern: tuple[Concern, ...]
    nearest: tuple[Nearest, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Concerned:
    """What files concern: rows and cases in the order of the table, and whether programs do.

    `unmeasured`: the files that no entry names. `nearest`: rows for these.
    """

    rows: tuple[str, ...]
    cases: tuple[str, ...]
    programs: bool
    unmeasured: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to run."""
        return not (self.rows or self.cases or self.programs)


def read(folder: Path) -> ConcernTable:
    """The table in the folder of the workloads. UserError says what is wrong with it."""
    return data.read(folder / FILE, ConcernTable, "give each [[concern]] files, rows and cases")


def by_files(folder: Path, files: Collection[str]) -> Concerned:
    """What these files concern."""
    table = read(folder)
    files = [f for f in files if not any(fnmatchcase(f, pattern) for pattern in table.ignored)]
    hit = [concern for concern in table.concern if any(map(concern.matches, files))]
    missed = [file for file in files if not any(c.matches(file) for c in table.concern)]
    # What a header has is measured with the code that has an entry.
    missed = [file for file in missed if not (hit and file.endswith(".h"))]
    near = [
        row
        for nearest in table.nearest
        if any(fnmatchcase(file, pattern) for file in missed for pattern in nearest.files)
        for row in nearest.rows
    ]
    return Concerned(
        _unique(row for concern in hit for row in concern.rows),
        _unique(case for concern in hit for case in concern.cases),
        any(concern.programs for concern in hit),
        tuple(missed),
        _unique(near),
    )


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
