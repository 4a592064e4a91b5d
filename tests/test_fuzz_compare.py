# SPDX-License-Identifier: GPL-2.0
"""The comparison of two records: what counts as a difference, and what an excuse implies."""

from __future__ import annotations

from collections import Counter

from fuzz_records import REDIRTIED, compare, differ, read, run

from quire.fuzz.difference.compare import Judgement
from quire.fuzz.language import program


def test_equal_records_do_not_differ() -> None:
    assert differ("m 0 A 0 16*-", "m 0 A 0 16*-") == Judgement()


def test_the_verdict_does_not_depend_on_the_order_of_a_set() -> None:
    slots = [f"m {actor} {slot} 0 1*" for actor in range(4) for slot in "DBCA"]
    a, b = (read("o 0 ok\n" + "\n".join(f"{m}{state}" for m in slots)) for state in ("p:0", "-"))
    found = compare(program.parse("0 write A 0 1"), a, b).differences
    where = [text.rpartition(": m ")[2] for text in found]
    assert where == sorted(where)
    assert len(where) == 16


def test_a_page_that_went_to_swap_as_a_large_folio_comes_back_as_one() -> None:
    ops = program.parse("0 map A 0 16 anon\n0 write A 0 16\nreclaim\n0 read A 0 16")
    head = "o 0 ok\no 1 ok=16\nm 0 A 0 16*pxL:t1@A0\no 2 ok\nm 0 A 0 16*s\no 3 ok\nm 0 A 0 16*{}"
    small, large = (read(head.format(f"{letters}:t1@A0")) for letters in ("px", "pxL"))
    assert compare(ops, small, large).differences


def test_small_folios_may_come_back_from_swap_as_a_large_one() -> None:
    ops = program.parse("0 map A 0 16 anon\n0 write A 0 16\nreclaim\n0 read A 0 16")
    head = "o 0 ok\no 1 ok=16\nm 0 A 0 16*px:t1@A0\no 2 ok\nm 0 A 0 16*{}\no 3 ok\nm 0 A 0 16*{}"
    small, large, dirty = (f"{letters}:t1@A0" for letters in ("px", "pxL", "pxdL"))
    verdict = compare(ops, read(head.format("s", small)), read(head.format("s", large)))
    assert verdict == Judgement([], Counter(slots=16))
    assert compare(ops, read(head.format("s", small)), read(head.format("s", dirty))).differences
    there = [read(head.format(small, state)) for state in (small, large)]
    assert compare(ops, *there).differences


def test_a_page_is_followed_to_where_it_moves() -> None:
    ops = (*REDIRTIED, *program.parse("0 move A 0 16 B 3 move"))
    a = run("m 0 A 0 5*- 11*px:t2@A5\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 5*- 11*px:t2@A5")
    b = run("m 0 A 0 16*px:t2@A0\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 16*px:t2@A0")
    assert compare(ops, a, b).differences == []
    lost = run("m 0 A 0 16*px:t2@A0\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 5*px:t2@A0 1*- 10*px:t2@A6")
    assert len(compare(ops, a, lost).differences) == 1


def test_what_was_read_before_a_move_depends_on_pages_that_were_apart() -> None:
    ops = (*REDIRTIED, *program.parse("0 move A 0 16 B 0 move"))
    a, b = "m 0 A 0 5*- 11*px:t2@A5", "m 0 A 0 16*px:t2@A0"
    moved = "\no 6 ok before={} after=00\nm 0 A 0 16*-"
    one, other = run(a + moved.format("aa")), run(b + moved.format("bb"))
    assert compare(ops, one, other).differences == []
    assert compare(ops, one, run(a + moved.format("bb"))).differences


def test_sums_are_excused_with_their_pages_but_not_mappings() -> None:
    pages = ("m 0 A 0 5*- 11*px:t2@A5", "m 0 A 0 16*px:t2@A0")
    sums = ("v 0 A 0+16:rw-p:0,Size=64,Rss=44,rd", "v 0 A 0+16:rw-p:0,Size=64,Rss=64,rd")
    assert not differ(f"{sums[0]}\n{pages[0]}", f"{sums[1]}\n{pages[1]}").differences
    other = sums[1].replace("rw-p", "r--p")
    assert differ(f"{sums[0]}\n{pages[0]}", f"{other}\n{pages[1]}").differences


def test_after_a_fault_only_trouble_counts() -> None:
    ops = program.parse("0 map A 0 1 anon\n0 fail 1\n0 write A 0 1\n")
    a = read("o 0 ok\nm 0 A 0 1*-\no 1 ok\no 2 ok\nm 0 A 0 1*px:t2@A0")
    b = read("o 0 ok\nm 0 A 0 1*-\no 1 ok\no 2 ok\nm 0 A 0 1*-")
    assert compare(ops, a, b) == Judgement([], Counter({"a fault": 1}))
    b.lines.append("x swap 1")
    assert compare(ops, a, b).differences == ["left behind: swap 1"]
    before = read("o 0 ok\nm 0 A 0 1*px:0\no 1 ok\no 2 ok")
    assert compare(ops, a, before).differences


def test_a_splat_on_side_b_is_a_difference() -> None:
    splat = "k 4 WARNING: CPU: 0 PID: 1 at mm/rmap.c:1 x+0x0/0x1"
    assert differ("", splat).differences == ["splat: warning"]
    assert differ(splat, splat).differences == []


def test_a_leak_on_side_b_is_a_difference() -> None:
    assert differ("", "x swap 16").differences == ["left behind: swap 16"]


def test_a_lost_guest_is_a_difference() -> None:
    b = run("")
    b.lost = "the guest hung"
    assert compare(REDIRTIED, run(""), b).differences == ["the guest hung"]
