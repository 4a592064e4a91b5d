# SPDX-License-Identifier: GPL-2.0
"""Read the series of one line: patches in quilt order, one variant per range of versions.

`patches/linux-6.12.y/series` lists all patches. Where the context differs between versions of
6.12.y, another file `series.<anything>` lists the patches for other versions. A comment in each
file gives its versions, so quilt can read all of them:

    # versions: 6.12.86-

A topic or a single patch that depends on others declares it, and is then never applied without
them. A patch is named like its file without the number: topic and subject. The reason is `text` if
the dependent patch does not apply or build without it; otherwise, it says what goes wrong:

    # needs: clean aging lazyfree
    # needs: swapout fixes/mm-rmap-stop-at-the-end-of-the-table: text
    # needs: lazyfree fixes/mm-gup-mark-pinned-pages-dirty: data read into pinned pages is lost

A needed topic brings what it needs itself, a needed patch only what that patch needs.

A topic that fixes bugs of the base is also declared, so that side A can include it when behaviour
is compared:

    # fixes: fixes

A series file for vendors' trees names a source file that only they have. It takes precedence for
these trees, and is never chosen for others:

    # trees: include/trace/hooks/mm.h
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from quire.host.cache import digest
from quire.host.errors import UserError
from quire.source.patch import Patch
from quire.source.version import Version, VersionRange, parse_range

_VERSIONS = re.compile(r"^#\s*versions:\s*(\S.*)$", re.M)
_NEEDS = re.compile(r"^#\s*needs:\s*(?:(\S+)\s+([^:]*[^:\s])\s*(?::\s*(\S.*))?$)?")
# The reason if another patch does not apply or build without this one.
TEXT = "text"
_FIXES = re.compile(r"^#\s*fixes:\s*(\S.*)$", re.M)
_TREES = re.compile(r"^#\s*trees:\s*(\S+)\s*$", re.M)


@dataclass(frozen=True)
class Need:
    """`who` needs `what`: each a topic, or a single patch by its name without the number."""

    who: str
    what: str
    reason: str = ""

    @property
    def why(self) -> str:
        """The reason in plain words."""
        return "to apply or build" if self.reason in ("", TEXT) else self.reason


@dataclass(frozen=True)
class Series:
    """The ordered patches for the versions in `versions`."""

    file: Path
    versions: VersionRange
    patches: tuple[Patch, ...]
    needs: tuple[Need, ...] = ()
    # topics that fix bugs of the base, and thus change what user space sees
    fixes: tuple[str, ...] = ()
    # topics chosen by only(); `patches` includes other topics' patches only if these need them
    chosen: tuple[str, ...] = ()
    # a file that only this series' trees have; empty: for any tree
    trees: str = ""

    def key(self) -> str:
        """Return a hash of all diffs in order, without messages, which do not affect a build."""
        return digest(*(patch.diff() for patch in self.patches))

    def changes(self) -> str:
        """Return a hash of all changed lines; patches before a topic may move its context."""
        return digest(*(patch.changes() for patch in self.patches))

    @property
    def topics(self) -> list[str]:
        """Topics in order of first appearance: folder names without a variant's suffix."""
        return list(dict.fromkeys(patch.topic for patch in self.patches))

    def only(self, names: Collection[str]) -> "Series":
        """Select these topics and everything that they need. UserError for an unknown topic."""
        unknown = [name for name in names if name not in self.topics]
        if unknown:
            what = f"the series has no topic {', '.join(unknown)}"
            remedy = f"it has: {', '.join(self.topics) or 'none yet'}"
            raise UserError(what, str(self.file), remedy)
        return replace(self, patches=tuple(self.reasons(names)), chosen=tuple(names))

    def alone(self) -> dict[str, "Series"]:
        """Return each topic by itself, with what it needs."""
        return {name: self.only([name]) for name in self.chosen or self.topics}

    def without(self) -> dict[str, "Series"]:
        """Return, for each topic, all others with what they need, which may include its patches."""
        rest = {name: [other for other in self.topics if other != name] for name in self.topics}
        return {name: self.only(others) for name, others in rest.items()}

    def parts(self, names: Collection[str]) -> "Series":
        """Select these patches, by their names without numbers, and all that they need."""
        return replace(self, patches=tuple(self.reasons(names)), chosen=tuple(names))

    def reasons(self, names: Collection[str]) -> dict[Patch, tuple[Need, ...]]:
        """Return the named topics and patches, and those that they need, in order, each with the
        needs that bring it in; none for a named patch."""
        active: list[Need] = []
        waiting = [*names]
        while waiting:
            name = waiting.pop()
            parts = {name, *(p.unnumbered for p in self.patches if p.topic == name)}
            new = [need for need in self.needs if need.who in parts and need not in active]
            active += new
            waiting += [need.what for need in new]
        brought = {
            patch: tuple(n for n in active if n.what in (patch.topic, patch.unnumbered))
            for patch in self.patches
        }
        named = {patch: patch.topic in names or patch.unnumbered in names for patch in self.patches}
        return {
            patch: () if named[patch] else needs
            for patch, needs in brought.items()
            if needs or named[patch]
        }

    def fixing(self) -> "Series":
        """Select the topics in `fixes`; empty if the series has none of them."""
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
    needs = read_needs(text, file, patches)
    declared = _VERSIONS.search(text)
    versions = parse_range(declared[1]) if declared else VersionRange()
    fixes = tuple(name for names in _FIXES.findall(text) for name in names.split())
    trees = _TREES.search(text)
    return Series(file, versions, tuple(patches), needs, fixes, trees=trees[1] if trees else "")


