# SPDX-License-Identifier: GPL-2.0
"""Find which topics of a series fit a tree, and what prevents the others, without a build.

Each topic is tried with what it needs. Topics that fix the base are tried patch by patch, since the
patches are independent. The tree may already have some of the patches.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from quire.host import data
from quire.host.errors import UserError
from quire.source import apply
from quire.source import series as series_files
from quire.source.apply import Contents
from quire.source.line import Line
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.version import Version

# The main topics, which most users want.
MAIN = ("swapout", "lazyfree", "mremap", "ksm")
# The number of lines before and after a hunk's place to search for what it expects.
NEAR = 400
# Shorter lines, such as a brace, do not identify a place.
TELLING = 6
# The first line of a function or structure, but not a label.
_HEAD = re.compile(r"[A-Za-z_](?!\w*:\s*$).*[({]")


@dataclass(frozen=True)
class Moved:
    """An entry of lines/NAME/moved.toml: an upstream commit that changed context of our patches.

    `since` is the first version with the commit, `line` a part of a line in `file` from then on. If
    a hunk expects it and the tree lacks it, the hunk is for newer trees; else for older ones.
    """

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


@dataclass(frozen=True)
class Misfit:
    """The first hunk that a tree rejects: what it expects, what the tree has there, and the
    upstream commit that caused the difference, if known."""

    patch: str
    subject: str
    file: str
    hunk: str
    expected: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    line: int = 0
    upstream: Moved | None = None

    def differences(self) -> Iterator[str]:
        """Return differing lines: "-" if only the patch expects it, "+" if only the tree has it."""
        matcher = SequenceMatcher(a=self.expected, b=self.found, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                yield from (f"-{line}" for line in self.expected[a:b])
                yield from (f"+{line}" for line in self.found[c:d])


@dataclass(frozen=True)
class Part:
    """A topic, or a single patch of a topic of fixes, with what it needs."""

    name: str
    topic: str
    selection: Series
    misfit: Misfit | None = None
    # Whether the series file lacks the topic, which was tried from another file.
    foreign: bool = False

    @property
    def fits(self) -> bool:
        """Whether it applies and is listed for such trees."""
        return self.misfit is None and not self.foreign

    @property
    def variants(self) -> list[str]:
        """The names of its patches' variants, such as `6.12.94` in lazyfree@6.12.94."""
        names = (patch.folder.partition("@")[2] for patch in self.selection.patches)
        return list(dict.fromkeys(filter(None, names)))


@dataclass(frozen=True)
class Fit:
    """The parts of one series file that fit. `listed`: the file is for this tree's version."""

    series: Series
    linux: Version
    listed: bool
    parts: tuple[Part, ...]

    def union(self, topics: Collection[str] = ()) -> Series:
        """Return all parts that fit, of these topics or of all."""
        wanted = {
            patch
            for part in self.parts
            if part.fits and (not topics or part.topic in topics)
            for patch in part.selection.patches
        }
        patches = tuple(patch for patch in self.series.patches if patch in wanted)
        return replace(self.series, patches=patches)

    def left(self, topics: Collection[str] = ()) -> list[Part]:
        """Return the parts that do not fit, of these topics or of all."""
        return [p for p in self.parts if not p.fits and (not topics or p.topic in topics)]

    def whole(self, topic: str) -> bool:
        """Tell whether all parts of a topic fit."""
        parts = [part for part in self.parts if part.topic == topic]
        return bool(parts) and all(part.fits for part in parts)

    @property
    def topics(self) -> list[str]:
        """The topics of which all parts fit."""
        names = dict.fromkeys(part.topic for part in self.parts)
        return [name for name in names if self.whole(name)]

    @property
    def main(self) -> list[str]:
        """The topics in MAIN that exist for the line and do not fit."""
        known = {part.topic for part in self.parts}
        return [name for name in MAIN if name in known and not self.whole(name)]


