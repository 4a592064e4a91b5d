# SPDX-License-Identifier: GPL-2.0
"""Upstream commits that changed lines which our patches have as context: lines/LINE/moved.toml.

Each entry names a line that exists from that commit on. A hunk that expects the line is for newer
trees than one without it; a hunk that does not is for older trees than one that has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import data


@dataclass(frozen=True)
class Moved:
    """`since` is the first version that has the commit; `line` is a part of a line of `file`."""

    file: str
    line: str
    since: str
    title: str

    def tells(self, expected: Sequence[str], found: Sequence[str], text: Sequence[str]) -> bool:
        """Whether the patch expects the line and the file lacks it, or the file has it in the place
        and the patch does not expect it."""
        wanted = any(self.line in one for one in expected)
        if wanted:
            return not any(self.line in one for one in text)
        return any(self.line in one for one in found)

    def __str__(self) -> str:
        return f"{self.title} ({self.since})"


_TABLE = data.Table("moved", Moved, "see the entries that are there", optional=True)


def read(file: Path) -> list[Moved]:
    """The entries of a line; none without the file. UserError if it is malformed."""
    return _TABLE.read(file)
