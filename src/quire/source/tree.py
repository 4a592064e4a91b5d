# SPDX-License-Identifier: GPL-2.0
"""A tree: an unpatched base, or a base with a series applied."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import apply
from quire.source.base import Base
from quire.source.series import Series

# Build directories are directly in the tree. kbuild's srctree is then ".." and every recorded
# command is relative, so that a tree can be copied together with its build directory.
OBJDIR_PREFIX = "o-"
# In a tree's directory: its sources, and the list of those that differ from the base's.
SOURCES, PATCHED = "linux", "patched"


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
    """The unpatched base."""
    return Tree(base.key, base, None, base.path)


def patched(cache: Cache, base: Base, series: Series, label: str = "patched") -> Tree:
    """The base with the series applied.

    UserError names the patch and hunk that do not apply, and removes the tree. Unpatched files are
    hard links to the base's: applying replaces files instead of writing to them. Modification times
    are kept, so that make rebuilds only what the series touches.
    """
    if not series.patches:
        return stock(base)
    key = f"{base.key}+{series.key()}"

    def build(directory: Path) -> None:
        sources = directory / SOURCES
        copy_links(base.path, sources)
        apply.plan(sources, series.patches)
        process.do(_apply, sources, series)

    directory = cache.make("tree", key, build)
    return Tree(key, base, series, directory / SOURCES, label)


def _apply(sources: Path, series: Series) -> None:
    applied = apply.apply_series(sources, series)
    sources.with_name(PATCHED).write_text("".join(f"{name}\n" for name in applied.written))


def patched_files(sources: Path) -> list[str]:
    """The files in which a patched tree differs from its base; none if that is not known."""
    try:
        return sources.with_name(PATCHED).read_text().split()
    except OSError:
        return []


def copy_links(source: Path, destination: Path) -> None:
    """Copy a tree without its build directories, with hard links instead of file copies."""
    process.do(destination.mkdir, parents=True)
    entries = [
        str(path) for path in sorted(source.iterdir()) if not path.name.startswith(OBJDIR_PREFIX)
    ]
    finished = process.run(process.Command(["cp", "-al", "-t", str(destination), *entries]))
    if finished.status:
        raise UserError(
            "cannot hard-link the base",
            finished.output.strip()[-1000:],
            "name a build directory on a file system with hard links: O=DIR",
        )
