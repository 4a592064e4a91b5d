# SPDX-License-Identifier: GPL-2.0
"""Turn the command line's request into the two sides of a comparison: two labelled trees.

The sides may be stock and patched, with our own series on one of our lines; a base and a user's
series; two revisions of a git repository; or two directories.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import base as bases
from quire.source import line, mail, tree
from quire.source import series as series_files
from quire.source.base import Base
from quire.source.line import Line
from quire.source.series import Series
from quire.source.tree import Tree

# The labels of the two sides of our own series.
STOCK, PATCHED = "stock", "patched"
# Side A with the series' topics that fix the base.
FIXED = "fixed"
DEFAULT_BASE = "6.12"
# Longer labels make tables unreadable.
LABEL = 24


@dataclass(frozen=True)
class SideOptions:
    """The command line's description of the sides; empty fields were not given."""

    base: str = DEFAULT_BASE
    source: Path | None = None
    git: Path | None = None
    a: str = ""
    b: str = ""
    series: Path | None = None
    # The version of the series in a mailbox; 0 is the newest.
    version: int = 0
    # Whether a mailbox may lack patches.
    partial: bool = False
    only: tuple[str, ...] = ()
    # The line whose configuration to use, whatever the trees' version.
    line: str = ""


@dataclass(frozen=True)
class Side:
    """One half of a comparison. `about`: version, origin and hash, for headings."""

    label: str
    tree: Tree
    about: str
    # The origin of the side; its tree may be another base plus the difference.
    origin: Base


@dataclass(frozen=True)
class Sides:
    """Both halves. `series` is the difference from A to B. `ours`: it is one of our series, with
    its topics, excuses, expected failures and posted figures."""

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
        """Whether the sides are identical and there is nothing to compare."""
        return self.a.tree.path == self.b.tree.path

    @property
    def title(self) -> str:
        """Return the title of tables and plots."""
        if self.same:
            return f"{self.a.about}, compared with itself"
        if self.ours:
            return f"Linux {self.base.version}, {self.base.origin}, {_count(self.series)}"
        return f"{self.a.label}: {self.a.about}\n{self.b.label}: {self.b.about}"


def sides(root: Path, cache: Cache, options: SideOptions, base: Base) -> Sides:
    """Prepare the requested sides; `base` is that of side A. Side B is fetched, exported, copied or
    patched.

    UserError for a missing tree, or a series that does not apply.
    """
    configured = line_of(root, options, base)
    if options.b:
        return _two_trees(cache, options, configured, base)
    series, ours = series_of(root, cache, options, configured, base)
    label = PATCHED if ours or not options.series else _label(options.series.name)
    name = options.series.name if options.series else series.file.parent.name
    about = f"{_about(base)}, {_count(series)} of {name}"
    a = Side(STOCK, tree.stock(base), _about(base), base)
    b = Side(label, tree.patched(cache, base, series, label), about, base)
    return Sides(configured, a, b, series, ours)


def fixed(cache: Cache, sides: Sides) -> Sides:
    """Add the topics that fix the base to side A, to compare behaviour.

    Their changes are intended; the rest of the series must not change behaviour.
    """
    fixes = sides.series.fixing()
    if not fixes.patches:
        return sides
    about = f"{sides.a.about}, with {_count(fixes)} that fix it"
    tree_a = tree.patched(cache, sides.base, fixes, FIXED)
    return replace(sides, a=Side(FIXED, tree_a, about, sides.a.origin))


def base(root: Path, cache: Cache, options: SideOptions) -> Base:
    """Fetch, export or copy the base of side A.

    UserError for contradictory options, or a missing tree.
    """
    _require_sense(options)
    if options.a:
        return _base(cache, options.git, options.a)
    if options.source:
        return bases.from_directory(cache, options.source)
    return bases.from_debian(cache, line.named(root, options.base), options.base)


def line_of(root: Path, options: SideOptions, base: Base) -> Line:
    """Return the line whose configuration a tree uses: --line, or the line of its version."""
    if options.line:
        return line.named(root, options.line)
    return line.of_version(root, base.version)


def series_of(
    root: Path, cache: Cache, options: SideOptions, line: Line, base: Base
) -> tuple[Series, bool]:
    """Return the series from this base to side B, possibly empty, and whether it is ours."""
    if options.series:
        choice = mail.ThreadChoice(options.version, options.partial)
        series = mail.read_series(cache, options.series, choice)
        # Our own series named by its path is still ours.
        ours = line.series is not None and series.file.parent == line.series.resolve()
    else:
        known = line.series if line.name == base.version.line else None
        series = series_files.select(known, base.version) if known else series_files.none(root)
        ours = True
    return series.only(options.only) if options.only else series, ours


def _two_trees(cache: Cache, options: SideOptions, line: Line, base: Base) -> Sides:
    other = _base(cache, options.git, options.b)
    left, right = (_label(name) for name in (options.a or STOCK, options.b))
    left, right = (left, right) if left != right else (f"a-{left}", f"b-{right}")
    if other.version.line != base.version.line:
        # The configurations differ, and a patch from one line to another would be meaningless.
        series, second = series_files.none(other.path), replace(tree.stock(other), label=right)
    else:
        series = tree.difference(cache, base, other)
        second = tree.patched(cache, base, series, right)
    a = Side(left, replace(tree.stock(base), label=left), _about(base), base)
    return Sides(line, a, Side(right, second, _about(other), other), series, ours=False)


def _base(cache: Cache, repository: Path | None, name: str) -> Base:
    if repository:
        return bases.from_git(cache, repository, name)
    path = Path(name)
    if not path.is_dir():
        remedy = "name a kernel tree, or this revision's repository with --git DIR"
        raise UserError(f"{name} is not a directory", str(path.resolve()), remedy)
    return bases.from_directory(cache, path)


def _require_sense(options: SideOptions) -> None:
    if options.b and options.series:
        raise UserError("--b and --series both define side B", remedy="give only one of them")
    if options.a and options.source:
        raise UserError("--a and --source both define side A", remedy="give only one of them")
    if options.git and not (options.a or options.b):
        what = "--git names a repository, but there is no revision"
        raise UserError(what, remedy="add --a and --b REVISION")
    if options.a and not (options.b or options.series):
        remedy = "add --b, or --series for A with patches"
        raise UserError("side A is given, side B is missing", remedy=remedy)
    if options.only and options.b:
        raise UserError("--only selects topics of a series", remedy="omit it with --b")


def _count(series: Series) -> str:
    count = len(series.patches)
    return f"{count} patch" if count == 1 else f"{count} patches"


def _about(base: Base) -> str:
    kind, _, value = base.hash.partition(":")
    return f"Linux {base.version}, {base.origin}, {kind} {value[:16]}"


def _label(name: str) -> str:
    """A name suitable for tables and file names."""
    last = Path(name).resolve().name if Path(name).is_dir() else name
    return re.sub(r"[^A-Za-z0-9.+_]+", "-", last).strip("-")[-LABEL:] or "side"
