# SPDX-License-Identifier: GPL-2.0
"""Read one patch file: its name in the series, its files and hunks."""

import email
import email.policy
import re
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from quire.host.errors import UserError

# The end of the message and the diffstat.
_DIFF = re.compile(r"^(?:diff --git |--- \S)", re.M)


def subject_of(message: Message) -> str:
    """Return a mail's subject as one line; empty without one."""
    return " ".join(str(message.get("Subject", "")).split())


@dataclass(frozen=True)
class Patch:
    """A patch; `name` is that in the series file, for example mremap/0001-mm-move-runs.patch."""

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

    @property
    def unnumbered(self) -> str:
        """The name that stays when patches are reordered: mremap/mm-move-runs."""
        stem = re.sub(r"^\d+-|\.patch$", "", self.name.rpartition("/")[2])
        return f"{self.topic}/{stem}"

    def subject(self) -> str:
        """Return the commit's subject without [PATCH ...], or the name without a mail header."""
        return re.sub(r"^\[PATCH[^]]*\]\s*", "", self.full_subject() or self.name)

    def full_subject(self) -> str:
        """Return the mail's subject with [PATCH ...]; empty without a mail header."""
        data = self.path.read_bytes()
        return subject_of(email.message_from_bytes(data, policy=email.policy.default))

    def diff(self) -> str:
        """Return the diff, without the message."""
        text = self.path.read_text(errors="replace")
        start = _DIFF.search(text)
        return text[start.start() :] if start else ""

    def changes(self) -> str:
        """Return the diff's file names and its added and removed lines, without context."""
        return "".join(line for line in self.diff().splitlines(True) if line[0] in "+-")

    def files(self) -> list[str]:
        """List all paths that the patch reads or writes, below the tree. UserError if malformed."""
        names = {name for file in self.parsed() for name in (file.source_file, file.target_file)}
        return sorted({name.partition("/")[2] for name in names if name != "/dev/null"})

    def hunk_at(self, file: str, line: int) -> str:
        """Describe the hunk of `file` with old start `line`, as git names rejected hunks."""
        for changed in self.parsed():
            for number, hunk in enumerate(changed, 1):
                if (changed.path, hunk.source_start) == (file, line):
                    text = f"{file}, hunk {number} (line {line})"
                    return f"{text}: {hunk.section_header}" if hunk.section_header else text
        return f"{file}, line {line}"

    def parsed(self) -> PatchSet:
        """Parse the changes, file by file. UserError if the patch is malformed."""
        try:
            return PatchSet(self.diff())
        except UnidiffParseError as error:
            what, remedy = f"patch {self.name} is malformed", "write it with git format-patch"
            raise UserError(what, f"{self.path}: {error}", remedy) from error
