# SPDX-License-Identifier: GPL-2.0
"""The compile check for other architectures: its targets, its failures, and what it skips."""

from __future__ import annotations

import json
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Quire, said

from quire.check import compile as compiling
from quire.check import configuration
from quire.check.compile import selections
from quire.check.workplace import WHOLE, Workplace
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source.patch import Patch
from quire.source.series import Series, read
from quire.source.version import VersionRange

TABLE = """\
    [compiler.riscv]
    prefix = "riscv64-linux-gnu-"
    package = "gcc-riscv64-linux-gnu"
    [compiler.arm]
    prefix = "arm-linux-gnueabihf-"
    package = "gcc-arm-linux-gnueabihf"
    [compiler.loongarch]
    prefix = "loongarch64-linux-gnu-"
    package = "gcc-of-no-release"
    optional = true
    [configuration.riscv64]
    arch = "riscv"
    compiler = "riscv"
    fragments = ["all"]
    [configuration.arm-lpae]
    arch = "arm"
    compiler = "arm"
    fragments = ["all"]
    [configuration.loongarch64]
    arch = "loongarch"
    compiler = "loongarch"
    fragments = ["all"]
"""
STATES = {"riscv64": "ok", "arm-lpae": "ok", "loongarch64": "no compiler"}
CLEAN = {
    (name, topic): state for name, state in STATES.items() for topic in ("mremap", "ksm", "all")
}
Check = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def directory(project: Path) -> Path:
    """configs/architectures of the fake project."""
    found = project / "configs/architectures"
    found.mkdir()
    (found / "table.toml").write_text(textwrap.dedent(TABLE))
    (found / "all.config").write_text("CONFIG_FAKE=y\n")
    return found


@pytest.fixture
def check(quire: Quire, tree: Path, directory: Path) -> Check:
    """Runs the check on the fake tree, with compilers for two of the three configurations."""
    for prefix in ("riscv64-linux-gnu-", "arm-linux-gnueabihf-"):
        (quire.bin / f"{prefix}gcc").symlink_to(quire.bin / "gcc")

    def run(*words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return quire("check", "--source", str(tree), "--architectures", *words, **extra)

    return run


def states(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, str], str]:
    """The state of each cell."""
    rows = json.loads(done.stdout)
    return {(row["configuration"], row["topic"]): row["state"] for row in rows}


def test_a_clean_series(check: Check) -> None:
    done = check("--json")
    assert (done.returncode, states(done)) == (0, CLEAN), done.stderr


@pytest.mark.slow
def test_a_warning_of_one_architecture_fails_those_that_have_the_patch(check: Check) -> None:
    bad = {("riscv64", "mremap"): "failed", ("riscv64", "all"): "failed"}
    # The second run calls make again, which complains again.
    for _ in range(2):
        done = check("--json", FAKE_WARN="riscv:run 8")
        assert (done.returncode, states(done)) == (1, {**CLEAN, **bad})
    rows = {(r["configuration"], r["topic"]): r for r in json.loads(done.stdout)}
    first, last = rows["riscv64", "all"]["trouble"].splitlines()
    assert first == "../mm/mremap.c:8:1: error: unused ‘run 8’ [-Werror=unused]"
    assert "unused" in Path(last.removeprefix("whole log: ")).read_text()
    assert "riscv64: mremap\n" in done.stderr

    table = check(FAKE_WARN="riscv:run 8").stdout
    assert "no compiler" in table
    assert "../mm/mremap.c:8:1: error: unused" in table


def test_what_stock_warns_about_is_no_failure(check: Check) -> None:
    done = check("--json", FAKE_WARN="riscv:line 3")
    # ksm/0001 removes line 30; stock has the remaining complaints as well.
    assert (done.returncode, states(done)) == (0, CLEAN), done.stderr


