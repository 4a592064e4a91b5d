# SPDX-License-Identifier: GPL-2.0
"""The rules for what is seen of mappings and pages: what breaks them.

A page is checked after what no promise says was taken from the record (state.py). Rules are silent
on `murky` pages.
"""

import itertools
import re
from collections.abc import Iterator, Mapping

from quire.fuzz.language import record
from quire.fuzz.language.program import Op
from quire.fuzz.promise import rules
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.content import UNREADABLE
from quire.fuzz.promise.memory import FILE, Memory, Page, Position, Process, positions
from quire.fuzz.promise.state import Mapped, pages

_VMLCK = re.compile(r"VmLck=(\d+)")
# Reclaim asks for more than there is, and tries sixteen times. Twice in a row, with no other
# operation in between, is enough for pages that the observation itself has accessed.
ENOUGH = 2


def mappings(process: Process, mapped: Mapping[Position, Mapped], slot: str) -> Iterator[Seen]:
    """The mappings of a slot are what the program asked for."""
    here = {place: page for place, page in process.pages.items() if place[0] == slot}
    for place in sorted({*here, *mapped}):
        wanted, seen = here.get(place), mapped.get(place)
        where = f"{place[0]} {place[1]}"
        if not wanted or not seen:
            yield rules.MAPPED, f"{where} is {'' if seen else 'not '}mapped"
        elif wanted.prot != seen.prot or (wanted.shared != seen.shared):
            yield rules.MAPPED, f"{where} has {seen.prot}, not {wanted.prot}"
        elif wanted.at is not None and wanted.kind in FILE and wanted.at != seen.at:
            yield rules.MAPPED, f"{where} is page {seen.at:x} of the file, not {wanted.at:x}"
        elif wanted.locked is not None and wanted.locked != seen.locked:
            yield rules.MAPPED, f"{where} is {'' if seen.locked else 'not '}locked"
    yield from _locked(here, mapped)


def _locked(here: Mapping[Position, Page], mapped: Mapping[Position, Mapped]) -> Iterator[Seen]:
    """No page of a locked mapping is in swap. What never was in memory may be."""
    loose = {seen.mapping for at, seen in mapped.items() if at not in here or not here[at].resident}
    for place, seen in mapped.items():
        if seen.swapped and seen.mapping not in loose and seen.mapping == place[1]:
            yield rules.LOCKED, f"{place[0]} {place[1]}: a page of the mapping is in swap"


def apart(op: Op, mapped: Mapping[Position, Mapped]) -> Iterator[Seen]:
    """After MADV_UNMERGEABLE none of the mappings in its range has a merged page."""
    where = {*positions(op.range)}
    outside = {seen.mapping for place, seen in mapped.items() if place not in where}
    for place, seen in mapped.items():
        if seen.merged and seen.mapping == place[1] and seen.mapping not in outside:
            begins = f"{op.actor} {place[0]} {place[1]} begins"
            yield rules.APART, f"{begins} a mapping with merged pages"


def locked_sum(process: Process, counters: str, locked: int) -> Iterator[Seen]:
    """VmLck grows with the pages of locked mappings, and with nothing else."""
    match = _VMLCK.search(counters)
    if not match:
        return
    kib = int(match[1])
    if process.locked_base is None:
        process.locked_base = kib - 4 * locked
    if kib != process.locked_base + 4 * locked:
        more = kib - process.locked_base
        yield rules.LOCKED_SUM, f"VmLck is {more} kB more for {locked} locked pages"


def page(known: Page | None, seen: record.Page, memory: Memory) -> Iterator[Seen]:
    """The rules that what is seen of a page breaks. `seen` shows something if `known` is None."""
    if not known:
        yield rules.MAPPED, "a page where nothing is mapped"
    elif not known.murky:
        checks = (_contents(known, seen, memory), _marks(known, seen, memory), _swap(seen, memory))
        for rule, text in itertools.chain(*checks):
            yield rule, f"{seen.state}:{seen.content}, {text}"


def _contents(page: Page, seen: record.Page, memory: Memory) -> Iterator[Seen]:
    refused = page.prot == "none" or page.refuses_reads
    unreadable = seen.content == UNREADABLE
    if seen.state[0] == "p" and refused is not None and unreadable != refused:
        yield rules.READABLE, "trapped" if page.refuses_reads else f"protection {page.prot}"
    if page.unsaid:
        return
    told = seen.content and not unreadable
    if (seen.state[0] == "-" and page.held) or (
        told and seen.content not in page.cell.names(memory.words)
    ):
        yield page.cell.rule, f"not {' or '.join(sorted(page.cell.names(memory.words)))}"


def _marks(page: Page, seen: record.Page, memory: Memory) -> Iterator[Seen]:
    if page.marked and "w" not in seen.state:
        yield rules.PROTECTED, "not write-protected any more"
    if page.marked is False and "w" in seen.state:
        yield rules.LIFTED, "write-protected"
    # A page of an object may be in memory and not in the page table.
    if page.resident and not (page.shared or page.behind or seen.state[0] == "p"):
        yield rules.LOCKED, "not present"
    if memory.soft_dirty and page.dirty and page.held and "d" not in seen.state:
        yield rules.SOFT_DIRTY, "not soft-dirty"
    if id(page) in memory.written and seen.state[:2] != "px":
        yield rules.EXCLUSIVE, "not mapped by this process alone"


def _swap(seen: record.Page, memory: Memory) -> Iterator[Seen]:
    # A mark without a page looks like swap.
    if not memory.swapping and seen.state[0] == "s" and "w" not in seen.state:
        yield rules.SWAPPED_OFF, "in swap"
    reclaimed = memory.swapping and memory.reclaims >= ENOUGH
    if reclaimed and seen.state[0] == "p" and "o" not in seen.state and not memory.kept:
        yield rules.RECLAIMABLE, f"still there after {memory.reclaims} times"


def shared(memory: Memory, states: Mapping[str, str]) -> Iterator[Seen]:
    """A page of shared memory that is mapped several times is not mapped once."""
    states_of: dict[int, list[str]] = {}
    for actor, place, known in memory.pages():
        if known.shared and not known.unsaid:
            line = states.get(f"m {actor} {place[0]}", "")
            seen = pages(line).get(place[1]) if line else None
            if seen and seen.state[0] == "p":
                states_of.setdefault(id(known.cell), []).append(seen.state)
    for several in states_of.values():
        if len(several) > 1 and any("x" in letters for letters in several):
            yield rules.NOT_EXCLUSIVE, f"mapped {len(several)} times: {' '.join(several)}"
