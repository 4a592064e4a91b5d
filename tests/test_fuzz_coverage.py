# SPDX-License-Identifier: GPL-2.0
"""BlockCoverage: functions, basic blocks, reached blocks, and the source lines of the others."""

import platform
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from known import ARM64, X86_64

from quire.arch import Architecture
from quire.fuzz.coverage import blocks, guide
from quire.fuzz.coverage.blocks import Block
from quire.fuzz.coverage.guide import BlockCoverage
from quire.host import process
from quire.host.errors import GuestLost, UserError
from quire.host.process import Finished
from quire.kernels.kernel import Kernel, Toolchain
from quire.source import series
from quire.source.base import Base
from quire.source.tree import Tree
from quire.source.version import parse

ARM_LISTING = """
ffff800080001000 <walk>:
ffff800080001000:\tpaciasp
ffff800080001004:\tcbz\tx0, ffff800080001014 <walk+0x14>
ffff800080001008:\tbl\tffff800080009000 <other>
ffff80008000100c:\tb.ne\tffff800080001000 <walk>  // b.any
ffff800080001010:\tret
ffff800080001014:\tb\tffff800080009100 <elsewhere>
ffff800080001018:\tnop
"""
X86_LISTING = """
ffffffff81001000:\ttest   %rdi,%rdi
ffffffff81001003:\tje     ffffffff8100100d <walk+0xd>
ffffffff81001005:\tcall   ffffffff81009000 <other>
ffffffff8100100a:\tjmp    ffffffff81009000 <other>
ffffffff8100100d:\tret
ffffffff8100100e:\tint3
"""


def kernel(arch: Architecture, objdir: Path) -> Kernel:
    base = Base("test", parse("6.12.117"), "test", "0", objdir.parent)
    tree = Tree("test", base, None, objdir.parent)
    return Kernel(arch, tree, "", Toolchain("", ""), objdir, "")


def test_the_series_names_its_functions() -> None:
    chosen = series.select(ROOT / "patches/linux-6.12.y", parse("6.12.117"))
    names = guide.touched(chosen)
    assert {"try_to_unmap_one", "mremap_pte_batch", "rmap_walk_ksm", "unmap_clear_run"} <= names
    assert {"unmap_hugetlb_pte", "swap_duplicate_upto", "is_page_zero_filled"} <= names
    # These functions end before the hunk begins, though its header may name them.
    assert not names & {"generic_swapfile_activate", "get_swap_pages", "swapcache_prepare"}
    assert not names & {"if", "return", "for", "while", "switch"}


@pytest.mark.parametrize(
    ("arch", "listing", "start", "offsets"),
    [
        (ARM64, ARM_LISTING, 0xFFFF800080001000, [0, 8, 0x10, 0x14]),
        (X86_64, X86_LISTING, 0xFFFFFFFF81001000, [0, 5, 0xD]),
    ],
)
def test_blocks_begin_at_branches_and_targets(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arch: Architecture,
    listing: str,
    start: int,
    offsets: list[int],
) -> None:
    monkeypatch.setattr(process, "query", lambda *_argv: Finished(0, listing))
    (tmp_path / "System.map").write_text(f"{start:x} T walk.part.0\n{start + 0x20:x} t next\n")
    found, symbols = guide.prepare(kernel(arch, tmp_path), ["walk", "gone"], [], tmp_path / "work")
    assert [block.offset for block in found.blocks] == offsets
    rows = symbols.read_text().splitlines()
    assert rows[0] == f"{start:x} walk.part.0+0x0"
    assert rows[-1] == f"{start + 0x20:x} -"


def test_an_architecture_without_known_branches_is_named(tmp_path: Path) -> None:
    arch = replace(ARM64, name="riscv", guest="riscv")
    (tmp_path / "System.map").write_text("1000 T walk\n1020 t next\n")
    with pytest.raises(UserError, match="does not support riscv") as caught:
        guide.prepare(kernel(arch, tmp_path), ["walk"], [], tmp_path / "work")
    assert "arm64" in caught.value.where
    assert "--no-coverage" in caught.value.remedy


