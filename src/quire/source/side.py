# SPDX-License-Identifier: GPL-2.0
"""The two sides of a comparison: turn the command line's request into two labelled trees.

Stock and patched, with our own series on one of our lines, is one case. Others are a base and a
user's series, two revisions of a git repository, and two directories.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import base as bases
from quire.source import difference, foreign, line, revision, tree
from quire.source import series as series_files
from quire.source.base import Base
from quire.source.line import Line
from quire.source.series import Series
from quire.source.tree import Tree

# The labels of the two sides of our own series.
STOCK, PATCHED = "stock", "patched"
# Side A with the topics of the series that fix the base.
FIXED = "fixed"
DEFAULT_BASE = "6.12"
# Longer labels make tables unreadable.
LABEL = 24


@dataclass(frozen=True)
class SideOptions:
    """The command line's description of the sides; empty fields are not given."""

    base: str = DEFAULT_BASE
    source: Path | None = None
    git: Path | None = None
    a: str = ""
    b: str = ""
    series: Path | None = None
    only: tuple[str, ...] = ()
    # The line whose configuration to use, regardless of the version of the trees.
    line: str = ""


@dataclass(frozen=True)
class Side:
    """One half of a comparison. `about`: version, origin and hash, for headings."""

    label: str
    tree: Tree
    about: str
    # The origin of the side; its tree may be another base with the difference applied.
    origin: Base


@dataclass(frozen=True)
class Sides:
    """Both halves. `series` is the difference from A to B. `ours`: it is one of our series, so its
    topics, excuses, expected failures and posted figures apply."""

    line: Line
    a: Side
    b: Side
    series: Series
    ours: bool

    @property
    def base(self) -> Base:
        """The base of side A."""
        return self.a.tree.base

    @property
    def both(self) -> tuple[Side, Side]:
        """A, then B."""
        return self.a, self.b

    @property
    def same(self) -> bool:
        """Whether the sides are identical, so that there is nothing to compare."""
        return self.a.tree.path == self.b.tree.path

    @property
    def title(self) -> str:
        """The title of tables and plots."""
        if self.same:
            return f"{self.a.about}, compared with itself"
        if self.ours:
            return f"Linux {self.base.version}, {self.base.origin}, {_count(self.series)}"
        return f"{self.a.label}: {self.a.about}\n{self.b.label}: {self.b.about}"


def sides(root: Path, cache: Cache, options: SideOptions, one: Base) -> Sides:
    """The requested sides; `one` is the base of side A. Side B is fetched, exported, copied or
    patched.

    UserError for a missing tree, and for a series that does not apply.
    """
    where = line_of(root, options, one)
    if options.b:
        return _two_trees(cache, options, where, one)
    return _with_series(root, cache, options, where, one)


def fixed(cache: Cache, of: Sides) -> Sides:
    """The same sides for a comparison of behaviour: side A has the topics that fix the base, too.

    What they change is meant, and the rest of the series must change nothing.
    """
    fixes = of.series.fixing()
    if not fixes.patches:
        return of
    about = f"{of.a.about}, {_count(fixes)} that fix it"
    return replace(
        of, a=Side(FIXED, tree.patched(cache, of.base, fixes, FIXED), about, of.a.origin)
    )


def base(root: Path, cache: Cache, options: SideOptions) -> Base:
    """The base of side A: fetched, exported or copied.

    UserError for contradictory options, and for a missing tree.
    """
    _require_sense(options)
    if options.a:
        return _base(cache, options.git, options.a)
    if options.source:
        return bases.from_directory(cache, options.source)
    return bases.from_debian(cache, line.named(root, options.base), options.base)


def line_of(root: Path, options: SideOptions, of: Base) -> Line:
    """The line whose configuration a tree uses: --line, or the line of its version."""
    if options.line:
        return line.named(root, options.line)
    return line.of_version(root, of.version)


def series_of(
    root: Path, cache: Cache, options: SideOptions, where: Line, of: Base
) -> tuple[Series, bool]:
    """The series from this base to side B, which may be empty; and whether it is ours."""
    if options.series:
        found = foreign.read(cache, options.series)
        # Our own series named by its path is still ours.
        ours = where.series is not None and found.file.parent == where.series.resolve()
    else:
        known = where.series if where.name == of.version.line else None
        found = series_files.select(known, of.version) if known else series_files.none(root)
        ours = True
    return found.only(options.only) if options.only else found, ours


def _with_series(root: Path, cache: Cache, options: SideOptions, where: Line, one: Base) -> Sides:
    found, ours = series_of(root, cache, options, where, one)
    stock = tree.stock(one)
    other = STOCK if ours or not options.series else _label(options.series.name)
    label = PATCHED if ours else other
    patched = tree.patched(cache, one, found, label)
    of = options.series.name if options.series else found.file.parent.name
    about = f"{_about(one)}, {_count(found)} of {of}"
    a, b = Side(STOCK, stock, _about(one), one), Side(label, patched, about, one)
    return Sides(where, a, b, found, ours)


def _two_trees(cache: Cache, options: SideOptions, where: Line, one: Base) -> Sides:
    other = _base(cache, options.git, options.b)
    left, right = _labels((options.a or STOCK, options.b))
    stock = replace(tree.stock(one), label=left)
    if other.version.line != one.version.line:
        # The configurations differ, and too little is common to build one from the other's objects.
        found = series_files.none(other.path)
        patched = replace(tree.stock(other), label=right)
    else:
        found = difference.between(cache, one, other)
        patched = tree.patched(cache, one, found, right)
    a, b = Side(left, stock, _about(one), one), Side(right, patched, _about(other), other)
    return Sides(where, a, b, found, ours=False)


def _base(cache: Cache, repository: Path | None, name: str) -> Base:
    if repository:
        return revision.from_git(cache, repository, name)
    path = Path(name)
    if not path.is_dir():
        raise UserError(
            f"{name} is not a directory",
            str(path.resolve()),
            "name a kernel tree, or the repository of this revision with --git DIR",
        )
    return bases.from_directory(cache, path)


def _require_sense(options: SideOptions) -> None:
    if options.b and options.series:
        raise UserError("--b and --series both define side B", remedy="give only one of them")
    if options.a and options.source:
        raise UserError("--a and --source both define side A", remedy="give only one of them")
    if options.git and not (options.a or options.b):
        raise UserError(
            "--git names a repository, but there is no revision", remedy="add --a and --b REVISION"
        )
    if options.a and not (options.b or options.series):
        raise UserError(
            "side A is given, side B is missing", remedy="add --b, or --series for A with patches"
        )
    if options.only and options.b:
        raise UserError("--only selects topics of a series", remedy="omit it with --b")


def _count(series: Series) -> str:
    count = len(series.patches)
    return f"{count} patch" if count == 1 else f"{count} patches"


def _about(of: Base) -> str:
    kind, _, value = of.hash.partition(":")
    return f"Linux {of.version}, {of.origin}, {kind} {value[:16]}"


def _labels(names: Iterable[str]) -> tuple[str, str]:
    left, right = (_label(name) for name in names)
    return (left, right) if left != right else (f"a-{left}", f"b-{right}")


def _label(name: str) -> str:
    """A name suitable for tables and file names."""
    last = Path(name).resolve().name if Path(name).is_dir() else name
    return re.sub(r"[^A-Za-z0-9.+_]+", "-", last).strip("-")[-LABEL:] or "side"
