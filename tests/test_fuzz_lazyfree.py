# SPDX-License-Identifier: GPL-2.0
"""Excuses of lazyfree: the permitted states of pages that a program freed."""

from __future__ import annotations

from collections import Counter

from fuzz_records import REDIRTIED, compare, differ, done, read, run

from quire.fuzz.difference.compare import Judgement
from quire.fuzz.language import program


def test_given_up_pages_may_stay_or_go() -> None:
    verdict = differ("m 0 A 0 5*- 11*px:t2@A5", "m 0 A 0 16*px:t2@A0")
    assert verdict.differences == []
    assert verdict.excused == {"dropped in part": 5}


def test_a_page_may_follow_from_others_behind_it() -> None:
    written = "m 0 A 0 5*px:t2@A0 1*px{}:t4@A5 10*{}"
    b = written.format("", "px:t2@A6")
    verdict = differ(written.format("L", "-"), b)
    assert verdict == Judgement([], Counter({"dropped in part": 10, "follows": 1}))
    assert differ(written.format("L", "px:t2@A6"), b).differences


def test_a_written_page_may_not_go() -> None:
    stay = "m 0 A 0 5*- 1*px:t4@A5 10*px:t2@A6"
    verdict = differ(stay, "m 0 A 0 6*- 10*px:t2@A6")
    assert verdict.differences == ["o 5 0 advise A 0 16 pageout: m 0 A 5: px:t4@A5 | -:"]


def test_a_given_up_page_may_not_hold_something_else() -> None:
    assert differ("m 0 A 0 16*px:t2@A0", "m 0 A 0 1*px:t2@A9 15*px:t2@A1").differences


def test_bits_of_a_run_that_was_put_back_in_a_droppable_mapping() -> None:
    text = (
        "0 map A 0 16 {}\n0 write A 0 1\n0 hold A 0\nreclaim\n0 advise A 0 16 free\n0 write A 0 1"
    )
    last = done(6) + "v 0 A: 0+16:rw-p:0,Size=64,Rss=64"
    a, b = (
        read(last + ",Private_Clean=60,Private_Dirty=4,dp"),
        read(last + ",Private_Dirty=64,dp"),
    )
    assert compare(program.parse(text.format("droppable")), a, b).differences == []
    assert compare(program.parse(text.format("anon")), a, b).differences


HELD = "0 map A 0 16 {}\n0 write A 0 16\n0 advise A 0 16 free\n0 hold A 3\nreclaim\n"


def held(text: str, *states: str) -> list[str]:
    """The differences between the pages of the two sides, after the program's last operation."""
    ops = program.parse(text)
    head = done(len(ops))
    return compare(ops, *(read(f"{head}m 0 A 0 16*{state}") for state in states)).differences


def test_a_held_page_may_stay_lazyfree_but_not_go() -> None:
    text = HELD.format("anon")
    assert held(text, "px:t1@A0", "pxz:t1@A0") == []
    assert held(text, "s", "pxz:t1@A0") == []
    assert held(text, "px:t1@A0", "-")
    assert held(text, "-", "pxz:t1@A0")
    assert held(text + "0 drop\nreclaim", "s", "-") == []


def test_bits_of_a_held_page_stay() -> None:
    text = HELD.format("anon")
    assert held(text, "pxw:t1@A0", "pxz:t1@A0")
    assert held(text, "px:t1@A0", "pxdz:t1@A0")


def test_a_held_page_of_a_droppable_mapping_stays_lazyfree() -> None:
    text = HELD.format("droppable")
    assert held(text, "pxz:t1@A0", "px:t1@A0")
    assert held(f"{text}0 advise A 0 16 dontneed", "pxz:t1@A0", "px:t1@A0")
    again = f"{text}0 unmap A 0 16\n0 map A 0 16 anon\n0 advise A 0 16 free"
    assert held(again, "pxz:t1@A0", "px:t1@A0") == []


def test_clean_folios_have_no_excuse() -> None:
    ops = (*REDIRTIED[:4], REDIRTIED[5])
    head = "o 0 ok\no 1 ok\no 2 ok=16 segv=0 bus=0\no 3 ok\nm 0 A 0 16*pxz:t2@A0\no 4 ok\n"
    assert compare(ops, read(head + "m 0 A 0 16*-"), read(head)).differences


def test_sums_of_a_process_that_shares_a_dropped_page_may_differ() -> None:
    ops = (*REDIRTIED, *program.parse("0 fork 1\nreclaim"))
    head = "o 6 ok\nm 1 A 0 16*p:t2@A0\nv 1 A: 0+16:rw-p:0,Size=64,Rss=64,Pss=32\no 7 ok\n"
    tail = "\nm 1 A 0 16*s\nv 1 A: 0+16:rw-p:0,Size=64,Swap=64,SwapPss={}"
    dropped, kept = head + "m 0 A 0 5*- 11*s" + tail, head + "m 0 A 0 16*s" + tail
    b = run(kept.format(32))
    assert compare(ops, run(dropped.format(42)), b).differences == []
    assert compare(ops, run(kept.format(42)), b).differences
