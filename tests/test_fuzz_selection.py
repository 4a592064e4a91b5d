# SPDX-License-Identifier: GPL-2.0
"""The seeded bugs that the fuzzer looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.fuzz import detect
from quire.host.errors import UserError
from quire.test import seeded
from quire.test.seeded import Bug

FOLDERS = sorted((Path(__file__).parent.parent / "lines").glob("*/seeded"))
BUGS = [Bug(name, "", ("arm64",), ("a.b",), fuzzed=name == "lose") for name in ("lose", "hide")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.parent.name)
def test_some_of_each_topic_are_chosen_on_each_architecture(folder: Path) -> None:
    known = seeded.read(folder)
    chosen = detect.choose(known, [])
    assert detect.choose(known, [detect.EVERY]) == known
    assert [bug.name for bug in detect.choose(known, ["no-flush"])] == ["no-flush"]
    for arch in ("arm64", "x86_64"):
        seen = [bug for bug in chosen if bug.seen_on(arch, ())]
        topics = {case.partition(".")[0] for bug in seen for case in bug.cases}
        assert topics >= {"mremap", "ksm", "lazyfree", "swapout"}


def test_bugs_are_chosen() -> None:
    assert detect.choose(BUGS, []) == BUGS[:1]
    assert detect.choose(BUGS[1:], []) == BUGS[1:]
    assert detect.choose(BUGS, ["hide"]) == BUGS[1:]
    with pytest.raises(UserError, match="no such seeded bug: loose"):
        detect.choose(BUGS, ["loose"])
