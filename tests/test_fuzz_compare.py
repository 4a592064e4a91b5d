# SPDX-License-Identifier: GPL-2.0
"""Records: how they are read, what counts as a difference, what is excused and what is not."""

from __future__ import annotations

from collections import Counter
from unittest import mock

from quire.fuzz import triage
from quire.fuzz.language import program, record
from quire.fuzz.language.program import Range
from quire.fuzz.language.record import Page, Record
from quire.fuzz.oracle.compare import EXPLANATIONS, Verdict, compare

REDIRTIED = program.parse(
    "folio 64\n0 map A 0 16 anon\n0 write A 0 16\n0 advise A 0 16 free\n0 write A 5 1\n"
    "0 advise A 0 16 pageout\n"
)


def read(text: str) -> Record:
    (found,) = record.read(["p 0", *text.strip().splitlines(), "q 0"]).values()
    return found


def run(last: str) -> Record:
    """REDIRTIED, with the state of the pages after its last operation."""
    return read(
        "o 0 ok\no 1 ok\no 2 ok=16 segv=0 bus=0\nm 0 A 0 16*px:t2@A0\no 3 ok\n"
        f"m 0 A 0 16*pxz:t2@A0\no 4 ok=1 segv=0 bus=0\no 5 ok\n{last}"
    )


def differ(stock: str, patched: str) -> Verdict:
    return compare(REDIRTIED, run(stock), run(patched))


def done(count: int) -> str:
    """The lines of so many operations."""
    return "".join(f"o {n} ok\n" for n in range(count))


def test_pages_of_runs() -> None:
    pages = record.pages("3 2*px:t7@B3 1*s 1*p:k1 1*-w", "B")
    assert pages[Range("B", 3)] == Page("px", "t7@B3")
    assert pages[Range("B", 4)] == Page("px", "t7@B4")
    assert pages[Range("B", 5)] == Page("s", "")
    assert pages[Range("B", 7)] == Page("-w", "")


def test_states_hold_until_they_are_told_anew() -> None:
    steps = list(record.steps(read("o 0 ok\nm 0 A 0 1*-\no 1 ok\no 2 ok\nm 0 A 0 1*px:0\nw 0 ok")))
    assert [step.name for step in steps] == ["o 0", "o 1", "o 2", "w 0"]
    assert [step.states["m 0 A"] for step in steps] == ["0 1*-"] * 2 + ["0 1*px:0"] * 2


def test_a_program_without_its_end_is_lost() -> None:
    found = record.read(["p 3", "o 0 ok", "q 3", "p 4", "o 0 ok"])
    assert (found[3].trouble, found[4].trouble) == ("", "no end")


def test_equal_records_do_not_differ() -> None:
    assert differ("m 0 A 0 16*-", "m 0 A 0 16*-") == Verdict()


def test_given_up_pages_may_stay_or_go() -> None:
    verdict = differ("m 0 A 0 5*- 11*px:t2@A5", "m 0 A 0 16*px:t2@A0")
    assert verdict.differences == []
    assert verdict.excused == {"dropped in part": 5}


def test_a_page_may_follow_from_others_behind_it() -> None:
    written = "m 0 A 0 5*px:t2@A0 1*px{}:t4@A5 10*{}"
    patched = written.format("", "px:t2@A6")
    verdict = differ(written.format("L", "-"), patched)
    assert verdict == Verdict([], Counter({"dropped in part": 10, "follows": 1}))
    assert differ(written.format("L", "px:t2@A6"), patched).differences


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
    stock, patched = (
        read(last + ",Private_Clean=60,Private_Dirty=4,dp"),
        read(last + ",Private_Dirty=64,dp"),
    )
    assert compare(program.parse(text.format("droppable")), stock, patched).differences == []
    assert compare(program.parse(text.format("anon")), stock, patched).differences


HELD = "0 map A 0 16 {}\n0 write A 0 16\n0 advise A 0 16 free\n0 hold A 3\nreclaim\n"


def held(text: str, *states: str) -> list[str]:
    """How stock's and patched's pages differ, after that program's last operation."""
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


def test_only_the_series_find_merged_pages_where_mappings_moved() -> None:
    ops = program.parse(
        "0 map A 0 2 anon\n0 same A 0 2 1\n0 fork 1\n0 advise A 0 2 mergeable\n"
        "0 move A 0 2 B 0 move\nksm 4\nreclaim"
    )
    head = done(6) + "m 1 A 0 2*p:k1\no 6 ok\n"
    there, away = (read(f"{head}m 1 A 0 2*{state}") for state in ("p:k1", "s"))
    assert compare(ops, there, away) == Verdict([], Counter(found=2))
    assert compare(ops, away, there).differences
    shared, copied = (f"{head}m 1 A 0 1*{{}} 1*p:k1\nr 0 ok\nm 1 A 0 2*{x}:k1" for x in ("p", "px"))
    assert compare(ops, read(shared.format("p:k1")), read(copied.format("s"))).differences == []
    assert compare(ops, read(shared.format("s")), read(copied.format("s"))).differences
    still = (*ops[:4], *program.parse("0 read A 0 2"), *ops[5:])
    assert compare(still, there, away).differences
    other = read(f"{head}m 1 A 0 2*p:t2@A0")
    assert compare(ops, other, away).differences