def read_needs(text: str, file: Path, patches: Sequence[Patch]) -> tuple[Need, ...]:
    """Parse the needs in a series file that lists these patches. UserError for a malformed line, or
    one that names something unknown, later, or a part of itself."""
    needs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (told := _NEEDS.match(line)):
            continue
        who, others, reason = told.groups()
        if not others:
            remedy = "write `# needs: TOPIC OTHER`, or `# needs: TOPIC TOPIC/PATCH: REASON`"
            raise UserError(f"{file.name} has a need without a name", f"{file}:{number}", remedy)
        for name in others.split():
            needs.append(Need(who, name, reason or ""))
            if trouble := _trouble(needs[-1], patches):
                what, remedy = trouble
                raise UserError(f"{file.name}: {what}", f"{file}:{number}: {line}", remedy)
    return tuple(needs)


def _trouble(need: Need, patches: Sequence[Patch]) -> tuple[str, str] | None:
    """The problem with a need, and the remedy."""
    places: dict[str, list[int]] = {}
    for at, patch in enumerate(patches):
        for name in (patch.topic, patch.unnumbered):
            places.setdefault(name, []).append(at)
    for name in (need.who, need.what):
        if name not in places:
            near = get_close_matches(name, places, 1)
            remedy = (
                f"did you mean {near[0]}?" if near else "remove it, or name a patch by its file"
            )
            return f"a need names {name}, but there is no such patch or topic", remedy
    if {*places[need.who]} & {*places[need.what]}:
        return f"{need.who} needs a part of itself, {need.what}", "remove it"
    if max(places[need.what]) > min(places[need.who]):
        remedy = f"list {need.what} before {need.who}"
        return f"{need.who} needs {need.what}, which comes after it", remedy
    if "/" in need.what and not need.reason:
        remedy = "add `: text`, or `: ` and the problem without it"
        return f"{need.who} needs {need.what} without a reason", remedy
    return None


def variants(folder: Path) -> list[Series]:
    """Read all series files in a folder. UserError if there are none."""
    files = sorted(folder.glob("series")) + sorted(folder.glob("series.*"))
    if not files:
        raise UserError("there is no series", str(folder), "add a file `series` in quilt's format")
    return [read(file) for file in files]


def select(folder: Path, version: Version) -> Series:
    """Return the series in `folder` for any tree of `version`. UserError if there is none, or more
    than one."""
    candidates = [series for series in variants(folder) if not series.trees]
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
    """Return an empty series, for a line without one."""
    return Series(folder / "series", VersionRange(), ())
