# SPDX-License-Identifier: GPL-2.0
"""Records: what was run and found, as data. docs/records/KIND.toml has those of a kind, with the
commit, the date and the command of each; `scripts/figures --write` renders KIND.md from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from documents import bars
from quire.host import data
from quire.report.table import UNKNOWN

RECORDS, RELATED = Path("docs/records"), Path("docs/related.toml")
REMEDY = "docs/records/README.md explains the keys"


@dataclass(frozen=True)
class Record:
    """One run, finding, timing or experiment."""

    title: str
    # A day, or two with a slash between them; empty if it was not noted.
    date: str
    # What the text says happened.
    result: str
    # The commit of Quire that ran it; empty if it was not noted.
    commit: str = ""
    commands: tuple[str, ...] = ()
    # Hashes of the series and of the guest that ran, and how long it took, if they were recorded.
    series: str = ""
    guest: str = ""
    seconds: int = 0
    # A table: its heads, and its rows.
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    # The name of a plot of the table, as stacked bars; empty for none.
    plot: str = ""

    def text(self) -> str:
        """The record in Markdown."""
        when = [self.date or "date not recorded"]
        named = (("commit", self.commit), ("series", self.series), ("guest", self.guest))
        when += [f"{what} {value}" for what, value in named if value]
        when += [f"{self.seconds:,} s"] if self.seconds else []
        parts = [f"## {self.title}", f"*{', '.join(when)}*"]
        parts += ["\n".join(f"    {command}" for command in self.commands)]
        parts += [self.result.strip()]
        parts += [f"![{self.title}]({self.plot})"] if self.plot else []
        if self.columns:
            lines = [self.columns, ("---",) * len(self.columns), *self.rows]
            parts += ["\n".join(f"| {' | '.join(line)} |" for line in lines)]
        return "\n\n".join(filter(None, parts))


@dataclass(frozen=True)
class Kind:
    """A file's description and its records, newest first."""

    title: str
    about: str
    record: tuple[Record, ...] = ()

    def text(self, name: str) -> str:
        """The page of the file with that name."""
        source = f"Rendered from {name} by `scripts/figures --write`."
        head = f"<!-- SPDX-License-Identifier: GPL-2.0 -->\n# {self.title}\n\n{self.about.strip()}"
        parts = [head, source, *(record.text() for record in self.record)]
        return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class Thread:
    """A public thread whose idea some topics use."""

    topics: tuple[str, ...]
    title: str
    author: str
    # Which version, and its month.
    version: str
    address: str
    # Whether a kernel has it.
    state: str
    # What is different here.
    differs: str
    # Its figures, in wall time; empty if it has none that are comparable.
    posted: str = ""
    # Whether the front page has it.
    front: bool = False


@dataclass(frozen=True)
class Related:
    """All threads."""

    thread: tuple[Thread, ...] = ()


def threads(root: Path) -> tuple[Thread, ...]:
    """Read the threads of RELATED. UserError for an invalid file."""
    return data.read(root / RELATED, Related, "see the comment at its top").thread


def related(root: Path, *, only_front: bool) -> Iterator[list[str]]:
    """The rows of the table of threads, with the columns that tables.toml names."""
    for one in threads(root):
        if one.front or not only_front:
            topics = ", ".join(f"`{topic}`" for topic in one.topics)
            link = f"[{one.title}]({one.address}), {one.version}"
            yield [topics, link, one.author, one.posted or UNKNOWN, one.state, one.differs]


def pages(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield each page and plot of records, and its expected text. UserError for an invalid file."""
    for file in sorted((root / RECORDS).glob("*.toml")):
        kind = data.read(file, Kind, REMEDY)
        yield file.with_suffix(".md"), kind.text(f"[{file.name}]({file.name})")
        for record in kind.record:
            if record.plot:
                yield file.with_name(record.plot), bars.svg(record.columns[1:], record.rows)
