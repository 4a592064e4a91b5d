# SPDX-License-Identifier: GPL-2.0
"""What a series says it applies to: `base-commit:`, or a sentence of its cover letter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from quire.host.cache import Cache
from quire.source import mail, version
from quire.source.series import Series
from quire.source.version import Version

_COMMIT = re.compile(r"^base-commit:\s*([0-9a-f]{12,40})\b", re.M)
# "applies on v7.3-rc4", "based on top of Linux 7.3", "rebased to mm-unstable".
_NAMED = re.compile(
    r"\b(?:appl(?:y|ies|ied)(?:\s+cleanly)?|(?:re)?based|on\s+top|against)"
    r"(?:\s+(?:on|onto|to|of|off|top|against|the|latest|current|today's|Linux|linus's|tree))*"
    r"\s+(v?\d+\.\d+(?:\.\d+)?(?:-rc\d+)?|mm-(?:unstable|stable|new|everything)"
    r"|linux-next|next-\d{8})\b",
    re.I,
)
_VERSION = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Stated:
    """A commit, and the name of a version or a branch; empty: the series does not say."""

    commit: str = ""
    name: str = ""

    @property
    def version(self) -> Version | None:
        """The version that the name has, without -rc."""
        found = _VERSION.match(self.name)
        return version.parse(found[1]) if found else None

    @property
    def text(self) -> str:
        """Both in words."""
        return self.name or (f"commit {self.commit[:12]}" if self.commit else "")


def read(texts: Iterable[str]) -> Stated:
    """What the first text says that says something."""
    commit = name = ""
    for text in texts:
        found, named = _COMMIT.search(text), _NAMED.search(text)
        commit = commit or (found[1] if found else "")
        name = name or (named[1] if named else "")
    return Stated(commit, name)


def of(cache: Cache, path: Path, series: Series) -> Stated:
    """What the cover letter in `path` says, or a patch."""
    covers: list[str] = []
    if path.is_dir():
        files = sorted(path.glob("*cover-letter.patch"))
        covers = [file.read_text(errors="replace") for file in files]
    elif mail.is_mail(path):
        covers = mail.covers(cache, path)
    patches = (patch.path.read_text(errors="replace") for patch in series.patches)
    # The cover letters of older versions come last.
    return read([*covers[:1], *map(_message, patches), *covers[1:]])


def _message(text: str) -> str:
    """A patch without its diff, which may have any words; git puts the base at the end."""
    head, _, rest = text.partition("\ndiff --git ")
    found = _COMMIT.search(rest)
    return f"{head}\n{found[0]}" if found else head
