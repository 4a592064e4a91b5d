# SPDX-License-Identifier: GPL-2.0
"""Seeded bugs: which are looked for, found, missed and left out, and what is recorded."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from fuzz_records import Capture, Patch, applying, fake_run, side
from known import ARM64

from quire.fuzz import detect, report, runner
from quire.fuzz.detect import Search
from quire.fuzz.difference.compare import Judgement
from quire.fuzz.difference.judge import DifferenceJudge
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.programs import Programs
from quire.fuzz.runner import Target, Targets, Watch
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.host.progress import Progress
from quire.test import seeded
from quire.test.seeded import Bug

LOSE, HIDE = (Bug(name, "", ("arm64",), ("a.b",)) for name in ("lose", "hide"))
ODD = Bug("odd", "", ("arm64",), ("a.b",), no_program="as before")


def search(directory: Path, limit: int) -> Search[Judgement]:
    targets = Targets(tuple(side(directory, has_series=has) for has in (False, True)))
    make = partial(DifferenceJudge, excuses=applying())
    return Search(make, targets, Programs(limit), Cache(directory / "build"), pages=False)


def test_bugs_are_found_missed_or_left_out(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    monkeypatch.setattr(runner, "run", fake_run)
    searched = search(tmp_path, 300)
    results = detect.look_for_all(searched, [LOSE, HIDE, ODD], tmp_path / "out", Progress())
    lose, hide, odd = results
    assert lose.finding
    assert [op.verb for op in lose.finding.program] == ["move"]
    assert lose.finding.sides == ("stock", "patched quire_bug=lose")
    assert lose.programs == lose.finding.number + 1
    assert (tmp_path / f"out/lose/finding-{lose.finding.number}/b.log").exists()
    assert (hide.programs, hide.missed, odd.missed) == (300, True, False)
    said = capsys.readouterr().err
    assert "hide: missed in 300 programs" in said
    assert "odd: not looked for: as before" in said
    report.show_bugs(ARM64, searched.make(searched.targets), results, as_json=True)
    rows = json.loads(capsys.readouterr().out)["bugs"]
    assert [row["operations"] for row in rows] == [1, None, None]
    report.show_bugs(ARM64, searched.make(searched.targets), results, as_json=False)
    assert "as before" in capsys.readouterr().out


def test_records_without_a_bug_are_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    runs: list[str] = []

    def counted(
        target: Target,
        programs: Mapping[int, Program],
        losses: int | None = None,
        watch: Watch | None = None,
    ) -> dict[int, Record]:
        runs.append(target.label)
        return fake_run(target, programs, losses, watch)

    monkeypatch.setattr(runner, "run", counted)
    for _ in range(3):
        detect.look_for(search(tmp_path, 20), HIDE)
    assert runs.count("stock") == runs.count("patched") == 1
    assert runs.count("patched quire_bug=hide") == 3


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
