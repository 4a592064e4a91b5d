# SPDX-License-Identifier: GPL-2.0
"""Kernel versions and ranges of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from quire.host.errors import UserError


@dataclass(frozen=True, order=True)
class Version:
    """6.12.117 as numbers."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def line(self) -> str:
        """The stable line, as in patches/linux-<line>.y."""
        return f"{self.major}.{self.minor}"


def parse(text: str) -> Version:
    """The version in "6.12.117" or "6.12" (patch 0). UserError for any other text."""
    found = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?", text.strip())
    if not found:
        raise UserError(f"{text!r} is not a kernel version", remedy="write it like 6.12.117")
    major, minor, patch = found.groups(default="0")
    return Version(int(major), int(minor), int(patch))


@dataclass(frozen=True)
class VersionRange:
    """From `first` to `last`, both included; None means no limit."""

    first: Version | None = None
    last: Version | None = None

    def __contains__(self, version: Version) -> bool:
        return (self.first is None or self.first <= version) and (
            self.last is None or version <= self.last
        )

    def __str__(self) -> str:
        return f"{self.first or ''}-{self.last or ''}"


def parse_range(text: str) -> VersionRange:
    """ "6.12.43-6.12.85", "6.12.86-" or "-6.12.42"."""
    first, dash, last = (part.strip() for part in text.partition("-"))
    if not dash:
        raise UserError(
            f"{text!r} is not a range of versions", remedy="write FIRST-LAST; either may be empty"
        )
    return VersionRange(parse(first) if first else None, parse(last) if last else None)


def of_tree(tree: Path) -> Version:
    """The version in a kernel tree's Makefile. UserError if it is not a kernel tree."""
    makefile = tree / "Makefile"
    missing = [name for name in ("Makefile", "Kbuild", "mm", "arch") if not (tree / name).exists()]
    if missing:
        raise UserError(
            f"{tree} is not a kernel source tree",
            f"it has no {', '.join(missing)}",
            "name the top directory of an unpacked Linux source",
        )
    numbers: dict[str, int] = {}
    for name, value in re.findall(
        r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)$", makefile.read_text(errors="replace"), re.M
    ):
        numbers.setdefault(name, int(value))
    try:
        return Version(numbers["VERSION"], numbers["PATCHLEVEL"], numbers["SUBLEVEL"])
    except KeyError as error:
        raise UserError(
            f"{tree} is not a kernel source tree",
            f"{makefile} sets no {error.args[0]}",
            "name the top directory of an unpacked Linux source",
        ) from None