def test_stock_finds_by_chance_a_merged_page_that_no_item_stands_for() -> None:
    text = (
        "0 map A 0 4 anon\n0 same A 0 4 1\n0 advise A 0 4 mergeable\nksm 4\n{}"
        "0 fork 1\n1 move A 2 1 A 0 move\n{}reclaim"
    )

    def lost(*more: str) -> Verdict:
        ops = program.parse(text.format(*more))
        head = done(len(ops))
        swapped, there = (read(f"{head}m 1 A 0 1*{state} 3*s") for state in ("s", "p:k1"))
        assert compare(ops, there, swapped).excused["lost"] == 0
        return compare(ops, swapped, there)

    out, back = "0 advise A 2 1 unmergeable\n", "1 advise A 0 1 mergeable\n"
    assert lost(out, "") == Verdict([], Counter(lost=1))
    assert lost("", "").differences
    assert lost(out, back).differences


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
    assert verdict == Verdict([], Counter(slots=16))
    assert compare(ops, read(head.format("s", small)), read(head.format("s", dirty))).differences
    there = [read(head.format(small, state)) for state in (small, large)]
    assert compare(ops, *there).differences


def test_clean_folios_have_no_excuse() -> None:
    ops = (*REDIRTIED[:4], REDIRTIED[5])
    head = "o 0 ok\no 1 ok\no 2 ok=16 segv=0 bus=0\no 3 ok\nm 0 A 0 16*pxz:t2@A0\no 4 ok\n"
    assert compare(ops, read(head + "m 0 A 0 16*-"), read(head)).differences


def test_a_page_is_followed_to_where_it_moves() -> None:
    ops = (*REDIRTIED, *program.parse("0 move A 0 16 B 3 move"))
    stock = run("m 0 A 0 5*- 11*px:t2@A5\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 5*- 11*px:t2@A5")
    patched = run("m 0 A 0 16*px:t2@A0\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 16*px:t2@A0")
    assert compare(ops, stock, patched).differences == []
    lost = run("m 0 A 0 16*px:t2@A0\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 5*px:t2@A0 1*- 10*px:t2@A6")
    assert len(compare(ops, stock, lost).differences) == 1


def test_what_was_read_before_a_move_depends_on_pages_that_were_apart() -> None:
    ops = (*REDIRTIED, *program.parse("0 move A 0 16 B 0 move"))
    stock, patched = "m 0 A 0 5*- 11*px:t2@A5", "m 0 A 0 16*px:t2@A0"
    moved = "\no 6 ok before={} after=00\nm 0 A 0 16*-"
    one, other = run(stock + moved.format("aa")), run(patched + moved.format("bb"))
    assert compare(ops, one, other).differences == []
    assert compare(ops, one, run(stock + moved.format("bb"))).differences


def test_sums_are_excused_with_their_pages_but_not_mappings() -> None:
    pages = ("m 0 A 0 5*- 11*px:t2@A5", "m 0 A 0 16*px:t2@A0")
    sums = ("v 0 A 0+16:rw-p:0,Size=64,Rss=44,rd", "v 0 A 0+16:rw-p:0,Size=64,Rss=64,rd")
    assert not differ(f"{sums[0]}\n{pages[0]}", f"{sums[1]}\n{pages[1]}").differences
    other = sums[1].replace("rw-p", "r--p")
    assert differ(f"{sums[0]}\n{pages[0]}", f"{other}\n{pages[1]}").differences


MERGED = program.parse(
    "0 map A 0 2 anon\n0 same A 0 2 1\n0 advise A 0 2 mergeable\nksm 4\n0 same A 0 2 1\n"
    "ksm 2\nksm 5\n"
)


def merged(*last: str) -> Record:
    """MERGED, with the state of both pages after the last operations."""
    head = (
        "o 0 ok\no 1 ok\nm 0 A 0 2*px:k1\no 2 ok\no 3 ok\nm 0 A 0 2*p:k1\no 4 ok\nm 0 A 0 2*px:k1\n"
    )
    return read(head + "".join(f"o {5 + n} ok\n{state}\n" for n, state in enumerate(last)))


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


