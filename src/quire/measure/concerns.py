# SPDX-License-Identifier: GPL-2.0
"""Find the benchmarks and cases for a change, by the files that it touches."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.host import data

FILE = "concerns.toml"


@dataclass(frozen=True)
class Concern:
    """Patterns of paths; benchmarks as for `quire bench` and cases as for `quire test`.

    `programs`: the fuzzer's programs also use these files.
    """

    files: tuple[str, ...]
    rows: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    programs: bool = True

    def matches(self, file: str) -> bool:
        """Tell whether one of the patterns matches."""
        return any(fnmatchcase(file, pattern) for pattern in self.files)


@dataclass(frozen=True)
class Nearest:
    """The nearest benchmarks for files that no entry measures."""

    files: tuple[str, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class ConcernTable:
    """The whole file. `ignored`: patterns of paths that do not affect a kernel."""

    concern: tuple[Concern, ...]
    nearest: tuple[Nearest, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Concerned:
    """Benchmarks and cases for some files, in table order, and whether to run programs.

    `unmeasured`: files without an entry. `nearest`: benchmarks for these.
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
    """Read the table in the folder of workloads. UserError says what is wrong with it."""
    return data.read(folder / FILE, ConcernTable, "give each [[concern]] files, rows and cases")


def by_files(folder: Path, files: Collection[str]) -> Concerned:
    """Return the benchmarks and cases for these files."""
    table = read(folder)
    files = [f for f in files if not any(fnmatchcase(f, pattern) for pattern in table.ignored)]
    hit = [concern for concern in table.concern if any(map(concern.matches, files))]
    missed = [file for file in files if not any(c.matches(file) for c in table.concern)]
    # Code in headers is measured together with code that has an entry.
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
