# SPDX-License-Identifier: GPL-2.0
"""Which seeded bugs the fuzzer's self-test looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.fuzz import detection
from quire.test import seeded

TABLES = sorted((Path(__file__).parent.parent / "lines").glob("*/seeded/bugs"))


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.parent.name)
def test_chosen_bugs_are_there_and_within_reach(table: Path) -> None:
    known = seeded.read(table)
    names = {bug.name for bug in known}
    assert set(detection.CHOSEN) | set(detection.OUT_OF_REACH) <= names
    assert not set(detection.CHOSEN) & set(detection.OUT_OF_REACH)
    assert {bug.name for bug in detection.choose(known, [])} == set(detection.CHOSEN)
    assert detection.choose(known, [detection.EVERY]) == known
    assert [bug.name for bug in detection.choose(known, ["no-flush"])] == ["no-flush"]


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.parent.name)
def test_some_of_each_series_are_chosen_on_each_architecture(table: Path) -> None:
    chosen = detection.choose(seeded.read(table), [])
    for arch in ("arm64", "x86_64"):
        seen = [bug for bug in chosen if bug.seen_on(arch, ())]
        series = {case.partition(".")[0] for bug in seen for case in bug.cases}
        assert series >= {"mremap", "ksm", "lazyfree", "swapout"}
