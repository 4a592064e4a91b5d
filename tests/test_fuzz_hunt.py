# SPDX-License-Identifier: GPL-2.0
"""Hunts for differences: from numbers to findings, their files and output; seeded bugs."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from conftest import ROOT
from fuzz_records import REDIRTIED, Capture, Patch, applying, fake_run, read, run, side
from known import ARM64

from quire import cli
from quire.boot import launch
from quire.commands import fuzz as command
from quire.fuzz import detect, hunt, programs, runner, show
from quire.fuzz.detect import Search
from quire.fuzz.difference.differences import DifferenceJudge, Judgement
from quire.fuzz.difference.excuses import Rule
from quire.fuzz.hunt import Hunt
from quire.fuzz.judge import Finding
from quire.fuzz.language import program
from quire.fuzz.language.program import Numbered
from quire.fuzz.language.record import Record
from quire.fuzz.programs import Programs
from quire.fuzz.promise import rules
from quire.fuzz.runner import Target, Targets, Watch
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.host.progress import Progress
from quire.suites import seeded
from quire.suites.seeded import Bug

QUIET = Progress(quiet=True)


@pytest.fixture(autouse=True)
def no_boots(monkeypatch: Patch) -> None:
    monkeypatch.setattr(runner, "run", fake_run)


def made(directory: Path, bug: str = "") -> Hunt:
    """A hunt whose side b may lose pages."""
    b = replace(side(directory, has_series=True), parameters=(f"quire_bug={bug}",) if bug else ())
    targets = Targets((side(directory, has_series=False), b))
    return Hunt(targets, [DifferenceJudge(applying())], directory / "out")


def test_sides_that_agree(tmp_path: Path, capsys: Capture) -> None:
    one = made(tmp_path)
    one.run(Programs(30), 5, QUIET)
    assert one.judges[0].tally.programs == 30
    assert one.problems == []
    show.show(one, as_json=False)
    text = capsys.readouterr().out
    assert "arm64: 30 programs on stock and patched" in " ".join(text.split())
    assert "0 findings" in text


def test_a_difference_is_shrunk_and_written(tmp_path: Path, capsys: Capture) -> None:
    one = made(tmp_path, "lose")
    one.run(Programs(200), 2, QUIET)
    first, second = one.findings
    assert [op.verb for op in first.program] == ["move"]
    assert first.program[0].range
    assert first.program[0].range.count == 1
    paths = [tmp_path / f"out/finding-{found.number}/program.fuzz" for found in (first, second)]
    assert [line.split(": ")[:2] for line in one.problems] == [
        ["arm64", str(path)] for path in paths
    ]
    log = (paths[0].parent / "b.log").read_text()
    assert log.startswith("# side b: patched quire_bug=lose\no 0 ok\n")
    show.show(one, as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["sides"] == {"a": "stock", "b": "patched quire_bug=lose"}
    assert printed["findings"][0]["differences"] == first.fault.differences
    again = made(tmp_path, "lose")
    again.run(Programs(given=programs.read(paths[:1])[0]), 5, QUIET)
    assert [found.number for found in again.findings] == [0]


def test_a_hunt_stops_after_enough_findings(tmp_path: Path) -> None:
    one = made(tmp_path, "lose")
    one.run(Programs(3 * hunt.BATCH), 1, QUIET)
    assert one.judges[0].tally.programs == hunt.BATCH
    assert len(one.findings) == 1


def test_without_a_limit_all_programs_run(tmp_path: Path) -> None:
    one = made(tmp_path, "lose")
    one.run(Programs(hunt.BATCH + 20), 0, QUIET)
    assert one.judges[0].tally.programs == hunt.BATCH + 20
    assert len(one.problems) == len(one.findings) > 1


def test_an_excuse_is_printed_with_its_reason(tmp_path: Path, capsys: Capture) -> None:
    one = made(tmp_path)
    one.judges[0].tally.excused[Rule.HELD] = 3
    show.show(one, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert f"excused in 3 programs: held ({applying()[Rule.HELD]})" in text


def test_faults_are_put_into_generated_programs() -> None:
    plain, faulty = Programs(1, seed=3), Programs(1, seed=3, faults=True)
    seen = {op.verb for n in range(50) for op in faulty.program(n)}
    assert "fail" in seen
    for number in range(50):
        without = tuple(op for op in faulty.program(number) if op.verb != "fail")
        assert without == plain.program(number)[: len(without)]


def test_faults_need_a_kernel_that_can_make_them(tmp_path: Path, monkeypatch: Patch) -> None:
    target = side(tmp_path, has_series=True)
    session: Any = SimpleNamespace(
        kernel=lambda *_: target.kernel,
        guest=lambda *_: target.guest,
        cache=None,
        place=launch.HERE,
    )
    monkeypatch.setattr(launch, "workdir", lambda *_: tmp_path)
    sides: Any = SimpleNamespace(a=mock.Mock(), b=mock.Mock())
    words = ("fuzz", "compare", "--faults")
    arguments = cli.parser(words).parse_args(words)
    (tmp_path / ".config").write_text("CONFIG_SWAP=y\n")
    with pytest.raises(UserError) as caught:
        command._targets(session, arguments, sides, ARM64)
    assert command.FAULTS in caught.value.where
    (tmp_path / ".config").write_text(f"{command.FAULTS}=y\n")
    assert len(command._targets(session, arguments, sides, ARM64).all) == 2


def test_files_of_programs(tmp_path: Path) -> None:
    files = programs.corpus(ROOT)
    given, known = programs.read(files)
    assert len(given) == len(files) >= 20
    assert len({*given.values()}) == len(files), "one is there twice"
    breaks = {files[number].stem: rule for number, rule in known.items()}
    assert breaks["stock-swaps-locked"] == rules.LOCKED.name
    names = {rule.name for rule in vars(rules).values() if isinstance(rule, rules.Promise)}
    assert {*breaks.values()} <= names
    with pytest.raises(UserError, match="there is no corpus"):
        programs.corpus(tmp_path)
    with pytest.raises(UserError, match="cannot read a program"):
        programs.read([tmp_path / "none.fuzz"])
    (tmp_path / "bad.fuzz").write_text("0 wrote A 0 1\n")
    with pytest.raises(UserError) as caught:
        programs.read([tmp_path / "bad.fuzz"])
    assert "bad.fuzz:1: 0 wrote A 0 1" in caught.value.where


def test_a_program_is_that_of_its_seed() -> None:
    assert Programs(9, seed=4).program(5) == Programs(9, seed=9).program(0)
    given = {0: program.parse("0 exit\n")}
    assert Programs(9, given=given).program(0) == given[0]
    assert Programs(9, given=given).total == 1
    # Generated ones come behind those given.
    assert Programs(9, seed=4, given=given).program(1) == Programs(9, seed=4).program(0)


def test_what_side_a_leaves_behind_hides_nothing_else() -> None:
    """Unless side b does not leave it: then the two did not do the same, and side a is at fault."""
    good, other = "m 0 A 0 16*p:t4@A0\nx memory 1", "m 0 A 0 16*p:t3@A0\nx memory 1"
    records = [run(text) for text in (good, other, other.replace("\nx memory 1", ""))]
    judge = DifferenceJudge(applying())
    a, b = dict.fromkeys(range(3), records[0]), dict(enumerate(records))
    suspects = judge.judge(dict.fromkeys(range(3), REDIRTIED), (a, b))
    assert [number for number, _ in suspects] == [1]
    assert list(judge.tally.troubled) == [0, 1, 2]


def test_sums_of_accessed_pages_alone_need_not_repeat() -> None:
    def confirmed(before: str, again: str, b: str) -> tuple[list[int], list[int]]:
        ops = program.parse("0 map A 0 16 anon\n0 write A 0 16")
        text = "o 0 ok\no 1 ok\nv 0 A: 0+16:rw-p:0,Size=64,Rss={}"
        first, *records = ({0: read(text.format(sums))} for sums in (before, again, b))
        judge, sides = DifferenceJudge(applying()), mock.Mock()
        sides.run.return_value = records
        requests = judge.confirm({0: ops}, [(0, Judgement(["one"]))], (first, {}))
        kept = hunt.answer(sides, requests)
        return [number for number, _ in kept], list(judge.tally.unstable)

    assert confirmed("64", "64", "64,Referenced=4") == ([0], [])
    assert confirmed("64", "64,Referenced=4", "64") == ([], [])
    assert confirmed("64", "64,Referenced=4", "60") == ([0], [])
    assert confirmed("64", "60", "56") == ([], [0])


def test_a_finding_is_written_with_the_labels_of_its_sides(tmp_path: Path) -> None:
    records = run("m 0 A 0 16*px:t2@A0"), run("m 0 A 0 16*-")
    fault, sides, judge = Judgement(["gone"]), ("stock", "patched"), DifferenceJudge()
    gone = Finding(7, REDIRTIED, REDIRTIED[:3], fault, (), records, sides)
    hunt.write(judge, gone, tmp_path)
    where = hunt.folder(judge, gone, tmp_path)
    assert where == tmp_path / "finding-7"
    assert (where / "differences").read_text() == "gone\n"
    for name, label, record in zip("ab", sides, records, strict=True):
        title, *lines = (where / f"{name}.log").read_text().splitlines()
        assert title == f"# side {name}: {label}"
        assert lines == record.lines
    assert program.parse((where / hunt.PROGRAM).read_text()) == REDIRTIED[:3]
    assert program.parse((where / "original.fuzz").read_text()) == REDIRTIED


def test_programs_that_say_nothing_are_kept(tmp_path: Path) -> None:
    judge = DifferenceJudge(applying())
    judge.tally.unstable[4] = REDIRTIED, "o 3: differs once"
    hunt.write_lists(judge, tmp_path)
    text = (tmp_path / "unstable/4.fuzz").read_text()
    assert text.startswith("# o 3: differs once\n")
    assert program.parse(text) == REDIRTIED
    assert not (tmp_path / "troubled").exists()


LOSE, HIDE = (Bug(name, "", ("arm64",), ("a.b",)) for name in ("lose", "hide"))
ODD = Bug("odd", "", ("arm64",), ("a.b",), no_program="as before")


def search(directory: Path, limit: int) -> Search[Judgement]:
    targets = Targets(tuple(side(directory, has_series=has) for has in (False, True)))
    make = partial(DifferenceJudge, applying())
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
    assert "odd: not searched for: as before" in said
    show.show_bugs(ARM64, searched.new_judge(), results, as_json=True)
    rows = json.loads(capsys.readouterr().out)["bugs"]
    assert [row["operations"] for row in rows] == [1, None, None]
    show.show_bugs(ARM64, searched.new_judge(), results, as_json=False)
    assert "as before" in capsys.readouterr().out


def test_records_without_a_bug_are_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    runs: list[str] = []

    def counted(
        target: Target, programs: Numbered, losses: int | None = None, watch: Watch | None = None
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