@pytest.mark.slow
def test_what_was_clean_is_not_compiled_again(check: Check, project: Path, tmp_path: Path) -> None:
    note = tmp_path / "compiled"
    assert check(FAKE_COMPILED=str(note)).returncode == 0
    first = note.read_text().splitlines()
    assert first.count("o-riscv64 mm/") == 1
    # With the whole series mm/ is compiled, then only the files that each topic touches.
    assert first.count("o-riscv64 mm/mremap.o") == 2
    note.unlink()

    assert check(FAKE_COMPILED=str(note)).returncode == 0
    assert not note.exists()

    patch = project / "patches/linux-6.12.y/ksm/0001-ksm-look-less.patch"
    patch.write_text(patch.read_text().replace("+ksm 30", "+ksm thirty"))
    assert check("riscv64", FAKE_COMPILED=str(note)).returncode == 0
    # The whole series, and ksm alone; mremap is unchanged.
    again = note.read_text().splitlines()
    assert (again.count("o-riscv64 mm/"), again.count("o-riscv64 mm/mremap.o")) == (1, 1)


def test_a_lost_option_is_an_error(check: Check) -> None:
    said(check(FAKE_MAKE="lose"), 3, "CONFIG_FAKE: wanted y, is n (all.config)")


def test_a_missing_compiler_is_named(without: Callable[..., Quire], directory: Path) -> None:
    lacking = without("apt-get", "arm-linux-gnueabihf-gcc", "riscv64-linux-gnu-gcc")
    done = lacking("check", "--architectures")
    said(done, 2, "gcc-arm-linux-gnueabihf gcc-riscv64-linux-gnu")
    assert "gcc-of-no-release" not in done.stderr


def test_an_unknown_configuration(check: Check) -> None:
    said(check("vax"), 2, "riscv64, arm-lpae, loongarch64")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('compiler = "arm"', 'compiler = "armv4"'),
        ('arch = "arm"', ""),
        ('arch = "arm"', "arch = arm"),
        ('arch = "arm"', 'arch = "arm"\narches = "arm"'),
        ('["all"]', '["none"]'),
    ],
)
def test_a_bad_table_is_refused(directory: Path, old: str, new: str) -> None:
    table = directory / "table.toml"
    table.write_text(table.read_text().replace(old, new))
    with pytest.raises(UserError) as caught:
        configuration.read(directory)
    assert str(table) in caught.value.where


def test_our_table() -> None:
    found = configuration.read(ROOT / "configs/architectures")
    folders = {c.compiler.srcarch for c in found}
    assert folders >= {"x86", "arm", "arm64", "riscv", "s390", "powerpc", "sparc", "loongarch"}
    used = {path for c in found for path in c.fragments}
    assert used == set((ROOT / "configs/architectures").glob("*.config"))


@pytest.mark.parametrize("folder", sorted((ROOT / "lines").glob("*/configs/architectures")))
def test_a_lines_own_options(folder: Path) -> None:
    """Each fragment of a line stands behind the one of its name."""
    found = configuration.read(ROOT / "configs/architectures", folder)
    own = set(folder.glob("*.config"))
    assert own
    assert own == {path for c in found for path in c.fragments if path.parent == folder}
    for fragments in (c.fragments for c in found):
        for path in own.intersection(fragments):
            assert fragments[fragments.index(path) - 1].name == path.name


def test_options_of_another_line(check: Check, quire: Quire, directory: Path) -> None:
    own = quire.project / "lines/6.12/configs/architectures"
    own.mkdir(parents=True)
    (own / "all.config").write_text("CONFIG_OF_THIS_LINE=y\n")
    (quire.project / "lines/6.12/configs/architectures/none.config").write_text("CONFIG_NONE=y\n")
    assert check("riscv64").returncode == 0
    (config,) = quire.build.rglob("*riscv64*/.config")
    assert "CONFIG_OF_THIS_LINE=y" in config.read_text()
    assert "CONFIG_NONE" not in config.read_text()


def test_targets_are_what_the_patches_touch(tmp_path: Path, directory: Path) -> None:
    riscv = configuration.read(directory)[0]
    place = Workplace(Cache(tmp_path), tmp_path, tmp_path, riscv, 1)
    files = "mm/rmap.c arch/riscv/mm/tlbflush.c arch/arm64/mm/contpte.c lib/xarray.c"
    series = _series(tmp_path, {"mm/0001-a.patch": files.split()})
    wide = ["mm/", "fs/proc/", "arch/riscv/mm/", "lib/xarray.o"]
    assert place.targets(series) == wide

    # After a complete compilation, a file without an object is not part of the configuration.
    (place.objects / "mm").mkdir(parents=True)
    (place.objects / "mm/rmap.o").touch()
    (place.objects / WHOLE).touch()
    assert place.targets(series, narrow=True) == ["mm/rmap.o"]
    assert place.targets(series) == wide