def test_what_a_process_bears_of_merged_pages_may_differ() -> None:
    state = "v 0 A: 0+2:rw-p:0,Size=8,Rss=8,Pss={0},Pss_Dirty={1},KSM=8,Locked={0},lo,mg"
    stock, patched = (merged("m 0 A 0 2*p:k1\n" + state.format(n, n)) for n in (5, 6))
    assert compare(MERGED, stock, patched) == Verdict([], Counter({"merged later": 1}))
    other = merged("m 0 A 0 2*p:k1\n" + state.format(5, 5).replace("Rss=8", "Rss=4"))
    assert compare(MERGED, stock, other).differences


def test_of_more_places_than_a_page_has_only_the_sum_counts() -> None:
    together = "m 0 A 0 2*p:k1"
    head, tail = merged(together).lines, "o 6 shared={} sharing={}"
    stock = Record([*head, tail.format(2, 766)])
    assert compare(MERGED, stock, Record([*head, tail.format(3, 765)])).differences == []
    assert compare(MERGED, stock, Record([*head, tail.format(3, 766)])).differences
    read_ = (*MERGED[:4], *program.parse("0 read A 0 2"), *MERGED[5:])
    assert compare(read_, stock, Record([*head, tail.format(3, 765)])).differences


def test_who_comes_later_may_come_too_late_for_a_full_page() -> None:
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


def test_pages_without_places_go_when_they_go() -> None:
    ops = (*MERGED[:6], *program.parse("0 read A 0 2\nksm 2"))
    alone, together = "m 0 A 0 2*px:k1", "m 0 A 0 2*p:k1"
    left, gone = ["o 7 shared=1 sharing=0"], ["o 7 shared=0 sharing=0"]
    stock, late = merged(together, alone).lines, merged(alone, alone).lines
    assert compare(ops, Record(stock + left), Record(late + gone)).differences == []
    assert compare(ops, Record(late + left), Record(late + gone)).differences


def test_of_equal_pages_another_may_be_shared_and_stay_soft_dirty() -> None:
    one, other = "m 0 A 0 1*pd:k1 1*p:k1", "m 0 A 0 1*p:k1 1*pd:k1"
    assert compare(MERGED, merged(one, one), merged(other, other)).differences == []
    gone = (*MERGED[:6], *program.parse("reclaim"))
    assert compare(gone, merged(one, "m 0 A 0 1*sd 1*s"), merged(other, "m 0 A 0 1*s 1*sd")) == (
        Verdict([], Counter({"merged later": 4}))
    )
    assert compare(gone, merged(one, "m 0 A 0 1*sd 1*s"), merged(one, "m 0 A 0 2*s")).differences
    read_ = (*MERGED[:4], *program.parse("0 read A 0 2"), *MERGED[5:])
    assert compare(read_, merged(one, one), merged(other, other)).differences
    late = "m 0 A 0 1*p:k1 1*pxd:k1"
    assert compare(MERGED, merged("m 0 A 0 2*p:k1"), merged(late)).differences == []
    held = (*program.parse("0 hold A 0"), *MERGED[1:])
    counted = [Record([*merged(one).lines, f"o 6 shared={n} sharing=0"]) for n in (0, 1)]
    assert compare(held, *counted).differences == []
    assert compare(MERGED, *counted).differences
    alone, clean, large = (f"m 0 A 0 2*{bits}:k1" for bits in ("pxd", "px", "pxdL"))
    assert compare(MERGED, merged(alone), merged(clean)).differences
    assert compare(MERGED, merged(alone), merged(large)).differences == []


def test_which_page_is_shared_decides_which_stays_write_protected() -> None:
    """What is merged into another loses its uffd-wp bit on stock, too."""
    one, other = "m 0 A 0 1*pdw:k1 1*pd:k1", "m 0 A 0 1*pd:k1 1*pdw:k1"
    write = (*MERGED[:6], *program.parse("0 write A 0 2"))
    stock = [*merged(one).lines, "o 6 ok=1 segv=0 bus=1", "m 0 A 0 1*pdw:k1 1*pxd:t6@A1"]
    patched = [*merged(other).lines, "o 6 ok=1 segv=0 bus=1", "m 0 A 0 1*pxd:t6@A0 1*pdw:k1"]
    assert compare(write, Record(stock), Record(patched)).differences == []
    assert compare(write, Record(stock), Record([*merged(one).lines, *patched[-2:]])).differences


def test_which_page_is_shared_decides_whether_all_are_lazyfree() -> None:
    stock, patched = merged("m 0 A 0 2*p:k1"), merged("m 0 A 0 2*pz:k1")
    assert compare(MERGED, stock, patched).differences == []
    alone = [merged(f"m 0 A 0 2*{state}:k1") for state in ("px", "pxz")]
    assert compare(MERGED, *alone).differences