def of_tree(tree: Path, linux: Version, line: Line) -> Fit:
    """Return what fits a tree, from the series file for its version, or else the best-fitting file.

    UserError if the line has no series.
    """
    if not line.series:
        raise UserError(f"there is no series for Linux {linux}", str(line.folder))
    known = read_moved(line.file("moved"))
    variants = series_files.variants(line.series)
    marked = [one for one in variants if one.trees and (tree / one.trees).is_file()]
    usable = marked or [one for one in variants if not one.trees]
    listed = [one for one in usable if linux in one.versions]
    tried = [_of_series(tree, linux, one, bool(listed), known) for one in listed or usable]
    best = max(tried, key=lambda fit: (-len(fit.main), len(fit.union().patches)))
    have = {part.topic for part in best.parts}
    others = [
        part
        for one in variants
        if not one.trees and one != best.series
        for part in _of_series(tree, linux, one, True, known, have).parts
    ]
    # Of several files with the topic, use the one in which it fits, else the first.
    by_topic: dict[str, Part] = {}
    for part in others:
        if part.name not in by_topic or not part.misfit:
            by_topic[part.name] = replace(part, foreign=True)
    return replace(best, parts=(*best.parts, *by_topic.values()))


def _of_series(
    tree: Path,
    linux: Version,
    series: Series,
    listed: bool,
    known: Sequence[Moved],
    but: Collection[str] = (),
) -> Fit:
    """The parts of the series that fit, except these topics."""
    parts = [part for part in _parts(series) if part.topic not in but]
    names = apply.touched(series)
    with apply.copies(tree, names) as scratch:
        apply.peel(scratch, series)
        before = {name: apply.read_file(scratch / name) for name in names}
        tried: list[Part] = []
        for part in parts:
            tried.append(_tried(scratch, part, before, known))
            if tried[-1].misfit and part.topic in series.fixes:
                tried[-1] = _after(scratch, tried, before, known)
        return _together(scratch, Fit(series, linux, listed, tuple(tried)), before, known)


def _tried(scratch: Path, part: Part, before: Contents, known: Sequence[Moved]) -> Part:
    patches = part.selection.patches
    misfit = _misfit(scratch, patches, known)
    _restore(scratch, before, patches)
    return replace(part, misfit=misfit)


def _after(scratch: Path, tried: Sequence[Part], before: Contents, known: Sequence[Moved]) -> Part:
    """The last of these parts, without its misfit if it fits on top of its topic's fitting
    parts."""
    *earlier, last = tried
    below = [p for part in earlier if part.fits for p in part.selection.patches]
    patches = tuple(dict.fromkeys([*below, *last.selection.patches]))
    on_top = replace(last, selection=replace(last.selection, patches=patches))
    found = _tried(scratch, on_top, before, known)
    return last if found.misfit else replace(last, misfit=None)


def _parts(series: Series) -> Iterator[Part]:
    for topic in series.topics:
        if topic in series.fixes:
            for patch in series.patches:
                if patch.topic == topic:
                    name = patch.unnumbered
                    yield Part(name, topic, series.parts([name]))
        else:
            yield Part(topic, topic, series.only([topic]))


def _together(scratch: Path, fit: Fit, before: Contents, known: Sequence[Moved]) -> Fit:
    """`fit` without parts that fit alone but not together with earlier ones."""
    kept: list[Part] = []
    union = fit.union().patches
    misfit = _misfit(scratch, union, known)
    _restore(scratch, before, union)
    if not misfit:
        return fit
    for part in fit.parts:
        misfit = part.misfit
        if part.fits:
            chosen = replace(fit, parts=(*kept, part)).union().patches
            misfit = _misfit(scratch, chosen, known)
            _restore(scratch, before, chosen)
        kept.append(replace(part, misfit=misfit))
    return replace(fit, parts=tuple(kept))


def _restore(scratch: Path, before: Contents, patches: Sequence[Patch]) -> None:
    for name in {name for patch in patches for name in patch.files()}:
        data = before[name]
        if data is None:
            (scratch / name).unlink(missing_ok=True)
        else:
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_bytes(data)


def _misfit(scratch: Path, patches: Sequence[Patch], known: Sequence[Moved]) -> Misfit | None:
    """Apply the patches; return the first rejected hunk."""
    for patch in patches:
        before = {name: apply.read_file(scratch / name) for name in patch.files()}
        done = apply.tried(scratch, patch, "-v")
        if done.status:
            return _explained(scratch, patch, done.output, known)
        if astray := _astray(patch, done.output, before):
            return astray
    return None


