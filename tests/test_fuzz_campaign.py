# SPDX-License-Identifier: GPL-2.0
"""Campaigns: from numbers to findings, and their output."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from fuzz_records import applying, fake_run, side

from quire.fuzz import campaign, report, runner
from quire.fuzz.campaign import Campaign, CampaignOptions
from quire.fuzz.difference.excuses import Rule
from quire.fuzz.language import program
from quire.fuzz.promise import rules
from quire.fuzz.triage import Pair
from quire.host.errors import UserError
from quire.host.progress import Progress

QUIET = Progress(quiet=True)


@pytest.fixture(autouse=True)
def no_boots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run", fake_run)


def made(directory: Path, bug: str = "") -> Campaign:
    """A campaign whose side b may lose pages."""
    b = replace(side(directory, has_series=True), parameters=(f"quire_bug={bug}",) if bug else ())
    pair = Pair(side(directory, has_series=False), b, excuses=applying())
    return Campaign(pair, directory / "out")


def test_sides_that_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = made(tmp_path)
    one.run(CampaignOptions(30), QUIET)
    assert one.tally.programs == 30
    assert one.problems == []
    report.show(one, as_json=False)
    text = capsys.readouterr().out
    assert "arm64: 30 programs on stock and patched" in " ".join(text.split())
    assert "0 findings" in text


def test_a_difference_is_shrunk_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = made(tmp_path, "lose")
    one.run(CampaignOptions(200, findings=2), QUIET)
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
    report.show(one, as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["sides"] == {"a": "stock", "b": "patched quire_bug=lose"}
    assert printed["findings"][0]["differences"] == list(first.differences)
    again = made(tmp_path, "lose")
    again.run(CampaignOptions(given=campaign.read(paths[:1])[0]), QUIET)
    assert [found.number for found in again.findings] == [0]


def test_a_campaign_stops_after_enough_findings(tmp_path: Path) -> None:
    one = made(tmp_path, "lose")
    one.run(CampaignOptions(3 * campaign.BATCH, findings=1), QUIET)
    assert one.tally.programs == campaign.BATCH
    assert len(one.findings) == 1


def test_without_a_limit_all_programs_run(tmp_path: Path) -> None:
    one = made(tmp_path, "lose")
    one.run(CampaignOptions(campaign.BATCH + 20, findings=0), QUIET)
    assert one.tally.programs == campaign.BATCH + 20
    assert len(one.problems) == len(one.findings) > 1


def test_an_excuse_is_printed_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = made(tmp_path)
    one.tally.excused[Rule.HELD] = 3
    report.show(one, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert f"excused in 3 programs: held ({applying().reasons[Rule.HELD]})" in text


def test_faults_are_put_into_generated_programs() -> None:
    plain, faulty = CampaignOptions(1, seed=3), CampaignOptions(1, seed=3, faults=True)
    seen = {op.verb for n in range(50) for op in faulty.program(n, [])}
    assert "fail" in seen
    for number in range(50):
        without = tuple(op for op in faulty.program(number, []) if op.verb != "fail")
        assert without == plain.program(number, [])[: len(without)]


def test_faults_need_a_kernel_that_can_make_them(tmp_path: Path) -> None:
    pair = made(tmp_path).pair
    (tmp_path / ".config").write_text("CONFIG_SWAP=y\n")
    with pytest.raises(UserError) as caught:
        campaign.require_faults(pair)
    assert campaign.FAULTS in caught.value.where
    (tmp_path / ".config").write_text(f"{campaign.FAULTS}=y\n")
    campaign.require_faults(pair)


def test_files_of_programs(tmp_path: Path) -> None:
    files = campaign.corpus(ROOT)
    programs, known = campaign.read(files)
    assert len(programs) == len(files) >= 20
    breaks = {files[number].stem: rule for number, rule in known.items()}
    assert breaks["stock-swaps-locked"] == rules.LOCKED.name
    names = {rule.name for rule in vars(rules).values() if isinstance(rule, rules.Rule)}
    assert {*breaks.values()} <= names
    with pytest.raises(UserError, match="there is no corpus"):
        campaign.corpus(tmp_path)
    with pytest.raises(UserError, match="a program cannot be read"):
        campaign.read([tmp_path / "none.fuzz"])
    (tmp_path / "bad.fuzz").write_text("0 wrote A 0 1\n")
    with pytest.raises(UserError) as caught:
        campaign.read([tmp_path / "bad.fuzz"])
    assert "bad.fuzz:1: 0 wrote A 0 1" in caught.value.where


def test_a_program_is_that_of_its_seed() -> None:
    assert CampaignOptions(9, seed=4).program(5, []) == CampaignOptions(9, seed=9).program(0, [])
    given = {0: program.parse("0 exit\n")}
    assert CampaignOptions(9, given=given).program(0, []) == given[0]
    assert CampaignOptions(9, given=given).total == 1