def test_what_was_reached_and_what_is_new(tmp_path: Path) -> None:
    made = [Block(0x1000 + offset, "walk", offset, "walk") for offset in (0, 8, 16)]
    made.append(Block(0x2000, "never.isra.0", 0, "never"))
    found = BlockCoverage(made)
    counts = tmp_path / "counts"
    head = "quire-count 2 aarch64\n"
    counts.write_text(f"{head}sym 0 walk+0x0 4 2\nsym 0 - 9 0\nsym 1 walk+0x0 2 1\nend\n")
    assert found.add(counts) == {0: {"walk+0x0"}}
    counts.write_text(f"{head}sym 0 walk+0x0 2 1\nsym 1 walk+0x8 3 3 atomic=1\nend\n")
    assert found.add(counts) == {1: {"walk+0x8"}}
    assert found.functions() == [("never", 0, 0, 1), ("walk", 4, 2, 3)]
    assert [block.name for block in found.unreached()] == ["walk+0x10"]


def test_unreached_lines_of_the_series_come_first(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for tree, text in ((old, "a\nb\nc\n"), (new, "a\nx\ny\nb\nz\n")):
        (tree / "mm").mkdir(parents=True)
        (tree / "mm/foo.c").write_text(text)
    (new / "mm/foo.h").write_text("n\n")
    lines = guide.added(old, new, ["mm/foo.c", "mm/foo.h"])
    assert lines == {"mm/foo.c:2", "mm/foo.c:3", "mm/foo.c:5", "mm/foo.h:1"}
    found_at = ["mm/foo.c:10", "mm/foo.c:5", "mm/foo.c:4", "", "mm/foo.c:2"]
    made = [Block(0x1000 + n, "walk", n, "walk", line) for n, line in enumerate(found_at)]
    made.append(Block(0x2000, "never", 0, "never"))
    found = BlockCoverage(made, {"walk+0x4": 1}, lines)
    ours, others = guide.missed(found)
    assert ours == ["mm/foo.c:5 (walk)"]
    assert others == [
        "never, never called",
        "walk+0x3 (walk)",
        "mm/foo.c:4 (walk)",
        "mm/foo.c:10 (walk)",
    ]


def test_counts_that_are_cut_short(tmp_path: Path) -> None:
    found = BlockCoverage([])
    (tmp_path / "counts").write_text("quire-count 2 aarch64\nsym 0 walk+0x0 4 2\n")
    for name in ("counts", "none"):
        with pytest.raises(GuestLost):
            found.add(tmp_path / name)


INLINED = """
static inline int thrice(int n)
{
	if (n > 3) {
		asm volatile("nop");
		return n * 3;
	}
	asm volatile("");
	return n + 1;
}
int walk(int n);
int walk(int n)
{
	if (n)
		return thrice(n);
	return 7;
}
int other(int n);
int other(int n)
{
	return n * n;
}
"""


def test_inlined_functions_are_found_where_they_are(tmp_path: Path) -> None:
    objdir = tmp_path / "linux/o-x"
    (objdir / "mm").mkdir(parents=True)
    (tmp_path / "linux/mm").mkdir()
    (tmp_path / "linux/mm/foo.c").write_text(INLINED)
    command = "gcc -O2 -fcf-protection=none -Wp,-MMD,mm/.foo.o.d -c -o mm/foo.o ../mm/foo.c"
    subprocess.run(command.split(), cwd=objdir, check=True)
    (objdir / "mm/.foo.o.cmd").write_text(f"savedcmd_mm/foo.o := {command}\n\nsource_x := y\n")
    link = "ld -o vmlinux --entry=walk -Ttext=0xffffffff81001000 mm/foo.o"
    subprocess.run(link.split(), cwd=objdir, check=True)
    symbols = subprocess.run(["nm", "vmlinux"], cwd=objdir, check=True, capture_output=True).stdout
    (objdir / "System.map").write_bytes(b"".join(sorted(symbols.splitlines(keepends=True))))
    arch = ARM64 if platform.machine() == ARM64.machine else X86_64
    before = sorted(path.name for path in objdir.rglob("*"))
    names = ["thrice", "gone"]
    found = blocks.find(kernel(arch, objdir), names, ["mm/foo.c", "mm/none.c"], tmp_path / "work")
    assert found
    assert {(block.function, block.symbol) for block in found} == {("thrice", "walk")}
    assert {block.line for block in found} <= {f"mm/foo.c:{line}" for line in range(2, 12)}
    assert sorted(path.name for path in objdir.rglob("*")) == before
