# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import pytest
from conftest import LOGS
from hypothesis import given
from hypothesis import strategies as st

from quire.boot import ktap

GOOD = """KTAP version 1
1..2
  KTAP version 1
  1..3
  ok 1 moves
  # page 3: wrong
  not ok 2 moves-64k
  ok 3 soft_dirty # SKIP not on this architecture
not ok 1 mremap
  KTAP version 1
  1..1
  ok 1 merges
ok 2 ksm
"""


def leaves(text: str) -> list[tuple[str, str]]:
    report = ktap.parse(text.splitlines())
    return [(name.lstrip("."), test.status) for name, test in report.leaves()]


def test_suites_and_cases() -> None:
    assert leaves(GOOD) == [
        ("mremap.moves", "pass"),
        ("mremap.moves-64k", "fail"),
        ("mremap.soft_dirty", "skip"),
        ("ksm.merges", "pass"),
    ]


def test_diagnostics_belong_to_the_result_after_them() -> None:
    report = ktap.parse(GOOD.splitlines())
    assert report.subtests[0].subtests[1].diagnostics == ["page 3: wrong"]
    assert report.subtests[0].subtests[0].diagnostics == []
    assert report.subtests[0].subtests[2].reason == "not on this architecture"


def test_all_well() -> None:
    text = "KTAP version 1\n1..2\nok 1 - with a dash\nok 2 plain # SKIP\n"
    report = ktap.parse(text.splitlines())
    assert not report.failed
    assert [test.name for test in report.subtests] == ["with a dash", "plain"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no KTAP report"),
        ("KTAP version 1\nok 1 a\n", "no plan line"),
        ("KTAP version 1\n1..2\nok 1 a\n", "2 tests planned, 1 reported"),
        ("KTAP version 1\n1..1\nBail out! no memory\n", "bailed out: no memory"),
    ],
)
def test_what_is_missing_has_failed(text: str, problem: str) -> None:
    report = ktap.parse(text.splitlines())
    assert report.failed
    assert problem in report.problem


@pytest.mark.parametrize(
    "text",
    [
        "KTAP version 1\n1..2\nok 1 a\nok 3 b\n",
        "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n  not ok 1 a\nok 1 says_ok\n",
        "KTAP version 1\n1..1\n  KTAP version 1\n  1..2\n  ok 1 a\n",
        "KTAP version 1\n1..1\n  KTAP version 1\n  1..2\n  ok 1 a\nok 1 short\n",
    ],
)
def test_contradictions_have_failed(text: str) -> None:
    assert ktap.parse(text.splitlines()).failed


def test_kernel_noise_between_lines_is_ignored() -> None:
    noisy = GOOD.replace("1..2\n", "1..2\n[    1.2] some driver says hello\n")
    assert leaves(noisy) == leaves(GOOD)


def test_a_real_report() -> None:
    lines = (LOGS / "ktap-x86_64.txt").read_text().splitlines()
    report = ktap.parse(lines)
    failed = [name for name, test in report.leaves() if test.failed]
    assert failed == [".mremap.cow_both_move-1024k"]
    assert sum(1 for _ in report.leaves()) == 367


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
SUITES = st.lists(
    st.tuples(NAMES, st.lists(st.tuples(NAMES, st.booleans()), min_size=1)), min_size=1
)


@pytest.mark.slow
@given(SUITES, st.data())
def test_a_report_cut_anywhere_has_failed(
    suites: list[tuple[str, list[tuple[str, bool]]]], data: st.DataObject
) -> None:
    lines = ["KTAP version 1", f"1..{len(suites)}"]
    for number, (name, cases) in enumerate(suites, 1):
        lines += ["  KTAP version 1", f"  1..{len(cases)}"]
        for index, (case, good) in enumerate(cases, 1):
            lines.append(f"  {'ok' if good else 'not ok'} {index} {case}")
        good = all(good for _, good in cases)
        lines.append(f"{'ok' if good else 'not ok'} {number} {name}")
    report = ktap.parse(lines)
    expected = [(f"{s}.{c}", g) for s, cases in suites for c, g in cases]
    assert [(n.lstrip("."), t.status == "pass") for n, t in report.leaves()] == expected
    assert report.failed == (not all(good for _, good in expected))
    cut = data.draw(st.integers(0, len(lines) - 1))
    assert ktap.parse(lines[:cut]).failed
