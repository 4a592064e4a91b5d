# SPDX-License-Identifier: GPL-2.0
"""Report which added lines ran, by patch, which did not, and which cannot."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from quire.coverage.added import Added
from quire.coverage.variants import Covered
from quire.host import data

# The fraction of runnable lines that must run.
LEAST = 0.98


@dataclass(frozen=True)
class Unreached:
    """An entry of lines/NAME/unreached.toml: a function's lines that cannot run, by their text."""

    file: str
    function: str
    lines: tuple[str, ...]
    architectures: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class PatchCoverage:
    """A patch: its executable lines, those that ran, and those that cannot."""

    patch: str
    lines: int
    ran: int
    cannot: int

    @property
    def left(self) -> int:
        """Return the lines that could run but did not."""
        return self.lines - self.ran - self.cannot


@dataclass(frozen=True)
class Coverage:
    """The result on one architecture. `stale`: texts of entries that no longer hold."""

    arch: str
    rows: tuple[PatchCoverage, ...]
    # Lines that did not run, with the reason, or an empty one.
    never: tuple[tuple[Added, str], ...]
    stale: tuple[str, ...]

    @property
    def total(self) -> PatchCoverage:
        """The sum."""
        sums = (sum(getattr(row, name) for row in self.rows) for name in ("lines", "ran", "cannot"))
        return PatchCoverage("all", *sums)

    @property
    def share(self) -> float:
        """The fraction of runnable lines that ran."""
        total = self.total
        return total.ran / max(total.lines - total.cannot, 1)

    def as_json(self) -> dict[str, Any]:
        """Return the result for --json."""
        never = [asdict(line) | {"why": why} for line, why in self.never]
        rows = [asdict(row) for row in self.rows]
        return {"architecture": self.arch, "patches": rows, "never": never, "stale": self.stale}


# Read a file's entries; none if it does not exist.
REMEDY = "give each [[unreached]] a file, function, lines, architectures and why"
read = data.Table("unreached", Unreached, REMEDY, optional=True).read


def judge(
    arch: str, added: Sequence[Added], covered: Covered, entries: Sequence[Unreached]
) -> Coverage:
    """Return the patches' rows, in the order of the lines."""
    reasons = {
        (entry.file, entry.function, text): entry.why
        for entry in entries
        if arch in entry.architectures
        for text in entry.lines
    }
    lines, ran, cannot = Counter[str](), Counter[str](), Counter[str]()
    never, used = [], set()
    for line in added:
        at = (line.file, line.number)
        if at not in covered.executable:
            continue
        lines[line.patch] += 1
        if at in covered.ran:
            ran[line.patch] += 1
            continue
        key = (line.file, line.function, line.text)
        never.append((line, reasons.get(key, "")))
        cannot[line.patch] += key in reasons
        used.add(key)
    rows = tuple(PatchCoverage(name, lines[name], ran[name], cannot[name]) for name in lines)
    stale = tuple(
        f"{file}: {function}(): {text}"
        for file, function, text in reasons
        if (file, function, text) not in used
    )
    return Coverage(arch, rows, tuple(never), stale)
