# SPDX-License-Identifier: GPL-2.0
"""`quire bisect` on fakes: the planted commit is found, and what cannot be tried is skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SOURCE, Quire, make_tree, said, snapshot
from test_checkout import git

ROW = ("mremap", "--size", "64", "ARCH=arm64")
COMMITS = 30
# The fake guest takes an instruction less for each character of mm/mremap.c.
LONG = "".join(f"a long line {number}, so that the kernel is cheap\n" for number in range(400))
PLANTED = 17


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Thirty commits; one makes the row cost more, two do not build, one loses the guest."""
    directory = make_tree(tmp_path / "history")
    git(directory, "init", "-q", "-b", "main")
    text = SOURCE + LONG
    for number in range(COMMITS):
        text = text.replace(LONG, "") if number == PLANTED else text
        text += f"// {number}\n"
        broken = {14: "#error\n", 22: "#error\n", 15: "// panic\n"}.get(number, "")
        (directory / "mm/mremap.c").write_text(text + broken)
        git(directory, "add", "-A", "-f")
        git(directory, "commit", "-q", "-m", f"mm: change {number}")
        git(directory, "tag", f"c{number}")
    return directory


def bisect(quire: Quire, history: Path, *words: str, **extra: str) -> dict[str, Any]:
    """The JSON of a bisection that finds one commit."""
    where = ("--git", str(history), "--good", "c0", "--bad", f"c{COMMITS - 1}", "--json")
    found = json.loads(quire.passes("bisect", *ROW, *where, *words, **extra).stdout)
    assert isinstance(found, dict)
    return found


def test_the_planted_commit_is_found(quire: Quire, history: Path) -> None:
    before = snapshot(history)
    found = bisect(quire, history)
    assert found["first_bad"] == [git(history, "rev-parse", f"c{PLANTED}")]
    assert found["subject"] == f"mm: change {PLANTED}"
    before_it, after_it = found["instructions"]
    assert before_it < found["limit"] < after_it
    assert list(found["symbols"]) == ["move_ptes"]
    assert len(found["tried"]) <= 14
    # The repository is only read.
    assert snapshot(history) == before
    # All that was measured is kept.
    assert bisect(quire, history, FAKE_QEMU="panic") == found


def test_the_answer_as_text(quire: Quire, history: Path) -> None:
    where = ("--git", str(history), "--good", "c10", "--bad", "c20", "--limit", "1")
    done = quire.passes("bisect", *ROW, *where)
    commit = git(history, "rev-parse", f"c{PLANTED}")
    assert f"{commit} is the first bad commit\nmm: change {PLANTED}\n" in done.stdout
    assert "move_ptes: " in done.stdout


def test_what_does_not_build_is_skipped(quire: Quire, history: Path) -> None:
    where = ("--git", str(history), "--good", "c11", "--bad", "c17")
    done = quire.passes("bisect", *ROW, *where)
    skipped = [line for line in done.stdout.splitlines() if line.startswith("skip")]
    assert [line.partition("  mm: ")[2].partition(" (")[0] for line in skipped] == [
        "change 14 ",
        "change 15 ",
    ]
    assert "did not build)" in done.stdout
    assert "(the guest printed a splat" in done.stdout


def test_a_counted_function_that_comes_and_goes(quire: Quire, history: Path) -> None:
    """The row's instructions are what is asked for; its calls are not."""
    git(history, "checkout", "-q", "-b", "gone", "c16")
    texts = [SOURCE + LONG, SOURCE + LONG + "without __get_user_pages\n", SOURCE, SOURCE + "// \n"]
    for number, text in enumerate(texts):
        (history / "mm/mremap.c").write_text(text)
        git(history, "commit", "-q", "-a", "-m", f"gone {number}")
    where = ("--git", str(history), "--good", "gone~3", "--bad", "gone", "ARCH=arm64")
    done = quire.passes("bisect", "gup", "--size", "64", *where)
    assert f"{git(history, 'rev-parse', 'gone~1')} is the first bad commit" in done.stdout
    (marked,) = [line for line in done.stdout.splitlines() if "no function" in line]
    assert marked.startswith("good ")
    assert marked.endswith("gone 1  (no function __get_user_pages)")


def test_only_skipped_revisions_are_left(quire: Quire, history: Path) -> None:
    git(history, "checkout", "-q", "-b", "other", "c16")
    for name, text in (("broken", SOURCE + "#error\n"), ("after", SOURCE)):
        (history / "mm/mremap.c").write_text(text)
        git(history, "commit", "-q", "-a", "-m", name)
    where = ("--git", str(history), "--good", "c16", "--bad", "other")
    done = quire("bisect", *ROW, *where)
    said(done, 1, "one of several that cannot be tested", "did not build", "after")


def test_bad_input_leaves_nothing(quire: Quire, history: Path) -> None:
    where = ("--git", str(history), "--good", "c16")
    said(quire("bisect", *ROW, *where, "--bad", "nope"), 2, "no revision 'nope'")
    said(quire("bisect", "mremapp", *where, "--bad", "c20"), 2, "unknown benchmark")
    said(
        quire("bisect", "mremap*", *where, "--bad", "c20"),
        2,
        "benchmarks on arm64, not one",
        "mremap-16m",
    )
    said(quire("bisect", *ROW, *where, "--bad", "c5"), 2, "c16 is not an ancestor of c5")
    assert not list(quire.build.glob("step*"))
    said(quire("bisect", *ROW, *where, "--bad", "c20", "--limit", "9"), 2, "by more than 9 %")


def test_a_good_one_that_costs_more(quire: Quire, history: Path) -> None:
    git(history, "checkout", "-q", "-b", "cheaper", "c29")
    (history / "mm/mremap.c").write_text(SOURCE + LONG + LONG)
    git(history, "commit", "-q", "-a", "-m", "cheaper")
    where = ("--git", str(history), "--good", "c29", "--bad", "cheaper")
    said(quire("bisect", *ROW, *where), 2, "--bad does not cost more than --good")


def test_a_version_of_its_own_begins_at_good(quire: Quire, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q", "-b", "main")
    git(tmp_path / "empty", "commit", "-q", "--allow-empty", "-m", "nothing")
    where = ("--git", str(tmp_path / "empty"), "--good", "main", "--bad", "main")
    said(quire("bisect", *ROW, *where), 2)
