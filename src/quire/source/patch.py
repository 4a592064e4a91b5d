# SPDX-License-Identifier: GPL-2.0
"""One patch file: its name in the series, its files and hunks."""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import dataclass
from pathlib import Path

# The end of the message and the diffstat.
_DIFF = re.compile(r"^(?:diff --git |--- \S)", re.M)
# git's header for a file that keeps its name.
_WHOLE = re.compile(r"^diff --git a/(.*) b/\1$")
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@(.*)$")


@dataclass(frozen=True)
class Hunk:
    """One hunk: the file, its number in that file from 1, old start line, git's text after @@."""

    file: str
    number: int
    line: int
    context: str

    def __str__(self) -> str:
        text = f"{self.file}, hunk {self.number} (line {self.line})"
        return f"{text}: {self.context}" if self.context else text


@dataclass(frozen=True)
class Patch:
    """`name` is the name in the series file, for example mremap/0001-mm-move-runs.patch."""

    name: str
    path: Path

    @property
    def folder(self) -> str:
        """The patch's folder; empty for a patch outside any folder."""
        return self.name.rpartition("/")[0]

    @property
    def topic(self) -> str:
        """The topic of the folder; `lazyfree@6.12.94` contains a variant of `lazyfree`."""
        return self.folder.partition("@")[0]

    def subject(self) -> str:
        """The commit's subject without [PATCH ...]; the name if the file has no mail header."""
        message = email.message_from_bytes(self.path.read_bytes(), policy=email.policy.default)
        subject = str(message.get("Subject", self.name))
        return re.sub(r"^\[PATCH[^]]*\]\s*", "", " ".join(subject.split()))

    def diff(self) -> str:
        """The diff, without the message."""
        text = self._text()
        found = _DIFF.search(text)
        return text[found.start() :] if found else ""

    def files(self) -> list[str]:
        """Every path the patch reads or writes, below the tree."""
        return sorted({name for pair in self._names() for name in pair if name != "/dev/null"})

    def hunks(self) -> list[Hunk]:
        """All hunks in order."""
        hunks: list[Hunk] = []
        file, number = "", 0
        for line in self._text().splitlines():
            if line.startswith("--- a/"):
                file, number = line[6:].split("\t")[0], 0
            elif line.startswith("+++ b/") and not number:
                file = line[6:].split("\t")[0]
            elif found := _HUNK.match(line):
                number += 1
                hunks.append(Hunk(file, number, int(found[1]), found[2].strip()))
        return hunks

    def hunk_at(self, file: str, line: int) -> Hunk | None:
        """The hunk of `file` with old start `line`, as git names a rejected hunk."""
        for hunk in self.hunks():
            if hunk.file == file and hunk.line == line:
                return hunk
        return None

    def _text(self) -> str:
        return self.path.read_text(errors="replace")

    def _names(self) -> list[tuple[str, ...]]:
        """Paths in file headers and renames; only lines that directly follow a diff header."""
        names: list[tuple[str, ...]] = []
        lines = self._text().splitlines()
        for this, following in zip(lines, [*lines[1:], ""], strict=True):
            if this.startswith("--- ") and following.startswith("+++ "):
                names.append((_strip(this[4:]), _strip(following[4:])))
            elif this.startswith(("rename from ", "rename to ")):
                names.append((this.split(" ", 2)[2],))
            elif whole := _WHOLE.match(this):
                # A binary file, an empty file or a mode change: no file headers follow.
                names.append((whole[1],))
        return names


def _strip(name: str) -> str:
    name = name.partition("\t")[0].strip()
    return name if name == "/dev/null" else name.partition("/")[2]
