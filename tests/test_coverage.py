# SPDX-License-Identifier: GPL-2.0
"""Coverage of the patches: whose line it is, where its code is, and what is said of it."""

from __future__ import annotations

import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from conftest import Quire, line_patch, make_tree
from guest_cases import cases
from known import ARM64, toml

from quire.coverage import added, code, reached, variants
from quire.coverage.added import Added
from quire.coverage.reached import Unreached
from quire.coverage.variants import Covered
from quire.host.errors import UserError
from quire.kernels import objects
from quire.kernels.kernel import Kernel, Toolchain
from quire.source import series
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.tree import Tree
from quire.source.version import parse

SOURCE = """\
#include "../include/linux/slab.h"
int other(void) { return 3; }
__attribute__((section(".init.text"))) int begin(void)
{
	return 1;
}
int twice(int a)
{
	return half(a) + other();
}
"""
HEADER = "static inline int half(int a)\n{\n\treturn a >> 1;\n}\n"


def kernel(objdir: Path) -> Kernel:
    base = Base("test", parse("6.12.117"), "test", "0", objdir.parent)
    return Kernel(ARM64, Tree("test", base, None, objdir.parent), "", Toolchain("", ""), objdir, "")


def patches(folder: Path, *texts: str) -> list[Patch]:
    """Patches named a, b, …"""
    names = "abc"[: len(texts)]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text)
    return [Patch(name, folder / name) for name in names]


def test_a_line_is_of_the_patch_that_changed_it_last(tmp_path: Path) -> None:
    base, tree = make_tree(tmp_path / "base"), make_tree(tmp_path / "tree")
    both = patches(tmp_path, line_patch("One", 20, "int f(int a)"), line_patch("Two", 30, "\tx();"))
    again = line_patch("Three", 30, "\ty();").replace("-line 30", "-\tx();")
    (tmp_path / "c").write_text(again)
    file = tree / "mm/mremap.c"
    text = file.read_text().replace("line 20\n", "int f(int a)\n").replace("line 30", "\ty();")
    file.write_text(text)
    found = added.lines(base, tree, [*both, Patch("c", tmp_path / "c")])
    assert found == [
        Added("mm/mremap.c", 20, "int f(int a)", "f", "a"),
        Added("mm/mremap.c", 30, "y();", "f", "c"),
    ]
    file.write_text(f"another\n{text}")
    with pytest.raises(UserError, match="differs from the base with these patches"):
        added.lines(base, tree, [*both, Patch("c", tmp_path / "c")])


def test_every_patch_of_the_series_has_lines() -> None:
    """Except for the covers, which are no patches."""
    root = Path(__file__).parent.parent
    for folder, version in (("linux-6.12.y", "6.12.117"), ("linux-7.3.y", "7.3.4")):
        for patch in series.select(root / "patches" / folder, parse(version)).patches:
            assert any(file.added + file.removed for file in patch.parsed()), patch.name


