# SPDX-License-Identifier: GPL-2.0
"""Kernel versions and ranges of them."""

import re
from dataclasses import dataclass
from pathlib import Path

from quire.host.errors import UserError

# In the Makefile of a kernel.
NUMBERS = ("VERSION", "PATCHLEVEL", "SUBLEVEL")


@dataclass(frozen=True, order=True)
class Version:
    """A version, such as 6.12.117, as numbers."""

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
    """Parse "6.12.117" or "6.12" (patch 0). UserError for any other text."""
    numbers = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?", text.strip())
    if not numbers:
        raise UserError(f"{text!r} is not a kernel version", remedy="write it like 6.12.117")
    return Version(*map(int, numbers.groups(default="0")))


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
    """Parse "6.12.43-6.12.85", "6.12.86-" or "-6.12.42"."""
    first, dash, last = (part.strip() for part in text.partition("-"))
    if not dash:
        remedy = "write FIRST-LAST; either may be empty"
        raise UserError(f"{text!r} is not a range of versions", remedy=remedy)
    return VersionRange(parse(first) if first else None, parse(last) if last else None)


def of_tree(tree: Path) -> Version:
    """Read the version in a kernel tree's Makefile. UserError if it is not a kernel tree."""
    makefile = tree / "Makefile"
    missing = [name for name in ("Makefile", "Kbuild", "mm", "arch") if not (tree / name).exists()]
    text = "" if missing else makefile.read_text(errors="replace")
    settings = [re.search(rf"^{name} *= *(\d+)$", text, re.M) for name in NUMBERS]
    numbers = [int(setting[1]) for setting in settings if setting]
    if len(numbers) == len(NUMBERS):
        return Version(*numbers)
    unset = f"{makefile} sets no {NUMBERS[settings.index(None)]}"
    trouble = f"it has no {', '.join(missing)}" if missing else unset
    remedy = "name the top directory of an unpacked Linux source"
    raise UserError(f"{tree} is not a kernel source tree", trouble, remedy)