def _astray(patch: Patch, output: str, before: Contents) -> Misfit | None:
    """The first hunk that applied in a wrong function: if lines moved, git takes the nearest place
    with the same context."""
    file = ""
    for line in output.splitlines():
        if named := re.match(r"Checking patch (?:.* => )?(.*)\.\.\.$", line):
            file = named[1]
        moved_by = re.match(r"Hunk #(\d+) succeeded at \d+ \(offset (-?\d+) line", line)
        hunks = [hunk for one in patch.parsed() if one.path == file for hunk in one]
        if not moved_by or not (data := before.get(file)):
            continue
        hunk = hunks[int(moved_by[1]) - 1]
        above = data.decode(errors="replace").splitlines()[
            : hunk.source_start + int(moved_by[2]) - 1
        ]
        there = next((text for text in reversed(above) if _HEAD.match(text)), "")
        wanted = hunk.section_header
        if _HEAD.match(wanted) and _function(there) != _function(wanted):
            where = f"{patch.hunk_at(file, hunk.source_start)}: would change {there.strip()}"
            return Misfit(patch.name, patch.subject(), file, where)
    return None


def _function(head: str) -> str:
    """The name in a function's first line, or else the line."""
    name = re.search(r"(\w+)\s*\(", head)
    return name[1] if name else head.strip()


def _explained(scratch: Path, patch: Patch, complaint: str, known: Sequence[Moved]) -> Misfit:
    failed = re.search(r"^error: patch failed: (.*):(\d+)$", complaint, re.M)
    if not failed:
        missing = re.search(r"^error: (\S+): (.*)$", complaint, re.M)
        file, why = missing.groups() if missing else ("", complaint.strip())
        return Misfit(patch.name, patch.subject(), file, why)
    file, at = failed[1], int(failed[2])
    hunks = (hunk for one in patch.parsed() if one.path == file for hunk in one)
    hunk = next((hunk for hunk in hunks if hunk.source_start == at), None)
    text = (scratch / file).read_text(errors="replace").splitlines()
    expected = tuple(line.value.rstrip("\n") for line in hunk if not line.is_added) if hunk else ()
    line, found = _nearest(text, expected, at)
    upstream = (one for one in known if one.file == file and one.tells(expected, found, text))
    where, best = patch.hunk_at(file, at), next(upstream, None)
    return Misfit(patch.name, patch.subject(), file, where, expected, found, line, best)


def _nearest(text: Sequence[str], wanted: Sequence[str], at: int) -> tuple[int, tuple[str, ...]]:
    """The lines of a file most similar to those wanted, and the number of the first; none if less
    than half matches."""
    start, stop = max(0, at - NEAR), min(len(text), at + NEAR)
    telling = [len(line.strip()) > TELLING for line in wanted]
    best, first = 0.0, 0
    places: dict[str, list[int]] = {}
    for number, line in enumerate(wanted):
        if telling[number]:
            places.setdefault(line, []).append(number)
    offsets = {
        place - number
        for place in range(start, stop)
        for number in places.get(text[place], ())
        if place >= number
    }
    for offset in offsets:
        window = text[offset : offset + 2 * len(wanted)]
        blocks = SequenceMatcher(a=wanted, b=window, autojunk=False).get_matching_blocks()
        alike = sum(telling[n] for block in blocks for n in range(block.a, block.a + block.size))
        score = alike - abs(offset - at) / (2 * NEAR)
        if score > best:
            best, first = score, offset
    if not offsets or best < sum(telling) / 2 - 1:
        return at, ()
    window = text[first : first + 2 * len(wanted)]
    blocks = SequenceMatcher(a=wanted, b=window, autojunk=False).get_matching_blocks()
    length = max((block.b + block.size for block in blocks if block.size), default=0)
    return first + 1, tuple(window[:length])


# Read the entries of a line; none without the file.
read_moved = data.Table("moved", Moved, "see the existing entries", optional=True).read
