# SPDX-License-Identifier: GPL-2.0
"""The comparison of two records: what differs, and what is excused of given up and merged pages."""

from collections import Counter

from fuzz_records import MERGED, REDIRTIED, compare, differ, done, merged, read, run

from quire.fuzz.difference.differences import Judgement
from quire.fuzz.language import program
from quire.fuzz.language.record import Record


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
    waits = compare(smart, merged(together, together), merged(apart, apart))
    assert waits.differences == []
    long = (*smart[:-1], *program.parse("ksm 30"))
    assert compare(long, merged(together, together), merged(apart, apart)).differences


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
    for ends, unlike in ((many, False), (few, True)):
        sums = [[*ends[0].lines, *read_.format(n, 8 - n).splitlines()] for n in (0, 4)]
        assert bool(compare(MERGED, *map(Record, sums)).differences) == unlike


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
