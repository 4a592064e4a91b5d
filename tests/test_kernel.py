# SPDX-License-Identifier: GPL-2.0
"""With ccache, a kernel shares what another tree compiled; without it, it builds as well."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, Quire
from known import ARM64

from quire.host.cache import Cache
from quire.kernels import kernel
from quire.kernels.kernel import Request, Toolchain
from quire.source.base import Base
from quire.source.tree import Tree, stock
from quire.source.version import parse

# A makefile in place of kbuild's, with its options that matter: the object directory is below the
# sources, and paths are relative to it, but objtool's are not.
MAKEFILE = """\
all:
	cd $(O) && $(or $(CC),gcc) -Wp,-MMD,.a.d -I../include -c -o a.o ../a.c
	cd $(O) && $(or $(CC),gcc) -Wp,-MMD,.c.d -c -o c.o ../c.S
	cd $(O) && $(or $(HOSTCC),gcc) -I$(CURDIR)/include -c -o b.o $(CURDIR)/a.c
"""


def tree(cache: Cache, name: str, text: str) -> Tree:
    """A tree with one source file below the build directory."""
    path = cache.path("tree", name) / "linux"
    (path / "include").mkdir(parents=True)
    (path / "Makefile").write_text(MAKEFILE)
    (path / "a.c").write_text('#include "a.h"\nconst char *a = __FILE__;\n')
    (path / "include/a.h").write_text(text)
    # As the vDSO and the compressed kernel: its name stays, its contents do not.
    (path / "c.S").write_text('.incbin "../include/a.h"\n')
    return replace(stock(Base(name, parse("6.12.117"), "test", "", path)), label=name)


def objects(cache: Cache, of: Tree) -> dict[str, bytes]:
    """What the makefile compiles."""
    request = Request(ARM64, of, (), Toolchain("", "gcc"), 1)
    request.objdir.mkdir()
    make = kernel.make_command(cache, request, "all")
    subprocess.run(make.argv, cwd=make.cwd, env={**os.environ, **make.env}, check=True)
    return {path.name: path.read_bytes() for path in request.objdir.glob("*.o")}


@pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not installed")
def test_objects_are_shared_between_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path / "build")
    same = "int x;\n"
    first = objects(cache, tree(cache, "first", same))
    other = objects(cache, tree(cache, "other", "int y[2];\n"))
    moved = objects(cache, tree(cache, "moved", same))
    done = subprocess.run(
        ["ccache", "--print-stats"],
        env={**os.environ, "CCACHE_DIR": str(cache.root / "ccache")},
        capture_output=True,
        text=True,
        check=True,
    )
    counts = dict(line.split("\t") for line in done.stdout.splitlines())
    hits = int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])
    assert (hits, int(counts["cache_miss"])) == (2, 4)
    assert first["a.o"] == moved["a.o"] != other["a.o"]
    assert first["c.o"] == moved["c.o"] != other["c.o"]
    # As without the cache, byte for byte.
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert objects(cache, tree(cache, "plain", same))["a.o"] == first["a.o"]


def test_a_build_without_ccache(without: Callable[..., Quire], tree: Path) -> None:
    words = ("build", "--source", str(tree), "--stock")
    quire = without("ccache")
    assert quire(*words, "ARCH=x86_64").returncode == 0
    assert "CC=" not in quire(*words, "ARCH=arm64", "-v").stderr
    (quire.bin / "ccache").symlink_to("/bin/true")
    debug = str(ROOT / "configs/debug.config")
    printed = quire(*words, "ARCH=arm64", "--config", debug, "-v").stderr
    assert "'CC=ccache aarch64-linux-gnu-gcc' 'HOSTCC=ccache gcc'" in printed
    assert f"CCACHE_DIR={quire.build}/ccache" in printed
