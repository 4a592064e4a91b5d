# SPDX-License-Identifier: GPL-2.0
"""Inner loops of two trees, compiled and timed without a kernel."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from quire.arch import ARCHITECTURES
from quire.build import kernel
from quire.host.cache import Cache
from quire.host.errors import Difference, UserError
from quire.source.base import Base
from quire.source.tree import Tree
from quire.source.version import parse
from quire.timing import compare, leaf

ZERO = leaf.read()[0]
BY_WORD = """\
#define LAST (PAGE_SIZE / \\
	sizeof(long) - 1)
#define OTHER 1

static int unused(int a)
{
	return a;
}

static bool is_empty(const long *data)
{
	for (size_t at = 0; at <= LAST; at++) {
		if (data[at])
			return false;
	}
	return true;
}

static bool is_folio_zero_filled(struct folio *folio)
{
	return is_empty(kmap_local_folio(folio, 0));
}
"""
# Reads each word a hundred times.
SLOW = BY_WORD.replace(
    "		if (data[at])\n",
    "		for (int again = 0; again < 100; again++)\n"
    "			if (((const volatile long *)data)[at])\n	",
)


def tree(directory: Path, label: str, source: str) -> Tree:
    path = directory / label
    (path / "mm").mkdir(parents=True)
    (path / ZERO.file).write_text(source)
    return Tree(label, Base("test", parse("6.12.117"), "test", "0", path), None, path, label)


def timed(tmp_path: Path, a: str, b: str) -> list[compare.Verdict]:
    """The verdicts of these two sources."""
    native = next(arch for arch in ARCHITECTURES.values() if arch.machine == platform.machine())
    trees = [tree(tmp_path, "stock", a), tree(tmp_path, "patched", b)]
    program = leaf.build(Cache(tmp_path / "build"), kernel.toolchain(native), ZERO, trees)
    ticks: list[int] = []
    left, right = leaf.run(ZERO, program, trees, 7, ticks.append)
    assert ticks == [*range(7)]
    return compare.compare(left, right)


def test_what_a_function_uses_of_its_file_comes_before_it(tmp_path: Path) -> None:
    text = leaf.functions(ZERO, tree(tmp_path, "stock", BY_WORD))
    assert text.index("#define LAST") < text.index("is_empty(const") < text.index(ZERO.function)
    assert "sizeof(long) - 1)" in text
    assert "unused" not in text
    assert "OTHER" not in text


def test_a_tree_may_not_have_the_function(tmp_path: Path) -> None:
    for label, source in (("stock", ""), ("patched", "int is_folio_zero_filled;\n")):
        with pytest.raises(UserError, match=f"{label} has no is_folio_zero_filled"):
            leaf.functions(ZERO, tree(tmp_path, label, source))


def test_a_loop_that_reads_more_is_slower(tmp_path: Path) -> None:
    found = {verdict.row.name: verdict.verdict for verdict in timed(tmp_path, BY_WORD, SLOW)}
    names = [f"zero data={data} memory={memory}"
             for data in ("early", "late", "never") for memory in ("hot", "cold")]  # fmt: skip
    assert [*found] == names
    assert {found[f"zero data={data} memory=hot"] for data in ("late", "never")} == {compare.SLOWER}


def test_both_loops_must_say_the_same(tmp_path: Path) -> None:
    with pytest.raises(Difference, match="other data"):
        timed(tmp_path, BY_WORD, BY_WORD.replace("at <= LAST", "at < 8"))
