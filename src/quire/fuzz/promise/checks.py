# SPDX-License-Identifier: GPL-2.0
"""The rules for what is seen of a page, each a function: what breaks it, or nothing.

A page is checked after what the record settles (settle.py) was taken from it. Rules are silent on
`murky` pages.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from quire.fuzz.language import record
from quire.fuzz.language.program import Op
from quire.fuzz.promise import rules
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.content import UNREADABLE
from quire.fuzz.promise.memory import FILE, Memory, Page, Place, Process, places
from quire.fuzz.promise.state import Mapped, pages

_VMLCK = re.compile(r"VmLck=(\d+)")
# Reclaim asks for more than there is, and tries sixteen times. Twice in a row, with no other
# operation in between, is enough for pages that the observation itself has accessed.
ENOUGH = 2


def mappings(process: Process, mapped: Mapping[Place, Mapped], slot: str) -> Iterator[Seen]:
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


def _locked(here: Mapping[Place, Page], mapped: Mapping[Place, Mapped]) -> Iterator[Seen]:
    """No page of a locked mapping is in swap. What never was in memory may be."""
    loose = {seen.mapping for at, seen in mapped.items() if at not in here or not here[at].resident}
    for place, seen in mapped.items():
        if seen.swapped and seen.mapping not in loose and seen.mapping == place[1]:
            yield rules.LOCKED, f"{place[0]} {place[1]}: a page of the mapping is in swap"


def apart(op: Op, mapped: Mapping[Place, Mapped]) -> Iterator[Seen]:
    """After MADV_UNMERGEABLE none of the mappings in its range has a merged page."""
    where = {*places(op.range)}
    outside = {seen.mapping for place, seen in mapped.items() if place not in where}
    for place, seen in mapped.items():
        if seen.merged and seen.mapping == place[1] and seen.mapping not in outside:
            yield (
                rules.APART,
                f"{op.actor} {place[0]} {place[1]} begins a mapping with merged pages",
            )


def locked_sum(process: Process, counters: str, locked: int) -> Iterator[Seen]:
    """VmLck grows with the pages of locked mappings, and with nothing else."""
    found = _VMLCK.search(counters)
    if not found:
        return
    kib = int(found[1])
    if process.locked_base is None:
        process.locked_base = kib - 4 * locked
    if kib != process.locked_base + 4 * locked:
        more = kib - process.locked_base
        yield rules.LOCKED_SUM, f"VmLck is {more} kB more for {locked} locked pages"


def _readable(page: Page, seen: record.Page, _memory: Memory) -> Seen | None:
    refused = page.prot == "none" or page.refuses_reads
    if seen.state[0] != "p" or refused is None or (seen.content == UNREADABLE) == refused:
        return None
    return rules.READABLE, "trapped" if page.refuses_reads else f"protection {page.prot}"


def _contents(page: Page, seen: record.Page, memory: Memory) -> Seen | None:
    if page.unsaid:
        return None
    gone = seen.state[0] == "-" and page.held
    told = seen.content not in ("", UNREADABLE)
    if gone or (told and not page.cell.allows(seen.content, memory.words)):
        return page.cell.rule, f"not {' or '.join(sorted(page.cell.names(memory.words)))}"
    return None


def _mark(page: Page, seen: record.Page, _memory: Memory) -> Seen | None:
    if page.marked and "w" not in seen.state:
        return rules.PROTECTED, "not write-protected any more"
    if page.marked is False and "w" in seen.state:
        return rules.LIFTED, "write-protected"
    return None


def _resident(page: Page, seen: record.Page, _memory: Memory) -> Seen | None:
    # A page of an object may be in memory and not in the page table.
    if not page.resident or page.shared or page.behind or seen.state[0] == "p":
        return None
    return rules.LOCKED, "not present"


def _soft_dirty(page: Page, seen: record.Page, memory: Memory) -> Seen | None:
    if memory.soft_dirty and page.dirty and page.held and "d" not in seen.state:
        return rules.SOFT_DIRTY, "not soft-dirty"
    return None


def _exclusive(page: Page, seen: record.Page, memory: Memory) -> Seen | None:
    if id(page) in memory.written and seen.state[:2] != "px":
        return rules.EXCLUSIVE, "not mapped by this process alone"
    return None


def _swapped_off(page: Page, seen: record.Page, memory: Memory) -> Seen | None:
    # A mark without a page looks like swap.
    if not memory.swapping and seen.state[0] == "s" and "w" not in seen.state and not page.murky:
        return rules.SWAPPED_OFF, "in swap"
    return None


def _reclaimable(_page: Page, seen: record.Page, memory: Memory) -> Seen | None:
    if memory.reclaims < ENOUGH or not memory.swapping:
        return None
    if seen.state[0] == "p" and "o" not in seen.state and not memory.kept:
        return rules.RECLAIMABLE, f"still there after {memory.reclaims} times"
    return None


PAGE_CHECKS: tuple[Callable[[Page, record.Page, Memory], Seen | None], ...] = (
    _readable, _contents, _mark, _resident, _soft_dirty, _exclusive, _swapped_off, _reclaimable,
)  # fmt: skip


def page(known: Page | None, seen: record.Page, memory: Memory) -> Iterator[Seen]:
    """The rules that what is seen of a page breaks. `seen` shows something if `known` is None."""
    if not known:
        yield rules.MAPPED, "a page where nothing is mapped"
    elif not known.murky:
        for check in PAGE_CHECKS:
            broken = check(known, seen, memory)
            if broken:
                yield broken[0], f"{seen.state}:{seen.content}, {broken[1]}"


def shared(memory: Memory, states: Mapping[str, str]) -> Iterator[Seen]:
    """A page of shared memory that is mapped several times is not mapped once."""
    found: dict[int, list[str]] = {}
    for actor, place, known in memory.pages():
        if known.shared and not known.unsaid:
            line = states.get(f"m {actor} {place[0]}", "")
            seen = pages(line, place[0]).get(place) if line else None
            if seen and seen.state[0] == "p":
                found.setdefault(id(known.cell), []).append(seen.state)
    for several in found.values():
        if len(several) > 1 and any("x" in one for one in several):
            yield rules.NOT_EXCLUSIVE, f"mapped {len(several)} times: {' '.join(several)}"
