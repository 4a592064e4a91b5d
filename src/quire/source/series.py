# SPDX-License-Identifier: GPL-2.0
"""The series of one line: patches in quilt order, one variant per range of versions.

`patches/linux-6.12.y/series` lists all patches. Where the context differs between versions of
6.12.y, another file `series.<anything>` lists the patches for other versions. A comment in each
file gives its versions, so quilt can read all of them:

    # versions: 6.12.86-

A topic that depends on another declares it, and is then never applied without it:

    # needs: swapout lazyfree

A topic that corrects what the base does wrong is declared too, so that side A of a comparison of
behaviour can have it as well:

    # fixes: fixes
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.host.cache import digest
from quire.host.errors import UserError
from quire.source.patch import Patch
from quire.source.version import Version, VersionRange, parse_range

_VERSIONS = re.compile(r"^#\s*versions:\s*(\S.*)$", re.M)
_NEEDS = re.compile(r"^#\s*needs:\s*(\S+)\s+(\S.*)$", re.M)
_FIXES = re.compile(r"^#\s*fixes:\s*(\S.*)$", re.M)


@dataclass(frozen=True)
class Series:
    """The ordered patches for the versions in `versions`."""

    file: Path
    versions: VersionRange
    patches: tuple[Patch, ...]
    # topic -> the topics that it depends on
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # the topics that change what user space sees, because the base is wrong
    fixes: tuple[str, ...] = ()

    def key(self) -> str:
        """A hash of all diffs in order; messages do not affect a build and are left out."""
        return digest(*(patch.diff() for patch in self.patches))

    @property
    def topics(self) -> list[str]:
        """In order of first appearance: the folders' names without the suffix of a variant."""
        return list(dict.fromkeys(patch.topic for patch in self.patches))

    def only(self, names: Collection[str]) -> Series:
        """The patches of these topics and their dependencies. UserError for an unknown topic."""
        unknown = [name for name in names if name not in self.topics]
        if unknown:
            what = f"the series has no topic {', '.join(unknown)}"
            remedy = f"it has: {', '.join(self.topics) or 'none yet'}"
            raise UserError(what, str(self.file), remedy)
        wanted = set(names).union(*(self.needs.get(name, ()) for name in names))
        return replace(self, patches=tuple(p for p in self.patches if p.topic in wanted))

    def fixing(self) -> Series:
        """The patches of the topics in `fixes`; none if the series has none of these topics."""
        wanted = [name for name in self.fixes if name in self.topics]
        return self.only(wanted) if wanted else replace(self, patches=())


def read(file: Path) -> Series:
    """Parse one series file. UserError when it names a patch that does not exist."""
    text = file.read_text()
    patches = []
    for line in text.splitlines():
        # quilt: a comment extends to the end of the line; options such as -p1 follow the name.
        words = re.sub(r"(^|\s)#.*", "", line).split()
        if not words:
            continue
        patch = Patch(words[0], file.parent / words[0])
        if not patch.path.is_file():
            what = f"{file.name} names a patch that does not exist"
            remedy = f"add the file, or remove its line from {file}"
            raise UserError(what, str(patch.path), remedy)
        patches.append(patch)
    needs = {name: tuple(others.split()) for name, others in _NEEDS.findall(text)}
    declared = _VERSIONS.search(text)
    versions = parse_range(declared[1]) if declared else VersionRange()
    fixes = tuple(name for names in _FIXES.findall(text) for name in names.split())
    return Series(file, versions, tuple(patches), needs, fixes)


def variants(folder: Path) -> list[Series]:
    """All series files in a folder. UserError if there are none."""
    files = sorted(folder.glob("series")) + sorted(folder.glob("series.*"))
    if not files:
        raise UserError("there is no series", str(folder), "add a file `series` in quilt's format")
    return [read(file) for file in files]


def select(folder: Path, version: Version) -> Series:
    """The series in `folder` for `version`. UserError if there is none, or more than one."""
    candidates = variants(folder)
    fitting = [series for series in candidates if version in series.versions]
    listing = "\n".join(f"{series.file.name}: {series.versions}" for series in candidates)
    if not fitting:
        remedy = "use a base in one of these ranges"
        raise UserError(f"no series is for Linux {version}", listing, remedy)
    if len(fitting) > 1:
        remedy = "make the `# versions:` ranges disjoint"
        raise UserError(f"more than one series is for Linux {version}", listing, remedy)
    return fitting[0]


def none(folder: Path) -> Series:
    """An empty series, for a line without one."""
    return Series(folder / "series", VersionRange(), ())
