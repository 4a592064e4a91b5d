# SPDX-License-Identifier: GPL-2.0
"""Every bad input gives a cause, a remedy and the right exit code, and leaves no partial output."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Quire, gone, line_patch, make_tree, said, snapshot


def entries(build: Path, kind: str) -> list[str]:
    """The cache entries of `kind`, including incomplete ones."""
    folder = build / kind
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_not_a_kernel_tree(quire: Quire, tree: Path, tmp_path: Path) -> None:
    (tree / "Makefile").write_text("all:\n\ttrue\n")
    said(quire("apply", str(tree)), 2, "not a kernel source tree", "sets no VERSION")
    (tmp_path / "empty").mkdir()
    said(quire("apply", str(tmp_path / "empty")), 2, "not a kernel source tree", "no Makefile")
    said(quire("build", "--source", str(tmp_path / "empty")), 2, "not a kernel source tree")
    assert entries(quire.build, "base") == []


def test_the_version_names_commit_and_series(quire: Quire) -> None:
    done = quire.passes("--version")
    assert re.match(r"quire \d+\.\d+ ", done.stdout)
    assert re.search(r"^  \d+ patches for Linux 6\.12", done.stdout, re.M)


def test_another_version(quire: Quire, tmp_path: Path) -> None:
    newer = make_tree(tmp_path / "newer", "6.13.2")
    said(quire("apply", str(newer)), 2, "no series for Linux 6.13.2", "6.12")
    older = make_tree(tmp_path / "older", "6.12.5")
    before = snapshot(older)
    said(quire("build", "--source", str(older)), 2, "no series is for Linux 6.12.5", "6.12.100-")
    assert snapshot(older) == before


def test_a_patch_that_does_not_fit(quire: Quire, tree: Path) -> None:
    source = tree / "mm/mremap.c"
    source.write_text(source.read_text().replace("line 19\n", "line nineteen\n"))
    before = snapshot(tree)
    said(
        quire("apply", "--only", "mremap", str(tree)),
        2,
        "mremap/0002-mm-move-more.patch does not apply",
        "mm/mremap.c, hunk 1 (line 17)",
        "the tree is unchanged",
    )
    assert snapshot(tree) == before
    # Nor is there a tree to build.
    said(quire("build", "--source", str(tree)), 2, "0002-mm-move-more.patch", "hunk 1")
    assert entries(quire.build, "tree") == []


def test_a_series_that_names_no_file(quire: Quire, tree: Path) -> None:
    series = quire.project / "patches/linux-6.12.y/series"
    series.write_text("mremap/0009-gone.patch\n")
    said(quire("apply", str(tree)), 2, "a patch that does not exist", "0009-gone.patch")


def test_no_space_left_in_make(quire: Quire, tree: Path) -> None:
    done = quire("build", "--source", str(tree), "ARCH=arm64", FAKE_MAKE="full")
    said(done, 3, "no space left on the device", "whole log: ")
    # A full disk truncates make's output: none of it may be reused.
    assert not list(quire.build.glob("base/*/linux/o-*"))
    quire.passes("build", "--source", str(tree), "ARCH=arm64")


def can_mount() -> bool:
    """Whether we can mount a file system, to fill it up."""
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="mounting a small tmpfs needs root")
def test_no_space_left_for_the_base(quire: Quire, tree: Path) -> None:
    (tree / "big").write_bytes(b"x" * 600_000)
    quire.build.mkdir()
    script = f'mount -t tmpfs -o size=400k none "{quire.build}" && "$@"; status=$?; '
    script += f'find "{quire.build}/base" -mindepth 1; exit $status'
    command = ["unshare", "-m", "sh", "-c", script, "sh"]
    done = subprocess.run(
        [*command, *quire.command("build", "--source", str(tree))],
        env=quire.env(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said(done, 3, "No space left on device")
    assert done.stdout == ""


def test_a_missing_compiler(without: Callable[..., Quire], tree: Path) -> None:
    quire = without("aarch64-linux-gnu-gcc")
    done = quire("build", "--source", str(tree), "ARCH=arm64")
    said(done, 2, "aarch64-linux-gnu-gcc", "apt-get install gcc-aarch64-linux-gnu")
    done = quire("bench", "--source", str(tree), "ARCH=arm64")
    said(done, 2, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu")
    assert not list(quire.build.glob("base/*/linux/o-*"))


def test_a_compiler_that_is_named(quire: Quire, tree: Path) -> None:
    words = ("build", "--source", str(tree), "CROSS_COMPILE=nowhere-")
    said(quire(*words, "ARCH=arm64"), 2, "nowhere-gcc", "CROSS_COMPILE=")
    said(quire(*words), 2, "several are selected", "ARCH=arm64 CROSS_COMPILE=nowhere-")


def test_llvm(quire: Quire, tree: Path) -> None:
    words = ("build", "--source", str(tree), "ARCH=arm64", "--stock")
    lacking = "clang-0, ld.lld-0, llvm-ar-0, llvm-nm-0, llvm-objcopy-0 missing"
    said(quire(*words, "LLVM=-0"), 2, lacking, "apt-get install clang-0 lld-0 llvm-0")
    said(quire("check", "LLVM=-0"), 2, "LLVM= has no effect for quire check")
    for name in ("clang", "ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy"):
        (quire.bin / f"{name}-0").symlink_to(quire.bin / "gcc")
    printed = quire(*words, "LLVM=-0", "-v").stderr
    assert "ARCH=arm64 LLVM=-0 'CC=ccache clang-0' 'HOSTCC=ccache clang-0' O=" in printed


@pytest.mark.parametrize(
    ("mode", "text"), [("old", "too old"), ("noplugin", "without TCG plugins")]
)
def test_an_unfit_qemu(quire: Quire, tree: Path, mode: str, text: str) -> None:
    words = ("bench", "mremap", "--source", str(tree), "ARCH=arm64")
    said(quire(*words, FAKE_QEMU=mode), 2, "qemu-system-aarch64", text, "apt-get install")
    # Reported before the kernels are built.
    assert not list(quire.build.glob("base/*/linux/o-*"))


def test_no_qemu(without: Callable[..., Quire], tree: Path) -> None:
    quire = without("qemu-system-x86_64")
    done = quire("bench", "--source", str(tree), "ARCH=x86_64")
    said(done, 2, "qemu-system-x86_64", "qemu-system-x86")


def test_a_kernel_that_does_not_build(quire: Quire, tree: Path) -> None:
    words = ("build", "--source", str(tree), "ARCH=arm64")
    lost = "CONFIG_FAKE: wanted y, is n (common.config)"
    said(quire(*words, FAKE_MAKE="lose"), 3, "did not survive", lost)
    error = "../mm/mremap.c:7:1: error: unknown type name"
    said(quire(*words, FAKE_MAKE="fail"), 3, error, "whole log: ", "command: ")
    quire.passes(*words)


@pytest.mark.parametrize(
    ("mode", "status", "texts"),
    [
        ("panic", 4, ("splat (panic)", "Kernel panic - not syncing", "whole log: ")),
        ("mute", 4, ("without a verdict", "whole log: ")),
        ("cut", 4, ("truncated",)),
        ("wrong", 1, ("wrong data: page 7 is wrong", "whole log: ")),
        ("small", 1, ("3 of 16 folios",)),
    ],
)
def test_a_bad_boot(
    quire: Quire, tree: Path, mode: str, status: int, texts: tuple[str, ...]
) -> None:
    words = ("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64")
    said(quire(*words, FAKE_QEMU=mode), status, *texts)
    assert not list(quire.build.glob("cell/*/run-*"))
    quire.passes(*words)


def test_a_guest_that_hangs(quire: Quire, tree: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    words = ("test", "--timeout", "1", "--source", str(tree), "ARCH=arm64")
    said(quire(*words, FAKE_QEMU="hang", FAKE_STARTED=str(started)), 4, "hung", "whole log: ")
    for pid in started.read_text().split():
        assert gone(int(pid))


def test_a_failed_case(quire: Quire, tree: Path) -> None:
    done = quire("test", "--source", str(tree), "ARCH=arm64", FAKE_QEMU="wrong")
    said(done, 1, "tests failed", "arm64-patched: fake.bad")


@pytest.mark.parametrize(
    "line",
    [
        "bench nonsense --source DIR",
        "bench --size 5 --source DIR",
        "bench ARCH=sparc64 --source DIR",
        "apply --only nonsense DIR",
        "build --config nowhere.config --source DIR",
        "tree six",
        "export DIR",
        "shell --source DIR",
    ],
)
def test_wrong_words(quire: Quire, tree: Path, line: str) -> None:
    said(quire(*line.replace("DIR", str(tree)).split()), 2)


def test_a_build_directory_kbuild_cannot_use(quire: Quire, tree: Path, tmp_path: Path) -> None:
    command = [*quire.command("build", "--source", str(tree))[:-1], f"O={tmp_path}/a b"]
    done = subprocess.run(
        command, env=quire.env(), capture_output=True, text=True, timeout=60, check=False
    )
    said(done, 2, "spaces or colons")


def test_no_apt(without: Callable[..., Quire]) -> None:
    quire = without("apt-get", "apt-cache")
    said(quire("build"), 2, "no apt", "--source DIR")


def test_a_tree_that_has_been_built_in(quire: Quire, tree: Path) -> None:
    (tree / ".config").write_text("")
    said(quire("build", "--source", str(tree)), 2, "contains build output", "mrproper")


def test_half_a_series_is_completed(quire: Quire, tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(tree, other)
    quire.passes("apply", "--only", "mremap", str(tree))
    done = quire.passes("apply", str(tree))
    assert "0001-mm-move-runs.patch (already applied)" in done.stdout
    quire.passes("apply", str(other))
    assert snapshot(tree) == snapshot(other)


def test_fuzz_is_refused(quire: Quire, tree: Path) -> None:
    """patch(1) would apply this with fuzz 1: only the outermost context line differs."""
    path = quire.project / "patches/linux-6.12.y/mremap/0001-mm-move-runs.patch"
    path.write_text(line_patch("mm: move runs", 8, "run 8").replace(" line 5\n", " line five\n"))
    before = snapshot(tree)
    refused = quire("apply", "--only", "mremap", str(tree))
    said(refused, 2, "0001-mm-move-runs.patch does not apply")
    assert snapshot(tree) == before
    assert [path.name for path in (tree / "mm").iterdir()] == ["mremap.c"]
