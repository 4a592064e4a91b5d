# SPDX-License-Identifier: GPL-2.0
"""Find the base of a posted series: the one that it names, or the nearest available one."""

import re
from collections.abc import Callable, Iterable, Sequence
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

NAMED = "the base that the series names"


@dataclass(frozen=True)
class BaseChoice:
    """The options with the base, the words that select it on a command line, and the reason for it,
    unless the user named it."""

    options: SideOptions
    words: tuple[str, ...] = ()
    why: str = ""
    # Patches that do not apply exactly and were merged.
    merged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stated:
    """A commit, and the name of a version or branch; empty if the series does not say."""

    commit: str = ""
    name: str = ""

    @property
    def version(self) -> Version | None:
        """The version in the name, without -rc."""
        found = _VERSION.match(self.name)
        return version.parse(found[1]) if found else None

    @property
    def text(self) -> str:
        """Both in words."""
        return self.name or (f"commit {self.commit[:12]}" if self.commit else "")


def choose(
    root: Path, cache: Cache, options: SideOptions, series: Series, stated: Stated, *, given: bool
) -> BaseChoice:
    """Find the base for a series: the one given, or else the nearest to which it applies or (with a
    repository) into which it merges. UserError if it applies to none."""
    for revision in filter(None, () if given else (stated.commit, stated.name)):
        if options.git and _has(options.git, revision):
            where = ("--git", str(options.git), "--a", revision)
            return BaseChoice(replace(options, a=revision), where, NAMED)
    chosen = options if options.a else replace(options, git=None)
    candidates: Iterable[Callable[[], Base]] = [partial(side.base, root, cache, chosen)]
    if not given:
        candidates = _candidates(root, cache, stated.version)
    refused: list[UserError] = []
    refusing: list[Base] = []
    for fetch in candidates:
        try:
            found = fetch()
        except UserError:
            if given:
                raise
            # Not available here; try the next one.
            continue
        error = apply.refusal(found.path, series)
        if not error:
            return _choice(options, stated, found, given=given)
        refused.append(error)
        refusing.append(found)
    if options.git:
        return _merge(cache, options, series, refusing, stated, given=given)
    named = f", which names {stated.text}," if stated.text else ""
    # This copy stays unchanged.
    hunks = refused[0].where.removesuffix(f"\n{apply.UNCHANGED}") if refused else ""
    if given:
        remedy = "name another base, or --git DIR with the blobs of its index lines for a merge"
        raise UserError(f"the series{named} does not apply to this base", hunks, remedy)
    remedy = "name its base: --git DIR with that commit, --source DIR, or --base VERSION"
    raise UserError(f"the series{named} applies to no available base", hunks, remedy)


def _choice(options: SideOptions, stated: Stated, found: Base, *, given: bool) -> BaseChoice:
    if given:
        return BaseChoice(options if options.a else replace(options, git=None))
    words, why = ("--base", str(found.version)), NAMED
    if found.version != stated.version or "-rc" in stated.name:
        to = f"base nearest to {stated.text}" if stated.text else "newest available base"
        why = f"the {to} to which the series applies"
    return BaseChoice(replace(options, base=words[1], git=None), words, why)


def _merge(
    cache: Cache,
    options: SideOptions,
    series: Series,
    bases: Sequence[Base],
    stated: Stated,
    *,
    given: bool,
) -> BaseChoice:
    """The first base into which the series merges; else raise the UserError of the first."""
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


def _candidates(root: Path, cache: Cache, wanted: Version | None) -> list[Callable[[], Base]]:
    """The cached bases, and the newest base of each other line, by distance from a version, or else
    the newest first."""
    cached = bases.cached(cache)
    known: list[tuple[Version, Callable[[], Base]]] = []
    known += [(base.version, partial(bases.load, base.path.parent)) for base in cached]
    have = {base.version.line for base in cached}
    for each in line.known(root):
        if each.debian and each.name not in have:
            newest = partial(bases.from_debian, cache, each, each.name)
            known.append((version.parse(each.name), newest))
        exact = wanted and wanted.patch and each.name == wanted.line
        if each.debian and exact and wanted not in [base.version for base in cached]:
            exactly = partial(bases.from_debian, cache, each, str(wanted))
            known.append((wanted or version.parse(each.name), exactly))
    return [get for _, get in sorted(known, key=lambda pair: _distance(pair[0], wanted))]


def _distance(number: Version, wanted: Version | None) -> tuple[int, int]:
    """The distance between versions; of two equally distant ones, the newer is nearer."""
    if not wanted:
        return (-1000 * number.major - number.minor, -number.patch)
    lines = 1000 * (number.major - wanted.major) + number.minor - wanted.minor
    if wanted.patch and not lines:
        return (0, abs(number.patch - wanted.patch))
    return (2 * abs(lines) - (lines > 0), -number.patch)


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


def stated(texts: Iterable[str]) -> Stated:
    """Return the statement in the first text that has one."""
    commit = name = ""
    for text in texts:
        found, named = _COMMIT.search(text), _NAMED.search(text)
        commit = commit or (found[1] if found else "")
        name = name or (named[1] if named else "")
    return Stated(commit, name)


def stated_by(cache: Cache, path: Path, series: Series) -> Stated:
    """Return the statement in the cover letter in `path`, or in a patch."""
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
    """A patch without its diff, which may contain anything; git puts the base at the end."""
    head, _, rest = text.partition("\ndiff --git ")
    found = _COMMIT.search(rest)
    return f"{head}\n{found[0]}" if found else head
