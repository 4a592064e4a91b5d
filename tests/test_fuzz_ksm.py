# SPDX-License-Identifier: GPL-2.0
"""Excuses of KSM: which differences in merging are excused, and which are not."""

from collections import Counter

from fuzz_records import MERGED, compare, done, merged, read

from quire.fuzz.difference.compare import Judgement
from quire.fuzz.language import program
from quire.fuzz.language.record import Record


def test_only_side_b_finds_merged_pages_where_mappings_moved() -> None:
    ops = program.parse(
        "0 map A 0 2 anon\n0 same A 0 2 1\n0 fork 1\n0 advise A 0 2 mergeable\n"
        "0 move A 0 2 B 0 move\nksm 4\nreclaim"
    )
    head = done(6) + "m 1 A 0 2*p:k1\no 6 ok\n"
    there, away = (read(f"{head}m 1 A 0 2*{state}") for state in ("p:k1", "s"))
    assert compare(ops, there, away) == Judgement([], Counter(found=2))
    assert compare(ops, away, there).differences
    shared, copied = (f"{head}m 1 A 0 1*{{}} 1*p:k1\nr 0 ok\nm 1 A 0 2*{x}:k1" for x in ("p", "px"))
    assert compare(ops, read(shared.format("p:k1")), read(copied.format("s"))).differences == []
    assert compare(ops, read(shared.format("s")), read(copied.format("s"))).differences
    still = (*ops[:4], *program.parse("0 read A 0 2"), *ops[5:])
    assert compare(still, there, away).differences
    other = read(f"{head}m 1 A 0 2*p:t2@A0")
    assert compare(ops, other, away).differences


def test_a_page_may_be_merged_later_but_not_never() -> None:
    apart, together = "m 0 A 0 2*px:k1", "m 0 A 0 2*p:k1"
    verdict = compare(MERGED, merged(together, together), merged(apart, together))
    assert verdict.differences == []
    assert verdict.excused == {"merged later": 2}
    never = compare(MERGED, merged(together, together), merged(apart, apart))
    assert len(never.differences) == 2
    assert compare(MERGED, merged(apart, apart), merged(apart, together)).differences
    locked = (*MERGED[:4], *program.parse("0 lock A 0 2"), *MERGED[5:])
    assert not compare(locked, merged(together, together), merged(apart, together)).differences
    read_ = (*MERGED[:4], *program.parse("0 read A 0 2"), *MERGED[5:])
    assert compare(read_, merged(together, together), merged(apart, together)).differences
    held = (*program.parse("0 hold A 0"), *MERGED[1:])
    assert compare(held, merged(together, together), merged(apart, apart)).differences == []
    smart = (*program.parse("smart on"), *MERGED[1:])
    old = compare(smart, merged(apart, apart), merged(apart, together))
    assert old.differences == []
    assert compare(smart, merged(together, together), merged(apart, apart)).differences


def test_a_process_may_have_another_share_of_merged_pages() -> None:
    state = "v 0 A: 0+2:rw-p:0,Size=8,Rss=8,Pss={0},Pss_Dirty={1},KSM=8,Locked={0},lo,mg"
    a, b = (merged("m 0 A 0 2*p:k1\n" + state.format(n, n)) for n in (5, 6))
    assert compare(MERGED, a, b) == Judgement([], Counter({"merged later": 1}))
    other = merged("m 0 A 0 2*p:k1\n" + state.format(5, 5).replace("Rss=8", "Rss=4"))
    assert compare(MERGED, a, other).differences


def test_of_more_mappings_than_a_page_can_have_only_the_sum_counts() -> None:
    together = "m 0 A 0 2*p:k1"
    head, tail = merged(together).lines, "o 6 shared={} sharing={}"
    a = Record([*head, tail.format(2, 766)])
    assert compare(MERGED, a, Record([*head, tail.format(3, 765)])).differences == []
    assert compare(MERGED, a, Record([*head, tail.format(3, 766)])).differences
    read_ = (*MERGED[:4], *program.parse("0 read A 0 2"), *MERGED[5:])
    assert compare(read_, a, Record([*head, tail.format(3, 765)])).differences


def test_a_page_merged_later_may_come_too_late_for_a_full_one() -> None:
    head = merged().lines
    states = ("m 0 A 0 2*p:k1", "m 0 A 0 1*p:k1 1*px:k1")
    few, many = (
        [
            Record([*head, "o 5 ok", f"o 6 shared=1 sharing={n + i}", s])
            for i, s in enumerate(states)
        ]
        for n in (6, 510)
    )
    assert compare(MERGED, *many).differences == []
    assert compare(MERGED, *few).differences
    read_ = "m 0 A 0 2*p:k1\nv 0 A: 0+2:rw-p:0,Size=8,Rss=8,Private_Clean={},Private_Dirty={},mg"
    for ends, differ in ((many, False), (few, True)):
        sums = [[*ends[0].lines, *read_.format(n, 8 - n).splitlines()] for n in (0, 4)]
        assert bool(compare(MERGED, *map(Record, sums)).differences) == differ


