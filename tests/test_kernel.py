# SPDX-License-Identifier: GPL-2.0
"""A patched kernel starts from the stock build, and must not reuse objects of patched files."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from conftest import line_patch
from known import ARM64

from quire.build import start
from quire.build.kernel import Request, Toolchain
from quire.build.start import BUILT
from quire.source import tree as trees
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.tree import Tree
from quire.source.version import VersionRange, parse


def test_patched_sources_are_newer_than_the_copied_objects(tmp_path: Path, tree: Path) -> None:
    file = tmp_path / "0001-a.patch"
    file.write_text(line_patch("mm: a", 2, "changed"))
    patch = Patch("mremap/0001-a.patch", file)
    patched = tmp_path / "patched"
    shutil.copytree(tree, patched)
    base = Base("key", parse("6.12.117"), "test", "", tree)
    series = Series(tmp_path / "series", VersionRange(), (patch,))
    toolchain = Toolchain("", "gcc")
    request = Request(ARM64, Tree("key+series", base, series, patched), (), toolchain, 1)
    built = tree / request.objdir.name
    built.mkdir()
    (built / BUILT).touch()
    (built / "mremap.o").touch()
    sources = [patched / name for name in patch.files()]
    for source in sources:
        os.utime(source, (0, 0))

    assert start.copy(request.tree, request.objdir.name)

    copied = (request.objdir / "mremap.o").stat().st_mtime_ns
    assert sources
    assert all(source.stat().st_mtime_ns >= copied for source in sources)


NAME = "o-arm64-key"
PAST, BETWEEN = 1_000_000_000, 2_000_000_000


def made(root: Path, key: str, files: dict[str, str], *, built: str = "") -> Tree:
    """A tree below `root` whose series patches these files, and its build, if there is one."""
    sources = root / "tree" / f"base+{key}" / trees.SOURCES
    base = root / "base/linux"
    if not base.is_dir():
        (base / NAME).mkdir(parents=True)
        (base / NAME / BUILT).touch()
        for name in ("a.c", "b.c", "c.h", "d.c"):
            (base / name).write_text("stock")
            os.utime(base / name, ns=(PAST, PAST))
    sources.mkdir(parents=True)
    for path in base.glob("*.[ch]"):
        os.link(path, sources / path.name)
    for name, text in files.items():
        (sources / name).unlink(missing_ok=True)
        (sources / name).write_text(text)
    sources.with_name(trees.PATCHED).write_text("".join(f"{name}\n" for name in files))
    if built:
        (sources / NAME).mkdir()
        (sources / NAME / BUILT).touch()
        for name, time in (("object", PAST), ("later", BETWEEN)):
            (sources / NAME / name).write_text(built)
            os.utime(sources / NAME / name, ns=(time, time))
    return Tree(
        key, Base("base", parse("6.12.117"), "test", "", base), series(root, files), sources
    )


def series(root: Path, files: dict[str, str]) -> Series:
    """A series with a patch per file."""
    patches = []
    for name in files:
        path = root / f"{name}.patch"
        path.write_text(f"Subject: x\n\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-stock\n+x\n")
        patches.append(Patch(f"t/{name}.patch", path))
    return Series(root / "series", VersionRange(), tuple(patches))


def test_a_build_starts_from_the_most_similar_tree(tmp_path: Path) -> None:
    made(tmp_path, "1", {"a.c": "1", "c.h": "1"}, built="first")
    made(tmp_path, "2", {"a.c": "2", "c.h": "3", "d.c": "3"}, built="second")
    made(tmp_path, "4", {"a.c": "3", "b.c": "3", "c.h": "3"})
    ours = made(tmp_path, "3", {"a.c": "3", "b.c": "3", "c.h": "3"})
    assert start.copy(ours, NAME)
    copied = ours.path / NAME / "object"
    assert copied.read_text() == "second"
    assert not (ours.path / NAME / BUILT).exists()
    times = {name: (ours.path / name).stat().st_mtime_ns for name in ("a.c", "b.c", "c.h", "d.c")}
    newer = {name for name, time in times.items() if time >= copied.stat().st_mtime_ns}
    assert newer == {"a.c", "b.c", "d.c"}
    # Objects keep their order.
    later = ours.path / NAME / "later"
    assert later.stat().st_mtime_ns > copied.stat().st_mtime_ns
    # The base's files keep their time.
    assert (tmp_path / "base/linux/d.c").stat().st_mtime_ns == PAST


def test_a_build_starts_from_stock_where_headers_differ(tmp_path: Path) -> None:
    made(tmp_path, "1", {"a.c": "1", "c.h": "1"}, built="first")
    ours = made(tmp_path, "2", {"a.c": "1", "b.c": "1"})
    assert start.copy(ours, NAME)
    assert not (ours.path / NAME / "object").exists()


def test_a_tree_without_patches_starts_from_nothing(tmp_path: Path) -> None:
    ours = made(tmp_path, "1", {"a.c": "1"})
    assert not start.copy(trees.stock(replace(ours.base, path=tmp_path / "other")), NAME)
    other = made(tmp_path, "2", {"a.c": "1"})
    (tmp_path / "base/linux" / NAME / BUILT).unlink()
    assert not start.copy(other, NAME)
