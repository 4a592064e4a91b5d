# SPDX-License-Identifier: GPL-2.0
"""The seeded bugs that the fuzzer looks for, and those it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.fuzz import detect
from quire.fuzz.detect import Selection
from quire.host.errors import UserError
from quire.test import seeded
from quire.test.seeded import Bug

TABLES = sorted((Path(__file__).parent.parent / "lines").glob("*/seeded/bugs"))
BUGS = [Bug(name, "", "", ("arm64",), ("a.b",)) for name in ("lose", "hide", "odd")]


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.parent.name)
def test_chosen_bugs_are_there_and_not_left_out(table: Path) -> None:
    known, ours = seeded.read(table), detect.selection(table.parent)
    names = {bug.name for bug in known}
    assert ours.chosen
    assert {*ours.chosen, *ours.left_out} <= names
    assert not {*ours.chosen} & {*ours.left_out}
    assert {bug.name for bug in ours.bugs(known, [])} == {*ours.chosen}
    assert ours.bugs(known, [detect.EVERY]) == known
    assert [bug.name for bug in ours.bugs(known, ["no-flush"])] == ["no-flush"]


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.parent.name)
def test_some_of_each_topic_are_chosen_on_each_architecture(table: Path) -> None:
    chosen = detect.selection(table.parent).bugs(seeded.read(table), [])
    for arch in ("arm64", "x86_64"):
        seen = [bug for bug in chosen if bug.seen_on(arch, ())]
        topics = {case.partition(".")[0] for bug in seen for case in bug.cases}
        assert topics >= {"mremap", "ksm", "lazyfree", "swapout"}


def test_without_a_table_every_bug_is_looked_for(tmp_path: Path) -> None:
    assert detect.selection(tmp_path) == Selection()
    assert detect.selection(tmp_path).bugs(BUGS, []) == BUGS


def test_rows_are_read(tmp_path: Path) -> None:
    (tmp_path / detect.FILE).write_text(
        "# why\nlose | chosen |\n\nodd | not looked for | as before\n"
    )
    found = detect.selection(tmp_path)
    assert found == Selection(("lose",), {"odd": "as before"})
    assert found.bugs(BUGS, []) == BUGS[:1]
    assert found.bugs(BUGS, ["odd"]) == BUGS[2:]


@pytest.mark.parametrize(
    "row", ["lose | perhaps |", "lose | chosen | why", "lose | not looked for |", "lose | chosen"]
)
def test_a_row_that_is_wrong_is_named(tmp_path: Path, row: str) -> None:
    (tmp_path / detect.FILE).write_text(f"hide | chosen |\n{row}\n")
    with pytest.raises(UserError) as caught:
        detect.selection(tmp_path)
    assert str(tmp_path / detect.FILE) in caught.value.where
    assert "lose" in caught.value.where
    assert "chosen" in caught.value.remedy


def test_a_name_that_no_bug_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / detect.FILE).write_text("loose | chosen |\n")
    for names in ([], ["loose"]):
        with pytest.raises(UserError, match="no such seeded bug: loose"):
            detect.selection(tmp_path).bugs(BUGS, names)
