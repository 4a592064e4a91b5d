# SPDX-License-Identifier: GPL-2.0
"""Upstream commits that changed context lines of our patches: lines/LINE/moved.toml.

Each entry names a line that exists since that commit. If a hunk expects the line and the tree lacks
it, the hunk is for newer trees; in the opposite case, for older ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import data


@dataclass(frozen=True)
class Moved:
    """An entry: `since` is the first version with the commit, `line` a part of a line in `file`."""

    file: str
    line: str
    since: str
    title: str

    def tells(self, expected: Sequence[str], found: Sequence[str], text: Sequence[str]) -> bool:
        """Tell whether the patch expects the line and the file lacks it, or the file has it there
        and the patch does not expect it."""
        wanted = any(self.line in one for one in expected)
        if wanted:
            return not any(self.line in one for one in text)
        return any(self.line in one for one in found)

    def __str__(self) -> str:
        return f"{self.title} ({self.since})"


_TABLE = data.Table("moved", Moved, "see the existing entries", optional=True)


def read(file: Path) -> list[Moved]:
    """Read the entries of a line; none without the file. UserError if it is malformed."""
    return _TABLE.read(file)
