# SPDX-License-Identifier: GPL-2.0
"""--shard I/N: the parts of the work together are the whole, and no two of them overlap."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest
from conftest import Quire, line_patch, said
from hypothesis import given
from hypothesis import strategies as st
from known import bug

from quire.commands import options
from quire.commands.options import Shard
from quire.host.errors import UserError


@given(st.integers(1, 60), st.data())
def test_the_parts_are_the_whole(count: int, data: st.DataObject) -> None:
    of = data.draw(st.integers(1, count))
    parts = [options.part_of(f"{number}/{of}") for number in range(1, of + 1)]
    items = [item for part in parts for item in part.some(range(count))]
    assert sorted(items) == list(range(count))
    assert [n for part in parts for n in part.range(count)] == list(range(count))
    sizes = [len(part.some(range(count))) for part in parts]
    sizes += [len(part.range(count)) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "-1/3", "1/0", "a/b", "1/3/5", "1/3 "])
def test_nonsense_is_a_usage_error(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not I/N"):
        options.part_of(text)


def test_an_empty_part_is_refused() -> None:
    for part in (Shard(4, 4).some, lambda items: Shard(1, 4).range(len(items))):
        with pytest.raises(UserError, match="is empty"):
            part(range(3))
    assert options.WHOLE.some([]) == []


def test_a_usage_error_of_the_command(quire: Quire) -> None:
    for words in (("test", "--shard", "3/2"), ("fuzz", "compare", "--shard", "two")):
        done = quire(*words)
        assert done.returncode == 2
        assert "is not I/N with I from 1 to N" in done.stderr


def test_bench_counts_its_rows(quire: Quire, tree: Path) -> None:
    def rows(*words: str) -> list[str]:
        done = quire("bench", "mremap", "munmap", *words, "--source", str(tree), "ARCH=arm64",
                     "--json", "-q")  # fmt: skip
        assert done.returncode == 0, done.stderr
        return [json.dumps(row) for row in json.loads(done.stdout)["architectures"][0]["rows"]]

    whole = rows()
    assert sorted(rows("--shard", "1/2") + rows("--shard", "2/2")) == sorted(whole)


def test_seeded_lists_its_bugs(quire: Quire, tree: Path) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir()
    bugs = "".join(bug(f"bug-{n}", "fake.bad") for n in (1, 2, 3))
    (folder / "bugs.toml").write_text(bugs)
    (folder / "series").write_text("bug.patch\n")
    (folder / "bug.patch").write_text(line_patch("a bug", 14, "bug 14"))
    done = quire("seeded", "--list", "--shard", "1/2", "--source", str(tree), "-q")
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["bug-1", "bug-3"]


def test_the_guest_chooses_its_cases(quire: Quire, tree: Path) -> None:
    words = ("test", "--source", str(tree), "ARCH=arm64", "-q", "--shard", "2/3")
    assert quire(*words).returncode == 0
    (command,) = quire.build.glob("boot/test-*/command")
    assert "quire_shard=2/3" in command.read_text()
    said(quire(*words, "--list"), 2, "--shard has no effect with --list")


def test_the_guest_leaves_sizes_out(quire: Quire, tree: Path) -> None:
    words = ("test", "--source", str(tree), "ARCH=arm64", "-q", "--size", "4", "--size", "64")
    assert quire(*words).returncode == 0
    (command,) = quire.build.glob("boot/test-*/command")
    assert "quire_without_sizes=16,256,1024,2048" in command.read_text()
    said(quire(*words, "--all"), 2, "--size has no effect with --all")
    assert quire(*words, "--size", "5").returncode == 2


def test_fuzz_runs_its_programs(quire: Quire, tree: Path) -> None:
    def ran(*words: str) -> list[str]:
        done = quire("fuzz", "compare", "--no-coverage", "--programs", "3", "--seed", "5", *words,
                     "--source", str(tree), "ARCH=arm64", "-q")  # fmt: skip
        assert done.returncode == 0, done.stderr
        initrd = next(quire.build.glob("boot/fuzz-*/initrd")).read_bytes().decode(errors="replace")
        return [
            text.partition("0707")[0].strip("\0") for text in re.split(r"program \d+\n", initrd)[1:]
        ]

    assert ran("--shard", "1/2") + ran("--shard", "2/2") == ran()