def test_sums_of_who_shares_a_dropped_page_may_differ() -> None:
    ops = (*REDIRTIED, *program.parse("0 fork 1\nreclaim"))
    head = "o 6 ok\nm 1 A 0 16*p:t2@A0\nv 1 A: 0+16:rw-p:0,Size=64,Rss=64,Pss=32\no 7 ok\n"
    tail = "\nm 1 A 0 16*s\nv 1 A: 0+16:rw-p:0,Size=64,Swap=64,SwapPss={}"
    dropped, kept = head + "m 0 A 0 5*- 11*s" + tail, head + "m 0 A 0 16*s" + tail
    patched = run(kept.format(32))
    assert compare(ops, run(dropped.format(42)), patched).differences == []
    assert compare(ops, run(kept.format(42)), patched).differences


def test_a_child_has_the_sums_of_what_is_merged_later() -> None:
    born = (*MERGED[:6], *program.parse("0 fork 1"))
    state = "m 1 A 0 2*p:k1\nv 1 A: 0+2:rw-p:0,Size=8,Rss={},Pss={},Referenced={},KSM={},mg"
    stock = merged("m 0 A 0 2*p:k1", state.format(8, 3, 8, 8))
    late = merged("m 0 A 0 1*px:k1 1*p:k1", state.format(8, 4, 4, 4))
    assert compare(born, stock, late).differences == []
    less = merged("m 0 A 0 1*px:k1 1*p:k1", state.format(4, 4, 4, 4))
    assert compare(born, stock, less).differences


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


def test_after_a_fault_only_trouble_counts() -> None:
    ops = program.parse("0 map A 0 1 anon\n0 fail 1\n0 write A 0 1\n")
    stock = read("o 0 ok\nm 0 A 0 1*-\no 1 ok\no 2 ok\nm 0 A 0 1*px:t2@A0")
    patched = read("o 0 ok\nm 0 A 0 1*-\no 1 ok\no 2 ok\nm 0 A 0 1*-")
    assert compare(ops, stock, patched) == Verdict([], Counter({"a fault": 1}))
    patched.lines.append("x swap 1")
    assert compare(ops, stock, patched).differences == ["left behind: swap 1"]
    before = read("o 0 ok\nm 0 A 0 1*px:0\no 1 ok\no 2 ok")
    assert compare(ops, stock, before).differences


def test_a_splat_on_patched_is_a_difference() -> None:
    splat = "k 4 WARNING: CPU: 0 PID: 1 at mm/rmap.c:1 x+0x0/0x1"
    assert differ("", splat).differences == ["splat: warning"]
    assert differ(splat, splat).differences == []


def test_a_leak_on_patched_is_a_difference() -> None:
    assert differ("", "x swap 16").differences == ["left behind: swap 16"]


def test_a_lost_guest_is_a_difference() -> None:
    patched = run("")
    patched.lost = "the guest hung"
    assert compare(REDIRTIED, run(""), patched).differences == ["the guest hung"]


def test_what_stock_leaves_behind_hides_nothing_else() -> None:
    """Unless patched does not leave it: then the two did not do the same, and stock is at fault."""
    good, other = "m 0 A 0 16*p:t4@A0\nx memory 1", "m 0 A 0 16*p:t3@A0\nx memory 1"
    records = [run(text) for text in (good, other, other.replace("\nx memory 1", ""))]
    tally = triage.Tally()
    programs = dict.fromkeys(range(3), REDIRTIED)
    found = triage.suspects(
        tally, programs, dict.fromkeys(range(3), records[0]), dict(enumerate(records))
    )
    assert list(found) == [1]
    assert list(tally.troubled) == [0, 1, 2]


def test_sums_of_accessed_pages_alone_need_not_repeat() -> None:
    def confirmed(before: str, again: str, patched: str) -> tuple[list[int], list[int]]:
        ops = program.parse("0 map A 0 16 anon\n0 write A 0 16")
        text = "o 0 ok\no 1 ok\nv 0 A: 0+16:rw-p:0,Size=64,Rss={}"
        stock, *records = ({0: read(text.format(sums))} for sums in (before, again, patched))
        tally = triage.Tally()
        pair = mock.create_autospec(triage.Pair, instance=True)
        pair.run.return_value = records
        return list(triage.confirm(pair, tally, {0: ops}, stock)), list(tally.unstable)

    assert confirmed("64", "64", "64,Referenced=4") == ([0], [])
    assert confirmed("64", "64,Referenced=4", "64") == ([], [])
    assert confirmed("64", "64,Referenced=4", "60") == ([0], [])
    assert confirmed("64", "60", "56") == ([], [0])


def test_every_excuse_has_a_reason() -> None:
    assert all(len(reason) > 20 for reason in EXPLANATIONS.values())
