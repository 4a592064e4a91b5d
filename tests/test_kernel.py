# SPDX-License-Identifier: GPL-2.0
"""A patched kernel starts from the stock build, and must not reuse objects of patched files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from conftest import line_patch
from known import ARM64

from quire.build import kernel
from quire.build.kernel import BUILT, Request, Toolchain
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

    assert kernel.seed(request)

    copied = (request.objdir / "mremap.o").stat().st_mtime_ns
    assert sources
    assert all(source.stat().st_mtime_ns >= copied for source in sources)
