# SPDX-License-Identifier: GPL-2.0
"""Inner loops of two trees, compiled and timed without a kernel."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from quire.arch import ARCHITECTURES
from quire.host.cache import Cache
from quire.host.errors import Difference, UserError
from quire.kernels import kernel
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


def timed(tmp_path: Path, a: str, b: str, runs: int = 7) -> list[compare.Verdict]:
    """The verdicts of these two sources."""
    native = next(arch for arch in ARCHITECTURES.values() if arch.machine == platform.machine())
    trees = [tree(tmp_path, "stock", a), tree(tmp_path, "patched", b)]
    program = leaf.build(Cache(tmp_path / "build"), kernel.toolchain(native), ZERO, trees)
    ticks: list[int] = []
    left, right = leaf.run(ZERO, program, trees, runs, ticks.append)
    assert ticks == [*range(runs)]
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
    words = ("word-0", "word-1", "word-256", "word-510", "word-511", "none")
    names = [f"zero data={word} memory={memory}" for word in words for memory in ("hot", "cold")]
    assert [*found] == ["zero data=unread memory=hot", *names]
    read = [found[f"zero data={word} memory=hot"] for word in ("word-256", "word-511", "none")]
    assert {*read} == {compare.SLOWER}


def test_few_runs_tell_nothing(tmp_path: Path) -> None:
    assert {verdict.verdict for verdict in timed(tmp_path, BY_WORD, SLOW, runs=2)} == {
        compare.NOT_SIGNIFICANT
    }


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("at < 8", "side b is wrong about 64 of 64 pages, data in word-256"),
        ("(at < 8 || *(volatile long *)0)", "ended with status -11"),
    ],
)
def test_a_loop_that_is_wrong_has_no_times(tmp_path: Path, loop: str, told: str) -> None:
    with pytest.raises(Difference, match=told):
        timed(tmp_path, BY_WORD, BY_WORD.replace("at <= LAST", loop))
