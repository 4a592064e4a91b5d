# SPDX-License-Identifier: GPL-2.0
"""Promises: for each rule a record that keeps it, and one that breaks it at the same operation."""

import pytest
from fuzz_records import read

from quire.fuzz import programs
from quire.fuzz.language import program
from quire.fuzz.language.verbs import TABLE
from quire.fuzz.promise import content, rules
from quire.fuzz.promise.oracle import Broken, broken_promises
from quire.fuzz.promise.rules import Promise

TWO = "v 0 A 0+2:rw-p:0\n"
OBJECT = "v 0 A 0+2:rw-s:0\n"
CHILD = TWO.replace("v 0", "v 1")
# Two pages are mapped, and written to: the program, and records of it.
WRITE = "0 map A 0 2 anon\n0 write A 0 2\n"
MAPPED = f"o 0 ok\n{TWO}"
WROTE = f"{MAPPED}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*px:t1@A0\n"
# Hashes of a page that operation 1 wrote to page 0 of A, and of one that cannot be read.
WRITTEN_ONCE, REFUSED = "c129dcb4", "9e3779b9"
# The same, and a second mapping for UFFDIO_MOVE; and all pages protected by a scan.
TAKE = f"{WRITE}0 map B 0 2 anon\n"
ROOM = f"{WROTE}o 2 ok\nv 0 B 0+2:rw-p:0\nm 0 B 0 2*-\n"
SCAN = f"{WRITE}0 scan A 0 2 0 written\n"
SCANNED = f"{WROTE}o 2 end=2 0+2:W\nm 0 A 0 2*pxw:t1@A0\n"
# A program, its record up to the last operation, and how that goes on: as promised, and not.
CASES: dict[str, tuple[Promise, str, str, str, str]] = {
    "a new mapping is zero": (
        rules.ZEROED, "0 map A 0 2 anon\n0 read A 0 2",
        f"{MAPPED}m 0 A 0 2*-\no 1 ok=2 segv=0 bus=0", "m 0 A 0 2*po:0",
        "m 0 A 0 1*po:0 1*px:t1@A1"),
    "reclaim drops a page": (
        rules.WRITTEN, f"{WRITE}reclaim",
        f"{MAPPED}m 0 A 0 2*-\no 1 ok=2 segv=0 bus=0\nm 0 A 0 2*px:t1@A0\no 2 ok", "m 0 A 0 2*s",
        "m 0 A 0 1*s 1*-"),
    "a child's write is seen by its parent": (
        rules.WRITTEN, f"{WRITE}0 fork 1\n1 write A 0 1",
        f"{WROTE}o 2 ok\nm 0 A 0 2*p:t1@A0\n{CHILD}m 1 A 0 2*p:t1@A0\no 3 ok=1 segv=0 bus=0\n"
        "m 1 A 0 1*px:t3@A0 1*p:t1@A1", "m 0 A 0 1*px:t1@A0 1*p:t1@A1",
        "m 0 A 0 1*px:t3@A0 1*p:t1@A1"),
    "a child gives up a page, and its parent loses it": (
        rules.WRITTEN, f"{WRITE}0 fork 1\n1 advise A 0 2 free\nreclaim",
        f"{WROTE}o 2 ok\nm 0 A 0 2*p:t1@A0\n{CHILD}m 1 A 0 2*p:t1@A0\no 3 ok\no 4 ok\nm 1 A 0 2*-",
        "m 0 A 0 2*s", "m 0 A 0 2*-"),
    "a child has another page": (
        rules.FORKED, f"{WRITE}0 fork 1", f"{WROTE}o 2 ok\nm 0 A 0 2*p:t1@A0\n{CHILD}",
        "m 1 A 0 2*p:t1@A0", "m 1 A 0 2*p:t1@A1"),
    "one object, two contents": (
        rules.SHARED, "0 map A 0 2 shfile\n0 map B 0 2 shfile\n0 write A 0 2\n0 read B 0 2",
        f"o 0 ok\n{OBJECT}o 1 ok\nv 0 B 0+2:rw-s:0\no 2 ok=2 segv=0 bus=0\nm 0 A 0 2*pxf:t2@A0\n"
        "o 3 ok=2 segv=0 bus=0\nm 0 A 0 2*pf:t2@A0", "m 0 B 0 2*pf:t2@A0", "m 0 B 0 2*pf:0"),
    "a child that may not have a mapping writes to another object": (
        rules.SHARED,
        "0 map A 0 2 shared\n0 write A 0 2\n0 advise A 0 3 dofork\n0 fork 1\n1 write A 0 1",
        f"o 0 ok\n{OBJECT}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*pxf:t1@A0\no 2 ENOMEM\no 3 ok\n"
        "m 0 A 0 2*pf:t1@A0\nv 1 A 0+2:rw-s:0\nm 1 A 0 2*pf:t1@A0\no 4 ok=1 segv=0 bus=0\n"
        "m 1 A 0 1*pf:t4@A0 1*pf:t1@A1", "m 0 A 0 1*pf:t4@A0 1*pf:t1@A1", "m 0 A 0 2*pf:t1@A0"),
    "a private mapping shows something else than the file": (
        rules.SHOWN, "0 map A 0 2 shfile\n0 write A 0 2\n0 map B 0 2 file\n0 read B 0 2",
        f"o 0 ok\n{OBJECT}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*pxf:t1@A0\no 2 ok\nv 0 B 0+2:rw-p:0\n"
        "o 3 ok=2 segv=0 bus=0\nm 0 A 0 2*pf:t1@A0", "m 0 B 0 2*pf:t1@A0", "m 0 B 0 2*pf:0"),
    "a page that was given up comes back from zeroes": (
        rules.GIVEN_UP,
        "0 map A 0 1 anon\n0 write A 0 1\n0 advise A 0 1 free\nreclaim\n0 read A 0 1\n0 read A 0 1",
        "o 0 ok\nv 0 A 0+1:rw-p:0\no 1 ok=1 segv=0 bus=0\nm 0 A 0 1*px:t1@A0\no 2 ok\n"
        "m 0 A 0 1*pxz:t1@A0\no 3 ok\nm 0 A 0 1*-\no 4 ok=1 segv=0 bus=0\nm 0 A 0 1*po:0\n"
        "o 5 ok=1 segv=0 bus=0", "m 0 A 0 1*po:0", "m 0 A 0 1*px:t1@A0"),
    "a droppable page comes back from zeroes": (
        rules.DROPPABLE, "0 map A 0 1 droppable\n0 write A 0 1\nreclaim\n0 read A 0 1\nreclaim",
        "o 0 ok\nv 0 A 0+1:rw-p:0\no 1 ok=1 segv=0 bus=0\nm 0 A 0 1*pxz:t1@A0\no 2 ok\n"
        "m 0 A 0 1*-\no 3 ok=1 segv=0 bus=0\nm 0 A 0 1*po:0\no 4 ok", "m 0 A 0 1*po:0",
        "m 0 A 0 1*pxz:t1@A0"),
    "MADV_DONTNEED keeps a page": (
        rules.DROPPED, f"{WRITE}0 advise A 0 2 dontneed", f"{WROTE}o 2 ok", "m 0 A 0 2*-",
        "m 0 A 0 2*px:t1@A0"),
    "a move leaves what was at its target": (
        rules.WRITTEN,
        "0 map A 0 1 anon\n0 write A 0 1\n0 map B 0 1 anon\n0 write B 0 1\n0 move A 0 1 B 0 move",
        "o 0 ok\nv 0 A 0+1:rw-p:0\no 1 ok=1 segv=0 bus=0\nm 0 A 0 1*px:t1@A0\no 2 ok\n"
        "v 0 B 0+1:rw-p:0\no 3 ok=1 segv=0 bus=0\nm 0 B 0 1*px:t3@B0\no 4 ok\nv 0 A\n"
        "m 0 A 0 1*-", "m 0 B 0 1*px:t1@A0", "m 0 B 0 1*px:t3@B0"),
    "a mapping that was to grow is as it was": (
        rules.MAPPED, "0 map A 0 2 anon\n0 resize A 0 2 3", f"{MAPPED}o 1 ok", "v 0 A 0+3:rw-p:0",
        "v 0 A 0+2:rw-p:0"),
    "a hole has contents": (
        rules.HOLE, "0 map A 0 2 shared\n0 write A 0 2\n0 advise A 0 2 remove\n0 read A 0 2",
        f"o 0 ok\n{OBJECT}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*pxf:t1@A0\no 2 ok\nm 0 A 0 2*-\n"
        "o 3 ok=2 segv=0 bus=0", "m 0 A 0 2*pxf:0", "m 0 A 0 2*pxf:t1@A0"),
    "a wiped page reaches the child": (
        rules.WIPED, f"{WRITE}0 advise A 0 2 wipeonfork\n0 fork 1",
        f"{WROTE}o 2 ok\no 3 ok\n{CHILD}", "m 1 A 0 2*-", "m 1 A 0 2*p:t1@A0"),
    "a page is left behind by a move": (
        rules.LEFT, f"{WRITE}0 move A 0 2 B 0 keep",
        f"{WROTE}o 2 ok\nv 0 B 0+2:rw-p:0\nm 0 B 0 2*px:t1@A0", "m 0 A 0 2*-", "m 0 A 0 2*p:t1@A0"),
    "a move mixes pages up": (
        rules.WRITTEN, f"{WRITE}0 move A 0 2 B 0 move",
        f"{WROTE}o 2 ok\nv 0 A\nm 0 A 0 2*-\nv 0 B 0+2:rw-p:0", "m 0 B 0 2*px:t1@A0",
        "m 0 B 0 1*px:t1@A1 1*px:t1@A0"),
    "UFFDIO_MOVE mixes pages up": (
        rules.WRITTEN, f"{TAKE}0 take A 0 2 B 0 all", f"{ROOM}o 3 ok\nm 0 A 0 2*-",
        "m 0 B 0 2*px:t1@A0", "m 0 B 0 1*px:t1@A1 1*px:t1@A0"),
    "UFFDIO_MOVE moves a page more than it says": (
        rules.WRITTEN, f"{TAKE}0 take A 0 2 B 0 all", f"{ROOM}o 3 EBUSY after=1",
        "m 0 A 0 1*- 1*px:t1@A1\nm 0 B 0 1*px:t1@A0 1*-", "m 0 A 0 2*-\nm 0 B 0 2*px:t1@A0"),
    "UFFDIO_MOVE leaves a page": (
        rules.TAKEN, f"{TAKE}0 take A 0 2 B 0 holes", f"{ROOM}o 3 ok\nm 0 B 0 2*px:t1@A0",
        "m 0 A 0 2*-", "m 0 A 0 1*- 1*px:t1@A1"),
    "UFFDIO_MOVE onto what is just behind": (
        rules.WRITTEN, "0 map A 0 3 anon\n0 write A 1 2\n0 take A 1 2 A 0 all",
        "o 0 ok\nv 0 A 0+3:rw-p:0\no 1 ok=2 segv=0 bus=0\nm 0 A 0 1*- 2*px:t1@A1\no 2 ok",
        "m 0 A 0 2*px:t1@A1 1*-", "m 0 A 0 1*px:t1@A1 1*px:t1@A1 1*-"),
    "a page is not trapped where it was moved to": (
        rules.READABLE, f"{TAKE}0 take A 0 2 B 0 to-rwp", f"{ROOM}o 3 ok\nm 0 A 0 2*-",
        "m 0 B 0 2*pxw:!", "m 0 B 0 1*pxw:! 1*px:t1@A1"),
    "a scan leaves a page": (
        rules.PROTECTED, SCAN, f"{WROTE}o 2 end=2 0+2:W", "m 0 A 0 2*pxw:t1@A0",
        "m 0 A 0 1*pxw:t1@A0 1*px:t1@A1"),
    "a scan protects more than it reports": (
        rules.LIFTED, f"{WRITE}0 scan A 0 2 1 written", f"{WROTE}o 2 end=1 0+1:W",
        "m 0 A 0 1*pxw:t1@A0 1*px:t1@A1", "m 0 A 0 2*pxw:t1@A0"),
    "a write lifts the protection of another page": (
        rules.PROTECTED, f"{SCAN}0 write A 0 1", f"{SCANNED}o 3 ok=1 segv=0 bus=0",
        "m 0 A 0 1*px:t3@A0 1*pxw:t1@A1", "m 0 A 0 1*px:t3@A0 1*px:t1@A1"),
    "a write to a page under asynchronous protection is refused": (
        rules.LIFTED, f"{SCAN}0 write A 0 2", SCANNED,
        "o 3 ok=2 segv=0 bus=0\nm 0 A 0 2*px:t3@A0", "o 3 ok=0 segv=0 bus=2"),
    "a scan does not report what was written": (
        rules.WRITTEN_SINCE, f"{SCAN}0 write A 0 2\n0 scan A 0 2 0 written",
        f"{SCANNED}o 3 ok=2 segv=0 bus=0\nm 0 A 0 2*px:t3@A0",
        "o 4 end=2 0+2:W\nm 0 A 0 2*pxw:t3@A0", "o 4 end=2 0+1:W\nm 0 A 0 2*pxw:t3@A0"),
    "a scan reports what was not written": (
        rules.WRITTEN_SINCE, f"{SCAN}0 scan A 0 2 0 look", SCANNED, "o 3 end=2 0+2:Ap",
        "o 3 end=2 0+2:WAp"),
    "a scan finds a page that is not there": (
        rules.SCANNED, f"{WRITE}0 scan A 0 2 0 look", WROTE, "o 2 end=2 0+2:Wp",
        "o 2 end=2 0+1:Wp 1+1:W"),
    "a hole in a mapping": (
        rules.MAPPED, "0 map A 0 2 anon\n0 protect A 0 2 r", f"{MAPPED}m 0 A 0 2*-\no 1 ok",
        "v 0 A 0+2:r--p:0", "v 0 A 0+1:r--p:0"),
    "a protection that was not asked for": (
        rules.MAPPED, "0 map A 0 2 anon\n0 protect A 0 1 r", f"{MAPPED}m 0 A 0 2*-\no 1 ok",
        "v 0 A 0+1:r--p:0 1+1:rw-p:0", "v 0 A 0+2:r--p:0"),
    "another page of the file": (
        rules.MAPPED, "0 map A 3 2 file", "o 0 ok", "v 0 A 3+2:rw-p:3", "v 0 A 3+2:rw-p:4"),
    "a write to a read-only page": (
        rules.SIGNALS, "0 map A 0 2 anon\n0 protect A 0 1 r\n0 write A 0 2",
        f"{MAPPED}m 0 A 0 2*-\no 1 ok\nv 0 A 0+1:r--p:0 1+1:rw-p:0",
        "o 2 ok=1 segv=1 bus=0\nm 0 A 0 1*- 1*px:t2@A1",
        "o 2 ok=2 segv=0 bus=0\nm 0 A 0 2*px:t2@A0"),
    "a page that PROT_NONE lets read": (
        rules.READABLE, f"{WRITE}0 protect A 0 2 none", f"{WROTE}o 2 ok\nv 0 A 0+2:---p:0",
        "m 0 A 0 2*px:!", "m 0 A 0 2*px:t1@A0"),
    "swapoff() leaves a page": (
        rules.SWAPPED_OFF, f"{WRITE}reclaim\nswap off", f"{WROTE}o 2 ok\nm 0 A 0 2*s\no 3 ok",
        "m 0 A 0 2*px:t1@A0", "m 0 A 0 1*s 1*px:t1@A1"),
    "a write is not seen": (
        rules.UNSEEN, "0 map A 0 2 anon\n0 wp A 0 2\n0 write A 0 2",
        f"{MAPPED}o 1 ok\nm 0 A 0 2*sw", "o 2 ok=0 segv=0 bus=2", "o 2 ok=1 segv=0 bus=1"),
    "a page is not trapped": (
        rules.READABLE, f"{WRITE}0 rwp A 0 2", f"{WROTE}o 2 ok", "m 0 A 0 2*pxw:!",
        "m 0 A 0 1*pxw:! 1*pxw:t1@A1"),
    "reclaim loses a trap": (
        rules.PROTECTED, f"{WRITE}0 rwp A 0 2\nreclaim", f"{WROTE}o 2 ok\nm 0 A 0 2*pxw:!\no 3 ok",
        "m 0 A 0 2*sw", "m 0 A 0 1*s 1*sw"),
    "a trapped page is read": (
        rules.UNSEEN, f"{WRITE}0 rwp A 0 2\n0 read A 0 2", f"{WROTE}o 2 ok\nm 0 A 0 2*pxw:!",
        "o 3 ok=0 segv=0 bus=2", "o 3 ok=1 segv=0 bus=1"),
    "pages stay merged": (
        rules.APART,
        "0 map A 0 2 anon\n0 same A 0 2 1\n0 advise A 0 2 mergeable\nksm 4\n"
        "0 advise A 0 2 unmergeable",
        f"{MAPPED}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*px:k1\no 2 ok\nv 0 A 0+2:rw-p:0,mg\n"
        "o 3 shared=1 sharing=1\nv 0 A 0+2:rw-p:0,KSM=8,mg\nm 0 A 0 2*p:k1\no 4 ok",
        f"{TWO}m 0 A 0 2*px:k1", "v 0 A 0+2:rw-p:0,KSM=8"),
    "ksmd loses a mark": (
        rules.PROTECTED,
        "0 map A 0 2 anon\n0 same A 0 2 1\n0 wp A 0 2\n0 advise A 0 2 mergeable\nksm 4",
        f"{MAPPED}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*px:k1\no 2 ok\nm 0 A 0 2*pxw:k1\no 3 ok\n"
        "o 4 shared=1 sharing=1", "m 0 A 0 2*pw:k1", "m 0 A 0 1*p:k1 1*pw:k1"),
    "a mark that was lifted": (
        rules.LIFTED, f"{WRITE}0 wp A 0 2\n0 unwp A 0 2",
        f"{WROTE}o 2 ok\nm 0 A 0 2*pxw:t1@A0\no 3 ok", "m 0 A 0 2*px:t1@A0",
        "m 0 A 0 1*px:t1@A0 1*pxw:t1@A1"),
    "reclaim loses a soft-dirty bit": (
        rules.SOFT_DIRTY, f"{WRITE}reclaim",
        f"{MAPPED}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*pxd:t1@A0\no 2 ok", "m 0 A 0 2*sd",
        "m 0 A 0 1*sd 1*s"),
    "a written page is mapped by others": (
        rules.EXCLUSIVE, "0 map A 0 2 anon\n0 write A 0 2",
        f"{MAPPED}m 0 A 0 2*-\no 1 ok=2 segv=0 bus=0", "m 0 A 0 2*px:t1@A0",
        "m 0 A 0 1*px:t1@A0 1*p:t1@A1"),
    "a page that is mapped twice": (
        rules.NOT_EXCLUSIVE, "0 map A 0 2 shared\n0 write A 0 2\n0 fork 1\n1 read A 0 2",
        f"o 0 ok\n{OBJECT}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*pxf:t1@A0\no 2 ok\nv 1 A 0+2:rw-s:0\n"
        "m 1 A 0 2*-\no 3 ok=2 segv=0 bus=0\nm 1 A 0 2*pf:t1@A0", "m 0 A 0 2*pf:t1@A0",
        "m 0 A 0 2*pxf:t1@A0"),
    "a locked page is swapped out": (
        rules.LOCKED, f"{WRITE}0 lock A 0 2\nreclaim",
        f"{WROTE}o 2 ok\nv 0 A 0+2:rw-p:0,lo\no 3 ok", "m 0 A 0 2*px:t1@A0",
        "m 0 A 0 1*px:t1@A0 1*s"),
    "the sum of locked pages": (
        rules.LOCKED_SUM, "0 map A 0 2 anon\n0 lock A 0 2\n0 unlock A 0 1",
        f"{MAPPED}u 0 VmLck=100 VmPin=0 VmPTE=4\no 1 ok\nv 0 A 0+2:rw-p:0,lo\n"
        "u 0 VmLck=108 VmPin=0 VmPTE=4\nm 0 A 0 2*px:0\no 2 ok\nv 0 A 0+1:rw-p:0 1+1:rw-p:0,lo",
        "u 0 VmLck=104 VmPin=0 VmPTE=4", "u 0 VmLck=100 VmPin=0 VmPTE=4"),
    "a page that cannot be reclaimed": (
        rules.RECLAIMABLE, f"{WRITE}reclaim\nreclaim",
        f"{WROTE}o 2 ok\nm 0 A 0 1*s 1*px:t1@A1\no 3 ok", "m 0 A 0 2*s", "m 0 A 0 1*s 1*px:t1@A1"),
    "a read through an old translation": (
        rules.FRESH, "0 map A 0 1 anon\n0 write A 0 1\n0 warm\n0 move A 0 1 B 0 move",
        "o 0 ok\nv 0 A 0+1:rw-p:0\no 1 ok=1 segv=0 bus=0\nm 0 A 0 1*px:t1@A0\no 2 ok",
        f"o 3 ok before={WRITTEN_ONCE} after={REFUSED}\nv 0 A\nv 0 B 0+1:rw-p:0\nm 0 A 0 1*-",
        f"o 3 ok before={WRITTEN_ONCE} after={WRITTEN_ONCE}\nv 0 A\nv 0 B 0+1:rw-p:0\nm 0 A 0 1*-"),
    "a leak": (
        rules.TROUBLE, "0 map A 0 2 anon", f"{MAPPED}", "m 0 A 0 2*-", "m 0 A 0 2*-\nx memory 1"),
}  # fmt: skip