def test_a_header_that_another_topic_changes_is_compiled_with_each(tmp_path: Path) -> None:
    names = {"ksm/1": ["mm/ksm.c"], "swapout/1": ["mm/rmap.c", "mm/a.h"], "mremap/1": ["mm/a.h"]}
    series = _series(tmp_path, names)
    narrow = {selection.name: selection.narrow for selection in selections(series)}
    assert narrow == {"ksm": True, "swapout": False, "mremap": False, "all": False}
    (alone,) = selections(series.only(["ksm"]))
    assert (alone.name, alone.narrow) == ("ksm", False)


def _series(tmp_path: Path, files: dict[str, list[str]]) -> Series:
    """Patches by name, with the files that each touches."""
    patches = [Patch(name, tmp_path / name) for name in files]
    for patch, names in zip(patches, files.values(), strict=True):
        patch.path.parent.mkdir(exist_ok=True)
        diffs = [f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n" for name in names]
        patch.path.write_text("".join(diffs))
    return Series(tmp_path / "series", VersionRange(), tuple(patches))


def test_a_change_writes_only_what_differs(
    tmp_path: Path, project: Path, tree: Path, directory: Path
) -> None:
    riscv = configuration.read(directory)[0]
    place = Workplace(Cache(tmp_path), tree, tmp_path / "entry", riscv, 1)
    linux = tmp_path / "entry/linux"
    (linux / "mm").mkdir(parents=True)
    (linux / "mm/mremap.c").hardlink_to(tree / "mm/mremap.c")
    series = read(project / "patches/linux-6.12.y/series")
    stock = (tree / "mm/mremap.c").read_text()

    place.change(series.only(["mremap"]))
    assert "run 8" in (linux / "mm/mremap.c").read_text()
    assert (tree / "mm/mremap.c").read_text() == stock
    before = (linux / "mm/mremap.c").stat()
    place.change(series.only(["mremap"]))
    assert (linux / "mm/mremap.c").stat() == before

    # Files that only an earlier selection changed are reset to the base's.
    place.change(None)
    assert (linux / "mm/mremap.c").read_text() == stock
    assert (linux / "mm/mremap.c").stat().st_mtime_ns > before.st_mtime_ns


def test_complaints_are_compared_without_their_line() -> None:
    log = textwrap.dedent("""\
          CC      mm/rmap.o
        ../mm/rmap.c:10:5: error: unused variable ‘a’ [-Werror=unused-variable]
        cc1: all warnings being treated as errors
        ld: mm/rmap.o: in function `a':
        rmap.c:(.text+0x1f): undefined reference to `swap_duplicate_upto'
        ERROR: modpost: "xas_store_each" [lib/test_xarray.ko] undefined!
        make[3]: *** [../scripts/Makefile.build:229: mm/rmap.o] Error 1
        """)
    found = compiling.complaints(log)

    assert len(found) == 3
    moved = log.replace("10:5", "12:1").replace("0x1f", "0x2f")
    assert compiling.new(compiling.complaints(moved), found) == []
    assert compiling.new(compiling.complaints(moved.replace("‘a’", "‘b’")), found) == [
        "../mm/rmap.c:12:1: error: unused variable ‘b’ [-Werror=unused-variable]"
    ]


def test_a_compiler_of_this_host_needs_no_prefix(
    monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    package = "gcc-x86-64-linux-gnu"
    compiler = configuration.Compiler("x86", "x86_64-linux-gnu-", package, ("x86_64",))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert (compiler.need.name, compiler.need.packages) == ("gcc", ("gcc",))
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert compiler.need.name == "x86_64-linux-gnu-gcc"
    assert compiler.need.packages == (package,)