def test_what_is_not_merged_yet_can_be_swapped() -> None:
    out = (*MERGED[:6], *program.parse("0 advise A 0 2 pageout"))
    swapped = merged("m 0 A 0 2*px:k1", "m 0 A 0 2*s")
    assert compare(out, merged("m 0 A 0 2*p:k1"), swapped).differences == []
    equal = merged("m 0 A 0 2*px:k1", "m 0 A 0 2*px:k1")
    assert compare(out, equal, swapped).differences


def test_pages_without_mappings_may_go_later() -> None:
    ops = (*MERGED[:6], *program.parse("0 read A 0 2\nksm 2"))
    alone, together = "m 0 A 0 2*px:k1", "m 0 A 0 2*p:k1"
    left, gone = ["o 7 shared=1 sharing=0"], ["o 7 shared=0 sharing=0"]
    a, late = merged(together, alone).lines, merged(alone, alone).lines
    assert compare(ops, Record(a + left), Record(late + gone)).differences == []
    assert compare(ops, Record(late + left), Record(late + gone)).differences


def test_of_equal_pages_another_may_be_shared_but_none_loses_its_bits() -> None:
    """Both sides have the fixes: soft-dirty and write protection outlive a merge."""
    for bit in ("d", "w"):
        one, other = f"m 0 A 0 1*p{bit}:k1 1*p:k1", f"m 0 A 0 1*p:k1 1*p{bit}:k1"
        assert compare(MERGED, merged(one, one), merged(other, other)).differences
        late = f"m 0 A 0 1*p{bit}:k1 1*px:k1"
        assert compare(MERGED, merged(one), merged(late)).differences == []
    large, alone, clean = (f"m 0 A 0 2*{bits}:k1" for bits in ("pxdL", "pxd", "px"))
    assert compare(MERGED, merged(alone), merged(large)).differences == []
    assert compare(MERGED, merged(alone), merged(clean)).differences
    held = (*program.parse("0 hold A 0"), *MERGED[1:])
    same = "m 0 A 0 2*p:k1"
    counted = [Record([*merged(same).lines, f"o 6 shared={n} sharing=0"]) for n in (0, 1)]
    assert compare(held, *counted).differences == []
    assert compare(MERGED, *counted).differences


def test_which_page_is_shared_decides_whether_all_are_lazyfree() -> None:
    a, b = merged("m 0 A 0 2*p:k1"), merged("m 0 A 0 2*pz:k1")
    assert compare(MERGED, a, b).differences == []
    alone = [merged(f"m 0 A 0 2*{state}:k1") for state in ("px", "pxz")]
    assert compare(MERGED, *alone).differences


def test_a_child_has_the_sums_of_what_is_merged_later() -> None:
    born = (*MERGED[:6], *program.parse("0 fork 1"))
    state = "m 1 A 0 2*p:k1\nv 1 A: 0+2:rw-p:0,Size=8,Rss={},Pss={},Referenced={},KSM={},mg"
    a = merged("m 0 A 0 2*p:k1", state.format(8, 3, 8, 8))
    late = merged("m 0 A 0 1*px:k1 1*p:k1", state.format(8, 4, 4, 4))
    assert compare(born, a, late).differences == []
    less = merged("m 0 A 0 1*px:k1 1*p:k1", state.format(4, 4, 4, 4))
    assert compare(born, a, less).differences


def test_sums_of_pages_merged_later_may_differ_once_they_are_swapped() -> None:
    gone = (*MERGED[:6], *program.parse("reclaim"))
    state = "m 0 A 0 2*s\nv 0 A: 0+2:rw-p:0,Size=8,Swap=8,SwapPss={},mg"
    apart, together = ("m 0 A 0 2*px:k1", state.format(8)), ("m 0 A 0 2*p:k1", state.format(3))
    assert compare(gone, merged(*apart), merged(*together)).differences == []
    assert compare(gone, merged(*apart), merged(apart[0], together[1])).differences
    short = state.format(3).replace("Swap=8", "Swap=4")
    assert compare(gone, merged(*apart), merged(together[0], short)).differences


def test_smart_scan_changes_which_page_is_reclaimed_but_not_contents() -> None:
    smart = (*program.parse("smart on"), *MERGED[1:])
    state = "\nv 0 A: 0+2:rw-p:0,Size=8,{},rd,mg"
    swapped = merged("m 0 A 0 2*s" + state.format("Swap=8"))
    present = "m 0 A 0 2*p:{}" + state.format("Rss=8,KSM=8")
    assert compare(smart, swapped, merged(present.format("k1"))).differences == []
    assert compare(MERGED, swapped, merged(present.format("k1"))).differences
    assert compare(smart, swapped, merged(present.format("t1@A0"))).differences
    dirty = merged(present.format("k1").replace("2*p", "2*pd"))
    assert compare(smart, swapped, dirty).differences