def judged(text: str, record: str) -> list[Broken]:
    """What a record of a kernel with soft-dirty bits breaks, if it says so of all pages."""
    soft_dirty = "d:" in record or "d " in record
    return broken_promises(program.parse(text), read(record), soft_dirty=soft_dirty)


@pytest.mark.parametrize("name", CASES)
def test_a_promise_is_kept_or_broken(name: str) -> None:
    rule, text, record, kept, breaks = CASES[name]
    assert judged(text, f"{record}\n{kept}\n") == []
    found = judged(text, f"{record}\n{breaks}\n")
    assert found[0].rule is rule
    assert found[0].text.startswith(f"{rule.name}: ")


def test_each_rule_has_a_case_and_a_source() -> None:
    all_rules = [rule for rule in vars(rules).values() if isinstance(rule, Promise)]
    assert all(rule.promise and rule.source for rule in all_rules)
    assert {case[0] for case in CASES.values()} == {*all_rules}
    assert len({rule.name for rule in all_rules}) == len(all_rules)


# A program whose last operation has an outcome that a manual promises, and others.
ERRORS = {
    "0 map A 0 2 anon": ("ok", "ENOMEM"),
    "0 unmap A 0 2": ("ok", "EINVAL"),
    "0 protect A 0 2 r": ("ENOMEM", "ok"),
    "0 map A 0 2 anon\n0 protect A 0 2 r": ("ok", "EACCES"),
    "0 lock A 0 2": ("ENOMEM", "ok"),
    "0 map A 0 2 anon\n0 lock A 0 2": ("ok", "ENOMEM"),
    "0 map A 0 2 anon\n0 unlock A 0 2": ("ok", "ENOMEM"),
    "0 map A 0 2 anon\n0 move A 0 2 A 1 move": ("EINVAL", "ok"),
    "0 move A 0 2 B 1 move": ("EFAULT", "ENOMEM"),
    "0 map A 0 2 anon\n0 move A 0 2 B 0 move": ("ok", "EFAULT"),
    "0 map A 0 2 anon\n0 lock A 0 2\n0 advise A 0 2 dontneed": ("EINVAL", "ok"),
    "0 map A 0 2 shared\n0 advise A 0 2 free": ("EINVAL", "ok"),
    "0 map A 0 2 anon\n0 advise A 0 2 remove": ("EACCES", "ok"),
    "0 map A 0 2 anon\n0 write A 0 2\n0 take B 0 2 A 0 all": ("EEXIST after=1", "ok"),
    "0 advise A 0 2 pageout": ("ENOMEM", "ok"),
    "0 map A 0 2 anon\n0 advise A 0 2 pageout": ("ok", "EIO"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_is_as_documented(text: str) -> None:
    last = len(text.splitlines()) - 1
    start = "".join(f"o {number} ok\nv 0 A 0+2:rw-p:0\n" for number in range(last))
    if "shared" in text:
        start = start.replace("rw-p", "rw-s")
    if "lock" in text and last == 2:
        start = start[: -len("\n")] + ",lo\nm 0 A 0 2*px:0\n"
    right, wrong = ERRORS[text]
    assert not [
        one for one in judged(text, f"{start}o {last} {right}\n") if "error" in one.rule.name
    ]
    found = judged(text, f"{start}o {last} {wrong}\n")
    assert found[0].rule.name.startswith("error: ")
    assert found[0].rule.source


def test_each_error_has_a_case() -> None:
    assert len(ERRORS) == len({error for verb in TABLE.values() for error in verb.errors})


# Reports that no scan of page 0 and 1, of at most one page, may make.
@pytest.mark.parametrize(
    "report",
    ["end=3 0+1:W", "end=2 0+2:W", "end=1 1+1:W", "end=2 1+1:W 0+1:W", "end=2", "end=2 0+1:Ws"],
)
def test_a_report_that_cannot_be(report: str) -> None:
    (found, *_) = judged(f"{WRITE}0 scan A 0 2 1 look", f"{WROTE}o 2 {report}\n")
    assert found.rule is rules.SCANNED


# Where no source says anything, nothing is found.
UNDEFINED = {
    "reclaim of what was held": (
        f"{WRITE}0 hold A 0\nreclaim\nreclaim\n0 drop\nswap on",
        f"{WROTE}o 2 ok\no 3 ok\no 4 ok\no 5 ok\no 6 ok\n"),
    "a trap of a page that was not there": (
        "0 map A 0 2 anon\n0 rwp A 0 2\n0 read A 0 2",
        f"{MAPPED}m 0 A 0 2*-\no 1 ok\no 2 ok=2 segv=0 bus=0\nm 0 A 0 2*po:0\n"),
    "a trap that the kernel lacks": (
        f"{WRITE}0 rwp A 0 2\n0 read A 0 2", f"{WROTE}o 2 EINVAL\no 3 ok=2 segv=0 bus=0\n"),
    "a mark after a move": (
        f"{WRITE}0 wp A 0 2\n0 move A 0 2 B 0 move",
        f"{WROTE}o 2 ok\nm 0 A 0 2*pxw:t1@A0\no 3 ok\nv 0 A\nm 0 A 0 2*-\nv 0 B 0+2:rw-p:0\n"
        "m 0 B 0 1*px:t1@A0 1*pxw:t1@A1\n"),
    "a mark after UFFDIO_MOVE": (
        f"{TAKE}0 wp A 0 2\n0 take A 0 2 B 0 all\n0 write B 0 2",
        f"{ROOM}o 3 ok\nm 0 A 0 2*pxw:t1@A0\no 4 ok\nm 0 A 0 2*-\nm 0 B 0 1*px:t1@A0 1*pxw:t1@A1\n"
        "o 5 ok=2 segv=0 bus=0\nm 0 B 0 2*px:t5@B0\n"),
    "what a scan that failed has protected": (
        f"{SCAN}0 write A 0 1", f"{WROTE}o 2 EPERM\nm 0 A 0 1*px:t1@A0 1*pxw:t1@A1\n"
        "o 3 ok=1 segv=0 bus=0\nm 0 A 0 1*px:t3@A0 1*pxw:t1@A1\n"),
    "a scan of more regions than an outcome has room for": (
        f"{SCAN}0 scan A 0 2 0 look", f"{SCANNED}o 3 end=2 rest=00000001\n"),
    "marks of memory that a process writes to for the kernel": (
        f"{SCAN}0 pin A 0\n0 lock A 1 1\n0 scan A 1 1 0 quiet\n0 protect A 1 1 rw",
        f"{SCANNED}o 3 ok\nm 0 A 0 1*px:t1@A0 1*pxw:t1@A1\no 4 ok\n"
        "v 0 A 0+1:rw-p:0 1+1:rw-p:0,lo\nm 0 A 0 2*px:t1@A0\n"
        "o 5 end=2\nm 0 A 0 1*px:t1@A0 1*pxw:t1@A1\no 6 ok\nm 0 A 0 2*px:t1@A0\n"),
    "a mark in a child": (
        f"{WRITE}0 wp A 0 2\n0 fork 1\n1 write A 0 2",
        f"{WROTE}o 2 ok\nm 0 A 0 2*pxw:t1@A0\no 3 ok\nm 0 A 0 2*pw:t1@A0\n"
        f"{CHILD}m 1 A 0 1*p:t1@A0 1*pw:t1@A1\no 4 ok=1 segv=0 bus=1\n"
        "m 0 A 0 1*pxw:t1@A0 1*pw:t1@A1\nm 1 A 0 1*px:t4@A0 1*pw:t1@A1\n"),
    "a page that reclaim found accessed": (f"{WRITE}reclaim", f"{WROTE}o 2 ok\n"),
    "a page that is held": (
        f"{WRITE}0 hold A 0\nreclaim\nreclaim", f"{WROTE}o 2 ok\no 3 ok\no 4 ok\n"),
    "what happens after an allocation failed": (
        "0 map A 0 2 anon\n0 fail 1\n0 write A 0 2",
        f"{MAPPED}m 0 A 0 2*-\no 1 ok\no 2 ok=1 segv=0 bus=1\nm 0 A 0 1*px:t2@A0 1*-\n"),
    "a file that changes below a private mapping": (
        "0 map A 0 1 shfile\n0 map B 0 1 file\n0 write A 0 1\n0 read B 0 1",
        "o 0 ok\nv 0 A 0+1:rw-s:0\no 1 ok\nv 0 B 0+1:rw-p:0\no 2 ok=1 segv=0 bus=0\n"
        "m 0 A 0 1*pxf:t2@A0\no 3 ok=1 segv=0 bus=0\nm 0 B 0 1*pf:0\n"),
    "which place of shared memory a write reaches after a failed move": (
        "0 map A 0 1 shfile\n0 map B 0 1 shfile\n0 write A 0 1\n0 move B 0 3 C 0 move\n"
        "0 write C 0 1",
        "o 0 ok\nv 0 A 0+1:rw-s:0\no 1 ok\nv 0 B 0+1:rw-s:0\no 2 ok=1 segv=0 bus=0\n"
        "m 0 A 0 1*pxf:t2@A0\no 3 EFAULT\nv 0 B\nv 0 C 0+1:rw-s:0\no 4 ok=1 segv=0 bus=0\n"
        "m 0 A 0 1*pf:t4@C0\nm 0 C 0 1*pf:t4@C0\n"),
    "what a failed move put in the place of shared memory": (
        "0 map A 0 2 anon\n0 map B 0 1 shfile\n0 protect A 1 1 r\n0 move A 0 2 B 0 keep",
        f"{MAPPED}o 1 ok\nv 0 B 0+1:rw-s:0\no 2 ok\nv 0 A 0+1:rw-p:0 1+1:r--p:0\no 3 EFAULT\n"
        "v 0 B 0+1:rw-p:0\n"),
    "whether what a failed move put in a place can be locked": (
        "0 map A 0 1 droppable\n0 move A 0 2 B 0 move\n0 lock B 0 1",
        "o 0 ok\nv 0 A 0+1:rw-p:0\no 1 EFAULT\nv 0 A\nv 0 B 0+1:rw-p:0\no 2 ok\n"),
    "whether a failed move took a locked mapping along": (
        "0 map A 0 1 anon\n0 lock A 0 1\n0 move A 0 3 B 0 move",
        "o 0 ok\nv 0 A 0+1:rw-p:0\nm 0 A 0 1*-\no 1 ok\nv 0 A 0+1:rw-p:0,lo\nm 0 A 0 1*px:0\n"
        "o 2 EFAULT\nv 0 A\nm 0 A 0 1*-\nv 0 B 0+1:rw-p:0,lo\nm 0 B 0 1*px:0\n"),
    "whether droppable memory can be locked": (
        "0 map A 0 1 droppable\n0 lock A 0 1", "o 0 ok\nv 0 A 0+1:rw-p:0\nm 0 A 0 1*-\no 1 ok\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_undefined_is_no_finding(name: str) -> None:
    assert judged(*UNDEFINED[name]) == []


def test_what_was_in_swap_when_swap_ended_is_back() -> None:
    text = f"{WRITE}reclaim\nreclaim\nswap off\nswap on\n"
    seen = (
        f"{WROTE}o 2 ok\nm 0 A 0 2*s\no 3 ok\no 4 ok\nm 0 A 0 2*px:t1@A0\no 5 ok\no 6 ok\no 7 ok\n"
    )
    assert judged(text, seen.partition("o 6")[0]) == []
    assert [promise.rule for promise in judged(f"{text}reclaim\nreclaim", seen)][:1] == [
        rules.RECLAIMABLE
    ]


@pytest.mark.parametrize("crowd", [10, 100])
def test_a_page_of_a_thousand_mappings_looks_pinned(crowd: int) -> None:
    text = f"0 map A 0 15 anon\n0 same A 0 15 1\n0 crowd {crowd}\nreclaim\nreclaim"
    seen = "o 0 ok\nv 0 A 0+15:rw-p:0\no 1 ok=15 segv=0 bus=0\nm 0 A 0 15*px:k1\no 2 ok\n"
    broken = judged(text, f"{seen}m 0 A 0 15*p:k1\no 3 ok\no 4 ok\n")
    assert {promise.rule for promise in broken} == ({rules.RECLAIMABLE} if crowd == 10 else set())


def test_an_operation_that_fails_may_have_done_a_part() -> None:
    text = "0 map A 0 1 anon\n0 write A 0 1\n0 advise A 0 2 dontneed"
    start = (
        "o 0 ok\nv 0 A 0+1:rw-p:0\no 1 ok=1 segv=0 bus=0\nm 0 A 0 2*-\nm 0 A 0 1*px:t1@A0 1*-\n"
        "o 2 ENOMEM\n"
    )
    assert judged(text, f"{start}m 0 A 0 2*-\n") == []
    assert judged(text, start) == []


def test_contents_are_named_as_the_guest_names_them() -> None:
    first = content.with_words(content.ZERO, content.tagged("B", 3, 7))
    assert content.name(first, words=False) == "t7@B3"
    assert content.name(content.with_words(first, content.classed(2)), words=True) == "k2"
    word = content.with_word(content.ZERO, 31, content.tagged("A", 5, 4))
    assert content.name(word, words=True) == "t4.31@A5"
    assert content.name(word, words=False) == "0"
    torn = content.with_word(first, 64, content.tagged("A", 5, 4))
    assert content.name(torn, words=True).startswith("h")


def test_programs_end_with_reclaim_and_nothing_held() -> None:
    ops = program.parse("0 map A 0 1 anon\n0 fork 2")
    longer = programs.with_epilogue(ops)
    assert [op.text() for op in longer[2:]] == [
        *("0 drop", "2 drop", "swap on", "reclaim", "reclaim", "reclaim")
    ]
    assert programs.with_epilogue(longer) == longer
    assert programs.with_epilogue(ops * 47) == ops * 47


def test_without_swap_pages_stay_in_memory() -> None:
    ops = program.parse("0 map A 0 2 anon\n0 write A 0 2\nreclaim\nreclaim")
    record = f"o 0 ok\n{TWO}o 1 ok=2 segv=0 bus=0\nm 0 A 0 2*px:t1@A0\no 2 ok\n"
    there, swapped = (read(f"{record}{last}o 3 ok\n") for last in ("", "m 0 A 0 2*s\n"))
    assert broken_promises(ops, there, soft_dirty=False)[0].rule is rules.RECLAIMABLE
    assert broken_promises(ops, there, soft_dirty=False, swapping=False) == []
    assert (
        broken_promises(ops, swapped, soft_dirty=False, swapping=False)[0].rule is rules.SWAPPED_OFF
    )
