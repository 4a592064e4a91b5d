# SPDX-License-Identifier: GPL-2.0
"""A tree: an unpatched base, or a base with a series applied."""

from dataclasses import dataclass
from pathlib import Path

from quire.host import process
from quire.host.cache import FREE_SPACE, Cache, digest
from quire.host.errors import BuildFailed, UserError
from quire.source import apply
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.version import VersionRange

# Build directories are directly in the tree, so that kbuild's srctree is ".." and its commands are
# the same in every tree: ccache can then share objects between trees.
OBJDIR_PREFIX = "o-"
# The sources in a tree's directory.
SOURCES = "linux"


@dataclass(frozen=True)
class Tree:
    """Sources ready to build. `series` is the applied series, None for an unpatched base; `label`
    is the side's label in tables, messages and log names."""

    key: str
    base: Base
    series: Series | None
    path: Path
    label: str = "stock"


def stock(base: Base) -> Tree:
    """Return the unpatched base as a tree."""
    return Tree(base.key, base, None, base.path)


def patched(cache: Cache, base: Base, series: Series, label: str = "patched") -> Tree:
    """Apply the series to the base.

    UserError names the patch and hunk that do not apply, and removes the tree. Unpatched files are
    hard links to the base's: applying replaces files instead of writing to them.
    """
    if not series.patches:
        return stock(base)
    key = f"{base.key}+{series.key()}"

    def build(directory: Path) -> None:
        copy_links(base.path, directory / SOURCES)
        apply.apply_series(directory / SOURCES, series)

    return Tree(key, base, series, cache.make("tree", key, build) / SOURCES, label)


def difference(cache: Cache, a: Base, b: Base) -> Series:
    """Return the patch that turns one base into another; none if they are equal."""

    def build(directory: Path) -> None:
        # git makes the usual a/ and b/ prefixes from these names.
        copy_links(a.path, directory / "a")
        copy_links(b.path, directory / "b")
        words = ["diff", "--no-index", "--no-prefix", "--binary", "--no-renames", "--no-color"]
        words += ["--output", "difference.patch", "a", "b"]
        finished = process.run(process.Command(["git", *words], cwd=directory))
        # Status 1 means that they differ, as with diff.
        if finished.status not in (0, 1):
            output = finished.output.strip()[-1000:]
            raise BuildFailed("cannot compare the two sides", output, FREE_SPACE)
        process.check(process.Command(["rm", "-rf", "a", "b"], cwd=directory))

    directory = cache.make("difference", digest(a.key, b.key), build)
    patch = Patch("difference.patch", directory / "difference.patch")
    patches = (patch,) if patch.path.is_file() and patch.diff() else ()
    return Series(directory / "series", VersionRange(), patches)


def sources(tree: Path) -> list[str]:
    """Return the paths in a tree's top directory, without build directories."""
    return [str(path) for path in sorted(tree.iterdir()) if not path.name.startswith(OBJDIR_PREFIX)]


def copy_links(source: Path, destination: Path) -> None:
    """Copy a tree without its build directories, with hard links instead of file copies."""
    destination.mkdir(parents=True)
    command = process.Command(["cp", "-al", "-t", str(destination), *sources(source)])
    remedy = "name a build directory on a file system with hard links: O=DIR"
    process.check(command, "cannot hard-link the base", remedy, UserError)
