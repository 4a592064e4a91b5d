# SPDX-License-Identifier: GPL-2.0
"""Triage: which programs are suspects, which differ again, and the files of a finding."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from fuzz_records import REDIRTIED, applying, read, run

from quire.fuzz import findings, triage
from quire.fuzz.language import program
from quire.fuzz.triage import Finding


def test_what_side_a_leaves_behind_hides_nothing_else() -> None:
    """Unless side b does not leave it: then the two did not do the same, and side a is at fault."""
    good, other = "m 0 A 0 16*p:t4@A0\nx memory 1", "m 0 A 0 16*p:t3@A0\nx memory 1"
    records = [run(text) for text in (good, other, other.replace("\nx memory 1", ""))]
    tally = triage.Tally()
    programs = dict.fromkeys(range(3), REDIRTIED)
    pair = triage.Pair(mock.Mock(), mock.Mock(), excuses=applying())
    a, b = dict.fromkeys(range(3), records[0]), dict(enumerate(records))
    found = triage.suspects(pair, tally, programs, a, b)
    assert list(found) == [1]
    assert list(tally.troubled) == [0, 1, 2]


def test_sums_of_accessed_pages_alone_need_not_repeat() -> None:
    def confirmed(before: str, again: str, b: str) -> tuple[list[int], list[int]]:
        ops = program.parse("0 map A 0 16 anon\n0 write A 0 16")
        text = "o 0 ok\no 1 ok\nv 0 A: 0+16:rw-p:0,Size=64,Rss={}"
        a, *records = ({0: read(text.format(sums))} for sums in (before, again, b))
        tally = triage.Tally()
        pair = triage.Pair(mock.Mock(), mock.Mock(), excuses=applying())
        with mock.patch.object(pair, "run", return_value=records):
            return list(triage.confirm(pair, tally, {0: ops}, a)), list(tally.unstable)

    assert confirmed("64", "64", "64,Referenced=4") == ([0], [])
    assert confirmed("64", "64,Referenced=4", "64") == ([], [])
    assert confirmed("64", "64,Referenced=4", "60") == ([0], [])
    assert confirmed("64", "60", "56") == ([], [0])


def test_a_finding_is_written_with_the_labels_of_its_sides(tmp_path: Path) -> None:
    records = run("m 0 A 0 16*px:t2@A0"), run("m 0 A 0 16*-")
    found = Finding(7, REDIRTIED, REDIRTIED[:3], ("gone",), *records, ("stock", "patched"))
    findings.write(found, tmp_path)
    where = findings.folder(found, tmp_path)
    assert where == tmp_path / "finding-7"
    for name, label, record in zip("ab", ("stock", "patched"), records, strict=True):
        title, *lines = (where / f"{name}.log").read_text().splitlines()
        assert title == f"# side {name}: {label}"
        assert lines == record.lines
    assert program.parse((where / findings.PROGRAM).read_text()) == REDIRTIED[:3]
    assert program.parse((where / "original.fuzz").read_text()) == REDIRTIED
