# SPDX-License-Identifier: GPL-2.0
"""The base of a series that somebody posted: the one that it names, or the nearest at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import apply, line, mail, merge, side, version
from quire.source import base as bases
from quire.source.base import Base
from quire.source.series import Series
from quire.source.side import SideOptions
from quire.source.version import Version

NAMED = "the one that the series names"


@dataclass(frozen=True)
class BaseChoice:
    """The options with the base; the words that choose it on a command line; why it is this one, if
    none was given."""

    options: SideOptions
    words: tuple[str, ...] = ()
    why: str = ""
    # The patches that do not apply to it exactly, and were merged.
    merged: tuple[str, ...] = ()


def choose(
    root: Path, cache: Cache, options: SideOptions, series: Series, stated: Stated, *, given: bool
) -> BaseChoice:
    """The base for a series: the one that is given, or else the nearest to which it applies; with
    a repository, that into which it can be merged. UserError if it applies to none."""
    for revision in filter(None, () if given else (stated.commit, stated.name)):
        if options.git and _has(options.git, revision):
            where = ("--git", str(options.git), "--a", revision)
            return BaseChoice(replace(options, a=revision), where, NAMED)
    candidates: Iterator[Callable[[], Base]] = _candidates(root, cache, stated.version)
    if given:
        chosen = options if options.a else replace(options, git=None)
        candidates = iter([partial(side.base, root, cache, chosen)])
    refused: list[UserError] = []
    refusing: list[Base] = []
    for fetch in candidates:
        try:
            found = fetch()
        except UserError:
            if given:
                raise
            # Not to be had here; the next one may be.
            continue
        error = apply.refusal(found.path, series)
        if not error:
            return _choice(options, stated, found, given=given)
        refused.append(error)
        refusing.append(found)
    if options.git:
        return _merge(cache, options, series, refusing, stated, given=given)
    named = f", which names {stated.text}," if stated.text else ""
    # It is a copy that stays unchanged.
    hunks = refused[0].where.removesuffix(f"\n{apply.UNCHANGED}") if refused else ""
    if given:
        remedy = "name another base, or --git DIR with the blobs of its index lines, to merge it"
        raise UserError(f"the series{named} does not apply to this base", hunks, remedy)
    remedy = "name its base: --git DIR with that commit, --source DIR, or --base VERSION"
    raise UserError(f"the series{named} applies to no base that is here", hunks, remedy)


def _choice(options: SideOptions, stated: Stated, found: Base, *, given: bool) -> BaseChoice:
    if given:
        return BaseChoice(options if options.a else replace(options, git=None))
    words = ("--base", str(found.version))
    return BaseChoice(replace(options, base=words[1], git=None), words, _why(stated, found))


def _merge(
    cache: Cache,
    options: SideOptions,
    series: Series,
    bases: Sequence[Base],
    stated: Stated,
    *,
    given: bool,
) -> BaseChoice:
    """The first base into which the series can be merged. UserError of the first, if into none."""
    failed: list[UserError] = []
    for base in bases:
        try:
            folder, names = merge.merged(cache, base, series, options.git or Path())
        except UserError as error:
            failed.append(error)
            continue
        choice = _choice(options, stated, base, given=given)
        merged = replace(choice.options, series=folder)
        return replace(choice, options=merged, merged=tuple(names))
    raise failed[0]


def _has(repository: Path, revision: str) -> bool:
    try:
        bases.commit(repository, revision)
    except UserError:
        return False
    return True


def _candidates(root: Path, cache: Cache, wanted: Version | None) -> Iterator[Callable[[], Base]]:
    """What is cached, and the newest of each other line, by their distance from a version; without
    one, the newest first."""
    known: list[tuple[Version, Callable[[], Base]]] = []
    cached = bases.cached(cache)
    for base in cached:
        known.append((base.version, partial(_same, base)))
    have = {base.version.line for base in cached}
    for each in line.known(root):
        if each.debian and each.name not in have:
            newest = partial(bases.from_debian, cache, each, each.name)
            known.append((version.parse(each.name), newest))
        exact = wanted and wanted.patch and each.name == wanted.line
        if each.debian and exact and wanted not in [base.version for base in cached]:
            exactly = partial(bases.from_debian, cache, each, str(wanted))
            known.append((wanted or version.parse(each.name), exactly))
    known.sort(key=lambda pair: _distance(pair[0], wanted))
    for _, get in known:
        yield get


def _same(base: Base) -> Base:
    return base


def _distance(number: Version, wanted: Version | None) -> tuple[int, int]:
    """How far a version is from another one; of two, the newer one is nearer."""
    if not wanted:
        return (-1000 * number.major - number.minor, -number.patch)
    lines = 1000 * (number.major - wanted.major) + number.minor - wanted.minor
    if wanted.patch and not lines:
        return (0, abs(number.patch - wanted.patch))
    return (2 * abs(lines) - (lines > 0), -number.patch)


def _why(stated: Stated, found: Base) -> str:
    if found.version == stated.version and "-rc" not in stated.name:
        return NAMED
    to = f"nearest one here to {stated.text}" if stated.text else "newest one here"
    return f"the {to} to which the series applies"


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


def stated(texts: Iterable[str]) -> Stated:
    """What the first text says that says something."""
    commit = name = ""
    for text in texts:
        found, named = _COMMIT.search(text), _NAMED.search(text)
        commit = commit or (found[1] if found else "")
        name = name or (named[1] if named else "")
    return Stated(commit, name)


def stated_by(cache: Cache, path: Path, series: Series) -> Stated:
    """What the cover letter in `path` says, or a patch."""
    covers: list[str] = []
    if path.is_dir():
        files = sorted(path.glob("*cover-letter.patch"))
        covers = [file.read_text(errors="replace") for file in files]
    elif mail.is_mail(path):
        covers = mail.covers(cache, path)
    patches = (patch.path.read_text(errors="replace") for patch in series.patches)
    # The cover letters of older versions come last.
    return stated([*covers[:1], *map(_without_diff, patches), *covers[1:]])


def _without_diff(text: str) -> str:
    """A patch without its diff, which may have any words; git puts the base at the end."""
    head, _, rest = text.partition("\ndiff --git ")
    found = _COMMIT.search(rest)
    return f"{head}\n{found[0]}" if found else head
