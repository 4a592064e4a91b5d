# SPDX-License-Identifier: GPL-2.0
"""Excuses: read from the series, and applied if the series in use has their topic."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from fuzz_records import MERGED, REDIRTIED, applying, done, merged, newer, read, run, whole

from quire.fuzz.difference import excuses
from quire.fuzz.difference.differences import compare
from quire.fuzz.difference.excuses import GENERAL, Rule
from quire.fuzz.language import program
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.host.errors import UserError
from quire.source import series

OURS = excuses.read(whole().file.with_name(excuses.FILE))
TOPICS = {excuse.name: excuse.topic for excuse in OURS}
Case = tuple[Program, Record, Record]


def ending(text: str, a: str, b: str) -> Case:
    """A program, and two records that differ only after its last operation."""
    ops = program.parse(text)
    return ops, read(done(len(ops)) + a), read(done(len(ops)) + b)


def swapped(before: str, after: str) -> Record:
    """Pages in swap, in another slot after a move, and swapped in: the state after each."""
    return read(
        "o 0 ok\no 1 ok=16\nm 0 A 0 16*px:t1@A0\no 2 ok\nm 0 A 0 16*s\n"
        f"o 3 ok\nm 0 A 0 16*{before}\no 4 ok\nm 0 A 0 16*-\nm 0 B 0 16*{after}"
    )


# For each rule, two records that differ only by what it excuses.
CASES: dict[Rule, Case] = {
    Rule.DROPPED_IN_PART: (REDIRTIED, run("m 0 A 0 5*- 11*px:t2@A5"), run("m 0 A 0 16*px:t2@A0")),
    Rule.HELD: ending(
        "0 map A 0 16 anon\n0 write A 0 16\n0 advise A 0 16 free\n0 hold A 3\nreclaim",
        "m 0 A 0 16*px:t1@A0", "m 0 A 0 16*pxz:t1@A0"),
    Rule.BITS_OF_A_RUN: ending(
        "0 map A 0 16 anon\n0 write A 0 16\n0 advise A 0 16 free\n0 write A 0 1\nreclaim",
        "v 0 A: 0+16:rw-p:0,Size=64,Rss=64,Private_Clean=60,Private_Dirty=4",
        "v 0 A: 0+16:rw-p:0,Size=64,Rss=64,Private_Dirty=64"),
    Rule.REUSED: ending(
        "folio 64\n0 map A 0 16 anon\n0 write A 0 16\n0 fork 1\n1 exit\n0 write A 0 1",
        "m 0 A 0 1*px:t5@A0 15*pxL:t2@A1", "m 0 A 0 1*pxL:t5@A0 15*pxL:t2@A1"),
    Rule.MERGED_LATER: (
        MERGED, merged("m 0 A 0 2*p:k1", "m 0 A 0 2*p:k1"),
        merged("m 0 A 0 2*px:k1", "m 0 A 0 2*p:k1")),
    Rule.FOUND: ending(
        "0 map A 0 2 anon\n0 same A 0 2 1\n0 advise A 0 2 mergeable\n0 move A 0 2 B 0 move\n"
        "ksm 4\nreclaim", "m 0 B 0 2*p:k1", "m 0 B 0 2*s"),
}  # fmt: skip
# The same for the rules that only the series for 7.3 needs.
NEWER = {Rule.BITS_OF_A_BATCH, Rule.TAKEN, Rule.TAKEN_HELD}
BATCH = ending(
    "folio 16\n0 map A 0 4 anon\n0 write A 0 1\n0 advise A 0 4 free\n0 write A 3 1\n0 wp A 0 4",
    "v 0 A: 0+4:rw-p:0,Size=16,Rss=16,Pss_Dirty=16,Private_Dirty=16",
    "v 0 A: 0+4:rw-p:0,Size=16,Rss=16,Pss_Dirty=4,Private_Clean=12,Private_Dirty=4,LazyFree=12",
)
TAKE = "folio 64\n0 map A 0 16 anon\n0 write A 0 16\n{}0 map B 0 16 anon\n0 take A 0 16 B 0 all\n"
AWAY = "m 0 A 0 16*-\nm 0 B 0 16*{}"
SPLIT, WHOLE = AWAY.format("px:t2@A0"), AWAY.format("pxL:t2@A0")
UFFD: dict[Rule, Case] = {
    Rule.TAKEN: ending(TAKE.format(""), SPLIT, WHOLE),
    Rule.TAKEN_HELD: ending(
        TAKE.format("0 hold A 3\n"), "o 5 EBUSY\nm 0 A 0 16*pxL:t2@A0\nm 0 B 0 16*-",
        f"o 5 ok\n{WHOLE}"),
}  # fmt: skip
SLOTS = (
    program.parse(
        "0 map A 0 16 anon\n0 write A 0 16\nreclaim\n0 read A 0 16\n0 move A 0 16 B 0 move"
    ),
    swapped("px:t1@A0", "px:t1@A0"),
    swapped("pxL:t1@A0", "pxL:t1@A0"),
)
A_FAULT = (
    program.parse("0 map A 0 1 anon\n0 fail 1\n0 write A 0 1"),
    read("o 0 ok\no 1 ok\no 2 ok\nm 0 A 0 1*px:t2@A0"),
    read("o 0 ok\no 1 ok\no 2 ok\nm 0 A 0 1*-"),
)


@pytest.mark.parametrize("rule", CASES, ids=str)
def test_a_rule_excuses_where_the_series_has_its_topic(rule: Rule) -> None:
    for applied in (applying(TOPICS[rule]), applying()):
        verdict = compare(*CASES[rule], applied)
        assert verdict.differences == []
        assert set(verdict.excused) == {rule}


@pytest.mark.parametrize("rule", CASES, ids=str)
def test_a_rule_excuses_nothing_where_its_topic_is_left_out(rule: Rule) -> None:
    others = [name for name in whole().topics if TOPICS[rule] not in whole().only([name]).topics]
    assert "mremap" in others
    for applied in (applying("mremap"), applying(*others), GENERAL):
        assert compare(*CASES[rule], applied).differences


@pytest.mark.parametrize("rule", CASES, ids=str)
def test_a_rule_by_itself_excuses_its_case(rule: Rule) -> None:
    (reason,) = (excuse.reason for excuse in OURS if excuse.name is rule)
    alone = {rule: reason, **GENERAL}
    assert compare(*CASES[rule], alone).differences == []
    further = {name: why for name, why in applying().items() if name != rule}
    assert compare(*CASES[rule], further).differences


def test_a_topic_brings_the_excuses_of_those_it_needs() -> None:
    assert applying("swapout") == applying("lazyfree", "swapout")
    assert Rule.DROPPED_IN_PART in applying("swapout")


def test_the_own_rules_hold_for_any_two_kernels() -> None:
    for applied in (GENERAL, applying("mremap"), applying()):
        slots = compare(*SLOTS, applied)
        assert slots.differences == []
        assert slots.excused == {Rule.SLOTS: 16, Rule.FOLLOWS: 16}
        assert compare(*A_FAULT, applied).excused == {Rule.A_FAULT: 1}


def test_nothing_follows_from_a_difference_without_an_excuse() -> None:
    ops = (*REDIRTIED, *program.parse("0 move A 0 16 B 3 move"))
    a = run("m 0 A 0 5*- 11*px:t2@A5\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 5*- 11*px:t2@A5")
    b = run("m 0 A 0 16*px:t2@A0\no 6 ok\nm 0 A 0 16*-\nm 0 B 3 16*px:t2@A0")
    assert compare(ops, a, b, applying("lazyfree")).excused[Rule.FOLLOWS] == 5
    unknown = compare(ops, a, b, GENERAL)
    assert unknown.excused == {}
    assert len(unknown.differences) == 10


def test_every_rule_has_a_reason_and_belongs_to_the_comparison_or_to_a_topic() -> None:
    assert set(CASES) == set(TOPICS) == set(Rule) - set(GENERAL) - NEWER
    assert set(TOPICS.values()) <= set(whole().topics)
    assert all(len(reason) > 20 for reason in applying().values())


def test_bits_of_a_batch_belong_to_the_topic_that_changes_batches() -> None:
    verdict = compare(*BATCH, excuses.applying(newer().only(["mremap"])))
    assert verdict.differences == []
    assert set(verdict.excused) == {Rule.BITS_OF_A_BATCH}
    for applied in (excuses.applying(newer().only(["small", "ksm"])), applying(), GENERAL):
        assert compare(*BATCH, applied).differences


def test_a_batch_changes_nothing_but_bits() -> None:
    ops, a, _ = BATCH
    b = read(done(len(ops)) + "v 0 A: 0+4:rw-p:0,Size=16,Rss=12,Pss_Dirty=16,Private_Dirty=16")
    assert compare(ops, a, b, excuses.applying(newer())).differences


@pytest.mark.parametrize("rule", UFFD, ids=str)
def test_what_is_taken_belongs_to_the_topic_that_moves_folios_whole(rule: Rule) -> None:
    ours = excuses.applying(newer().only(["uffd"]))
    verdict = compare(*UFFD[rule], ours)
    assert verdict.differences == []
    assert rule in verdict.excused
    others = [name for name in newer().topics if name != "uffd"]
    without = {name: why for name, why in ours.items() if name != rule}
    for applied in (excuses.applying(newer().only(others)), without, applying(), GENERAL):
        assert compare(*UFFD[rule], applied).differences


def taken(text: str, a: str, b: str, whole: str = WHOLE) -> list[str]:
    """What differs, if these are the pages of B after further operations."""
    ops = program.parse(TAKE.format("") + text)
    states = (done(5) + side for side in (SPLIT, whole))
    more = "".join(f"\no {n} ok" for n in range(5, len(ops)))
    left, right = (
        read(f"{was}{more}\nm 0 B 0 {now}") for was, now in zip(states, (a, b), strict=True)
    )
    return compare(ops, left, right, excuses.applying(newer())).differences


def test_a_folio_that_was_taken_is_one() -> None:
    assert taken("0 hold B 3\nreclaim", "3*s 1*px:t2@A3 12*s", "16*pxL:t2@A0") == []
    written = "0 advise B 0 16 free\n0 write B 0 1\nreclaim"
    assert taken(written, "1*s 15*-", "16*s") == []
    assert taken(written, "1*px:t6@B0 15*pxz:t2@A1", "1*pxL:t6@B0 15*pxL:t2@A1") == []
    assert taken("reclaim", "16*po:0", "16*s") == []


def test_a_page_that_was_taken_loses_nothing() -> None:
    for a, b in (
        ("16*px:t2@A0", "16*-"), ("16*px:t2@A0", "16*pxL:t2@A1"), ("16*px:t2@A0", "16*pxwL:t2@A0"),
        ("16*s", "16*-"), ("16*px:t2@A0", "16*pL:t2@A0"), ("16*-", "16*s"),
    ):  # fmt: skip
        assert len(taken("reclaim", a, b)) == 16
    written = "0 advise B 0 16 free\n0 write B 0 1\nreclaim"
    assert len(taken(written, "16*s", "1*s 15*-")) == 15


def test_a_small_page_beside_a_folio_that_was_taken_is_given_up_with_it() -> None:
    whole = "m 0 A 0 16*-\nm 0 B 0 8*pxL:t2@A0 8*px:t2@A8"
    a, b = "16*px:t2@A0", "8*pxzL:t2@A0 8*pxz:t2@A8"
    assert taken("0 advise B 0 16 free", a, b, whole) == []
    assert len(taken("0 advise B 0 16 cold", a, b.replace("z", "d"), whole)) == 16
    assert len(taken("0 advise B 0 16 free", a, b, SPLIT)) == 16
    assert len(taken("0 advise B 0 16 free", a, b.replace("t2@A8", "t2@A7"), whole)) == 8


def test_what_was_taken_on_one_side_alone_is_taken_again_there_alone() -> None:
    text = TAKE.format("0 hold A 3\n") + "0 map D 0 16 anon\n0 take {} 0 16 D 0 all"
    a = "o 5 EBUSY\nm 0 A 0 16*pxL:t2@A0\nm 0 B 0 16*-\no 6 ok\nm 0 D 0 16*-\n"
    b = f"o 5 ok\n{WHOLE}\no 6 ok\nm 0 D 0 16*-\n"
    for slot, fine in (("B", True), ("C", False)):
        ops = program.parse(text.format(slot))
        left = read(done(5) + a + "o 7 ENOENT")
        right = read(done(5) + b + "o 7 ok\nm 0 B 0 16*-\nm 0 D 0 16*pxL:t2@A0")
        assert (compare(ops, left, right, excuses.applying(newer())).differences == []) == fine


def test_a_folio_that_was_given_up_is_reused_as_such() -> None:
    text = "folio 64\n0 map A 0 16 anon\n0 write A 0 1\n0 advise A 0 16 free\n0 fork 1"
    case = ending(text, "m 1 A 0 16*px:t201@A0", "m 1 A 0 16*pxzL:t201@A0")
    assert compare(*case, applying()).differences == []
    without = {name: why for name, why in applying().items() if name != Rule.REUSED}
    assert len(compare(*case, without).differences) == 16


def test_a_folio_that_was_taken_and_locked_stays_whole() -> None:
    text = "0 advise B 0 16 free\n0 write B 0 3\n0 lock B 0 1\nreclaim"
    assert taken(text, "3*px:t6@B0 13*-", "3*pxzL:t6@B0 13*pxzL:t2@A3") == []
    assert taken(text, "1*px:t6@B0 2*s 13*-", "3*pxzL:t6@B0 13*pxzL:t2@A3") == []
    assert len(taken(text, "3*px:t6@B0 13*px:t2@A3", "3*pxzL:t6@B0 13*pxzL:t9@A3")) == 13


def test_a_held_folio_of_zeroes_stays_given_up() -> None:
    text = "0 map A 0 16 anon\n0 read A 0 16\n0 advise A 0 16 free\n0 hold A 3\n"
    case = ending(f"{text}0 advise A 0 16 pageout", "m 0 A 0 16*pxL:0", "m 0 A 0 16*pxzL:0")
    assert compare(*case, applying()).differences == []
    assert compare(*case, GENERAL).differences


def test_what_was_taken_takes_other_slots() -> None:
    last = "reclaim\n0 read B 0 16"
    for size, fine in (("8*pxL:t2@A0 8*px:t2@A8", True), ("16*px:t2@A0", False)):
        ops = program.parse(TAKE.format("") + "0 map C 0 8 anon\n0 write C 0 8\n" + last)
        whole = f"m 0 A 0 16*-\nm 0 B 0 {size}"
        middle = (
            "o 5 ok\no 6 ok\nm 0 C 0 8*pxL:t6@C0\no 7 ok\nm 0 C 0 8*s\no 8 ok\nm 0 C 0 8*{}:t6@C0"
        )
        left, right = (
            read(f"{done(5)}{state}\n{middle.format(letters)}")
            for state, letters in ((SPLIT, "pxL"), (whole, "px"))
        )
        assert (compare(ops, left, right, excuses.applying(newer())).differences == []) == fine


def test_a_mapping_that_is_replaced_was_read_before() -> None:
    text = "0 map A 0 16 anon\n0 write A 0 16\n0 advise A 0 16 free\n0 write A 3 1\nreclaim\n"
    ops = program.parse(text + "0 warm\n0 map A 0 16 anon")
    last = "o 4 ok\nm 0 A 0 {}\no 5 ok\no 6 ok before={:08x} after=00000001\nm 0 A 0 16*-"
    a = done(4) + last.format("3*- 1*px:t3@A3 12*-", 2)
    b = done(4) + last.format("16*px:t3@A0", 3)
    verdict = compare(ops, read(a), read(b), applying())
    assert [text for text in verdict.differences if "before" in text] == []
    same = done(4) + last.format("16*px:t3@A0", 2)
    assert compare(ops, read(same), read(b), applying()).differences


def test_a_crowd_of_merged_pages_shares_several() -> None:
    text = "0 map A 0 300 anon\n0 same A 0 300 1\n0 advise A 0 300 mergeable\nksm 4\nreclaim"
    for sharing, fine in ((299, True), (99, False)):
        ops = program.parse(text.replace("300", str(sharing + 1)))
        head = f"{done(3)}o 3 shared=1 sharing={sharing}\no 4 ok\n"
        a, b = (read(f"{head}m 0 A 0 2*{page}") for page in ("s", "p:k1"))
        assert (compare(ops, a, b, applying()).differences == []) == fine


def test_a_page_that_was_not_taken_is_of_the_same_folio() -> None:
    text = "0 map A 0 16 anon\n0 write A 0 16\n0 map B 0 16 anon\n0 take A 0 8 B 0 all"
    case = ending(text, "m 0 A 0 8*- 8*px:t1@A8", "m 0 A 0 8*- 8*pxL:t1@A8")
    assert len(compare(*case, excuses.applying(newer())).differences) == 8


def test_pages_of_zeroes_are_the_zero_page_where_the_folio_was_split() -> None:
    ops, *_ = UFFD[Rule.TAKEN]
    for letters, fine in (("pxL", True), ("pxdL", True), ("pxwL", False)):
        a, b = (read(done(5) + AWAY.format(f"{state}:0")) for state in ("po", letters))
        assert (compare(ops, a, b, excuses.applying(newer())).differences == []) == fine


def test_what_one_side_merged_with_more_comes_back_from_swap_as_shared_or_not() -> None:
    text = "smart on\n0 map A 0 2 anon\n0 same A 0 2 1\n0 advise A 0 2 mergeable\nksm 4\n"
    text += "0 write A 0 1\n0 same A 0 1 1\nksm 8\nreclaim\n0 read A 0 2"
    ops = program.parse(text)
    head = "o 4 shared=1 sharing=1\nm 0 A 0 2*p:k1\no 5 ok\nm 0 A 0 1*px:t5@A0 1*px:k1\no 6 ok\n"
    end = "m 0 A 0 2*px:k1\no 7 {}\nm 0 A 0 {}\no 8 ok\nm 0 A 0 2*s\no 9 ok\nm 0 A 0 {}"
    last = f"{done(4)}{head}{end}"
    left = read(last.format("shared=1 sharing=0", "2*px:k1", "2*p:k1"))
    for page, fine in (("px:k1", True), ("px:k2", False), ("pxd:k1", False)):
        found = f"1*p:k1 1*{page}"
        right = read(last.format("shared=1 sharing=1", "2*p:k1", found))
        assert (compare(ops, left, right, applying()).differences == []) == fine


def test_what_both_sides_merged_alike_comes_back_from_swap_alike() -> None:
    text = (
        "0 map A 0 2 anon\n0 same A 0 2 1\n0 advise A 0 2 mergeable\nksm 4\nreclaim\n0 read A 0 2"
    )
    record = (
        "o 1 ok\nm 0 A 0 2*px:k1\no 3 ok\nm 0 A 0 2*p:k1\no 4 ok\nm 0 A 0 2*s\no 5 ok\nm 0 A 0 {}"
    )
    a, b = (read(record.format(pages)) for pages in ("2*px:k1", "1*p:k1 1*px:k1"))
    assert compare(program.parse(text), a, b, applying()).differences


def test_which_of_equal_pages_is_merged_after_swap_decides_what_the_rest_come_back_as() -> None:
    text = "0 map A 0 5 anon\n0 same A 2 3 1\n0 advise A 0 5 mergeable\nksm 4\nreclaim\n"
    text += "0 advise A 3 1 populate-read\n0 same A 0 2 1\nksm 8\n0 read A 2 3"
    record = "o 1 ok\nm 0 A 0 2*- 3*px:k1\no 3 ok\nm 0 A 0 2*- 3*p:k1\no 4 ok\nm 0 A 0 2*- 3*s\n"
    record += "o 5 ok\nm 0 A 0 2*- 1*s 1*px:k1 1*s\no 6 ok\nm 0 A 0 2*px:k1 1*s 1*px:k1 1*s\n"
    record += "o 7 ok\nm 0 A 0 2*p:k1 1*s 1*p:k1 1*s\no 8 ok\nm 0 A 0 {}"
    ops, a = program.parse(text), read(record.format("5*p:k1"))
    for page, fine in (("px:k1", True), ("px:k2", False), ("pxd:k1", False)):
        b = read(record.format(f"2*p:k1 1*{page} 1*p:k1 1*{page}"))
        assert (compare(ops, a, b, applying()).differences == []) == fine


def test_shares_of_swap_depend_on_what_was_merged_after_it_came_back() -> None:
    text = "0 map A 0 4 anon\n0 same A 0 4 1\n0 advise A 0 4 mergeable\nksm 8\n{}"
    text += "0 read A 1 2\nksm 4\nreclaim"
    sums = "0+4:rw-p:0,Size=16,Swap=16,SwapPss={},rd,wr{}"
    for between, flag, fine in (
        ("reclaim\n", ",mg", True),
        ("compact\n", ",mg", False),
        ("reclaim\n", "", False),
    ):
        a, b = (f"v 0 A: {sums.format(share, flag)}" for share in (6, 4))
        ops, left, right = ending(text.format(between), a, b)
        assert (compare(ops, left, right, applying()).differences == []) == fine


def test_a_pin_marks_the_folio_that_its_last_owner_kept() -> None:
    text = "folio 64\n0 map A 0 16 anon\n0 write A 0 16\n{}1 pin A 9\n1 advise A 9 1 dontneed"
    line = "v 1 A: 0+16:rw-p:0,Size=64,Rss=60,{}Anonymous=60"
    for shared, field, fine in (
        ("0 fork 1\n0 exit\n", "Referenced=60,", True), ("", "Referenced=60,", False),
        ("0 fork 1\n0 exit\n", "Private_Dirty=60,", False),
    ):  # fmt: skip
        ops, a, b = ending(text.format(shared), line.format(""), line.format(field))
        assert (compare(ops, a, b, applying()).differences == []) == fine


def test_what_is_refused_empties_nothing() -> None:
    text = "0 map A 0 16 anon\n0 write A 0 16\n0 advise A 0 16 free\n0 write A 8 1\nreclaim\n"
    ops = program.parse(f"{text}0 lock A 0 1\n0 advise A 0 16 dontneed")
    a, b = "8*- 1*px:t4@A8 7*-", "16*px:t4@A0"
    for outcome, fine in (("EINVAL", True), ("ok", False)):
        left, right = (
            read(f"{done(4)}o 4 ok\nm 0 A 0 {pages}\no 5 ok\no 6 {outcome}\nm 0 A 0 {pages}")
            for pages in (a, b)
        )
        found = compare(ops, left, right, applying()).differences
        assert ([one for one in found if one.startswith("o 6")] == []) == fine


def test_the_rest_of_a_folio_was_moved_before_one_side_split_it() -> None:
    text = TAKE.format("0 hold A 3\n0 move A 20 1 C 0 move\n")
    ops = program.parse(text)
    state = f"{done(4)}o 4 ok\nm 0 C 0 1*{{0}}\no 5 ok\n"
    state += "o 6 {1}\nm 0 A 0 16*{2}\nm 0 B 0 16*{3}\nm 0 C 0 1*{4}"
    for was, page, fine in (
        ("0", "po:0", True), ("0", "po:t2@A4", False), ("0", "pwo:0", False),
        ("t2@A4", "px:t2@A4", True), ("t2@A4", "px:t2@A5", False), ("t2@A4", "p:t2@A4", False),
    ):  # fmt: skip
        left, right = (
            read(state.format(f"pxL:{was}", *rest))
            for rest in (("EBUSY", "pxL:t2@A0", "-", f"pxL:{was}"), ("ok", "-", "pxL:t2@A0", page))
        )
        found = compare(ops, left, right, excuses.applying(newer())).differences
        assert (found == []) == fine


def test_a_huge_mapping_that_was_kept_and_emptied_leaves_no_page_table() -> None:
    text = "folio 2048\n0 map A 0 512 anon\n0 write A 0 1\n0 advise A 0 512 free\n{}"
    text += "0 advise A 0 512 pageout\n0 advise A 0 512 dontneed\n0 read A 0 512"
    for written, pages, fine in (
        ("0 write A 4 1\n", "pxL:0", True), ("0 write A 4 1\n", "pxL:t2@A0", False),
        ("", "pxL:0", False),
    ):  # fmt: skip
        ops = program.parse(text.format(written))
        emptied = f"{done(len(ops) - 1)}o {len(ops) - 2} ok\nu 0 VmLck=0 VmPin=0 VmPTE={{}}\n"
        ended = f"m 0 A 0 512*-\no {len(ops) - 1} ok\nm 0 A 0 512*{{}}"
        a, b = (
            read(emptied.format(table) + ended.format(page))
            for table, page in ((36, "po:0"), (32, pages))
        )
        assert (compare(ops, a, b, applying()).differences == []) == fine


def test_slots_depend_on_pages_that_differed_and_are_gone() -> None:
    text = "folio 64\n0 map A 0 16 anon\n0 write A 0 1\n0 fork 1\n1 exit\n0 write A 0 1\n"
    text += "0 map C 0 16 anon\n0 write C 0 16\nreclaim\n0 {}\n0 read C 0 16"
    ops = program.parse(text.format("advise A 0 16 dontneed"))
    state = "o 5 ok\nm 0 A 0 1*{}:t5@A0 15*pxL:0\no 7 ok=16\nm 0 C 0 16*pxL:t7@C0\n"
    state += "o 8 ok\nm 0 C 0 16*s\no 9 ok\nm 0 A 0 16*-\no 10 ok\nm 0 C 0 {}"
    for page, apart, fine in (
        ("px:t7@C0", "px", True), ("px:t7@C1", "px", False), ("px:t7@C0", "pxL", False),
    ):  # fmt: skip
        a, b = read(state.format(apart, "16*pxL:t7@C0")), read(state.format("pxL", f"16*{page}"))
        assert (compare(ops, a, b, applying()).differences == []) == fine


def test_every_variant_of_the_series_has_the_excuses_of_its_topics() -> None:
    variants = series.variants(ROOT / "patches" / "linux-6.12.y")
    assert len(variants) > 1
    for variant in variants:
        rules = {rule for rule, topic in TOPICS.items() if topic in variant.topics}
        assert set(excuses.applying(variant)) == rules | set(GENERAL)


def test_a_series_without_the_file_has_only_the_own_excuses(tmp_path: Path) -> None:
    assert excuses.applying(replace(whole(), file=tmp_path / "series")) == GENERAL
    assert excuses.applying(None) == GENERAL


GOOD = """
[[excuse]]
name = "held"
topic = "lazyfree"
reason = '''a folio
stays'''
"""


def test_entries_are_read(tmp_path: Path) -> None:
    file = tmp_path / excuses.FILE
    file.write_text(GOOD)
    assert excuses.read(file) == [excuses.Excuse(Rule.HELD, "lazyfree", "a folio\nstays")]
    file.write_text("# none\n")
    assert excuses.read(file) == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('topic = "lazyfree"', "", "lacks 'topic'"),
        ('topic = "lazyfree"', 'topic = ""', "lacks its topic"),
        ('topic = "lazyfree"', "topic = 3", "3 is not of type str"),
        ('name = "held"', "", "lacks 'name'"),
        ("reason", "because", "lacks 'reason'"),
        ("topic", "why = 'x'\ntopic", "has no key why"),
        ('"held"', '"hold"', "'hold' is not a valid Rule"),
        ('"held"', '"slots"', "slots applies to any two kernels"),
        ("[[excuse]]", "[[excuses]]", "has no key excuses"),
        ("[[excuse]]", "[excuse]", "is not of type list"),
        ('"held"', "held", "cannot be read"),
    ],
)
def test_an_entry_that_is_wrong_is_named(tmp_path: Path, old: str, new: str, what: str) -> None:
    file = tmp_path / excuses.FILE
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(UserError) as caught:
        excuses.read(file)
    assert what in caught.value.text()
    assert str(file) in caught.value.where
    assert caught.value.remedy


def test_an_entry_that_is_no_table(tmp_path: Path) -> None:
    (tmp_path / excuses.FILE).write_text("excuse = [1]")
    with pytest.raises(UserError, match="is invalid"):
        excuses.read(tmp_path / excuses.FILE)


def test_an_unknown_rule_names_the_entry_and_the_rules(tmp_path: Path) -> None:
    file = tmp_path / excuses.FILE
    file.write_text(GOOD + GOOD.replace("held", "hold"))
    with pytest.raises(UserError) as caught:
        excuses.read(file)
    assert caught.value.where.startswith(f"{file}:9: 'hold'")
    assert "held" in caught.value.remedy
    assert "slots" not in caught.value.remedy


def test_the_documentation_has_every_rule() -> None:
    text = (ROOT / "docs/dev/fuzz-rules.md").read_text()
    for rule, topic in TOPICS.items():
        assert f"| `{rule}` | {topic} |" in text
    for rule in NEWER:
        assert re.search(rf"^\| `{rule}` \| .*7\.3 \|", text, re.M)
    for own in GENERAL:
        assert f"- `{own}`:" in text