def test_code_is_found_by_the_line_table(tmp_path: Path) -> None:
    for name, text in (("mm/rmap.c", SOURCE), ("include/linux/slab.h", HEADER)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    objdir, built = tmp_path / "o", tmp_path / "o/rmap.o"
    objdir.mkdir()
    argv = ["cc", "-g", "-O2", "-fno-inline-small-functions", "-c", "../mm/rmap.c"]
    argv += ["-o", str(built)]
    subprocess.run(argv, cwd=objdir, check=True)
    functions = objects.functions(built)
    assert functions.keys() == {"other", "twice"}
    wanted = {("mm/rmap.c", 2), ("mm/rmap.c", 5), ("include/linux/slab.h", 3)}
    table = code._table(kernel(objdir), wanted, built)
    # A constant, and what is in another section is not there.
    assert {line for _, lines in table.values() for line in lines} == wanted - {("mm/rmap.c", 5)}
    assert table.keys() >= {start for start, _ in functions.values()}
    assert max(end for end, _ in table.values()) == len(objects.code(built))


def test_lines_that_ran_are_known_by_their_addresses(tmp_path: Path) -> None:
    table = {
        0: (0xC, {("mm/rmap.c", 1134)}),
        0xC: (0x18, {("mm/rmap.c", 1139)}),
        0x20: (0x28, {("mm/rmap.c", 1134)}),
    }
    assert code.symbols(table) == "0 0\nc c\n18 -\n20 20\n28 -\n"
    counts = tmp_path / "counts"
    counts.write_text(
        "quire-count 2 aarch64\nregion 0 runs 1 insns 9 user 0 kernel 9 other 0\n"
        "sym 0 0 0 0\nsym 0 c 2 1\nsym 0 - 7 1\nend\n"
    )
    assert code.executed(table, counts) == {("mm/rmap.c", 1139)}


def test_a_changed_header_is_looked_for_beside_what_is_changed(tmp_path: Path) -> None:
    for name in ("mm/uses", "mm/other", "arch/arm64/mm/uses", "fs/uses"):
        for path in (tmp_path / f"{name}.c", tmp_path / f"o/{name}.o"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("other();" if "other" in name else "clear();")
    header = Added("include/x.h", 1, "x();", "clear", "p")
    built = kernel(tmp_path / "o")
    assert code._sources(built, [header]) == ["arch/arm64/mm/uses.c", "mm/uses.c"]
    change = Added("mm/other.c", 1, "y();", "other", "p")
    assert code._sources(built, [header, change]) == ["mm/other.c", "mm/uses.c"]


LINES = [Added("mm/a.c", n, text, "f", "p") for n, text in ((1, "{"), (2, "x();"), (3, "y();"))]
COVERED = Covered(frozenset({("mm/a.c", 2), ("mm/a.c", 3)}), frozenset({("mm/a.c", 2)}))


def test_lines_without_code_do_not_count() -> None:
    result = reached.judge("arm64", LINES, COVERED, [])
    assert (result.total.lines, result.total.ran, result.total.left) == (2, 1, 1)
    assert result.share == 0.5
    assert result.never == ((LINES[2], ""),)


def test_a_reason_that_no_longer_holds_is_told() -> None:
    entries = [
        Unreached("mm/a.c", "f", ("x();", "y();"), ("arm64",), "a race"),
        Unreached("mm/a.c", "f", ("gone();",), ("x86_64",), "no such CPU"),
    ]
    result = reached.judge("arm64", LINES, COVERED, entries)
    assert result.never == ((LINES[2], "a race"),)
    assert (result.total.cannot, result.share) == (1, 1.0)
    assert result.stale == ("mm/a.c: f(): x();",)


def test_an_entry_says_why(tmp_path: Path) -> None:
    words = {"file": "mm/a.c", "function": "f", "lines": ["x();"], "architectures": ["arm64"]}
    (tmp_path / "unreached").write_text(toml("unreached", **words))
    with pytest.raises(UserError) as error:
        reached.read(tmp_path / "unreached")
    assert "lacks 'why'" in error.value.where
    assert reached.read(tmp_path / "none") == []


def test_two_equal_sides_have_no_patch(quire: Quire, tree: Path) -> None:
    (quire.project / "patches/linux-6.12.y/series").write_text("")
    done = quire("coverage", "--source", str(tree), "ARCH=arm64")
    assert done.returncode == 2, done.stderr
    assert "no patch" in done.stderr


def test_the_variants_run_every_case() -> None:
    root = Path(__file__).parent.parent
    known = variants.variants(root / "lines/coverage.toml")
    patterns = [pattern for variant in known if variant.corpus for pattern in variant.cases]
    assert [
        name
        for name in cases()
        # The suites that the kernel itself has are in another kernel.
        if not name.startswith(("kunit.", "selftest."))
        and not any(fnmatchcase(name, pattern) for pattern in patterns)
    ] == []
    for variant in known:
        assert all((root / "configs" / name).is_file() for name in variant.fragments)
