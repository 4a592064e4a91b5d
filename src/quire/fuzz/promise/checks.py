# SPDX-License-Identifier: GPL-2.0
"""Check mappings and pages, as a record shows them, against the promises.

Before a page is checked, state.py takes undefined properties from the record. `murky` pages are not
checked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from quire.fuzz.language import record
from quire.fuzz.language.program import Op, Position
from quire.fuzz.promise import rules
from quire.fuzz.promise.content import UNREADABLE, name
from quire.fuzz.promise.memory import FILE, Memory, Page, Process
from quire.fuzz.promise.outcomes import Seen
from quire.fuzz.promise.state import Mapped, pages

_VMLCK = re.compile(r"VmLck=(\d+)")
# A small page with some 1,024 references looks pinned, and is not reclaimed
# (Documentation/core-api/pin_user_pages.rst: false positives).
MANY = 1000


def mappings(
    process: Process, mapped: Mapping[Position, Mapped], slot: str, numbers: Iterable[int]
) -> Iterator[Seen]:
    """Require that pages of a slot are mapped as the program asked."""
    for number in numbers:
        place = slot, number
        wrong = _mapping(process.pages.get(place), mapped.get(place), number)
        if wrong:
            yield rules.MAPPED, f"{slot} {number} {wrong}"


def _mapping(wanted: Page | None, seen: Mapped | None, number: int) -> str:
    """Return what is wrong with a page's mapping; empty if nothing is."""
    if not wanted or not seen:
        return "" if not wanted and not seen else f"is {'' if seen else 'not '}mapped"
    if wanted.prot != seen.prot or wanted.shared != seen.shared:
        return f"has {seen.prot}, not {wanted.prot}"
    if wanted.at is not None and wanted.kind in FILE and wanted.at != seen.at(number):
        return f"is page {seen.at(number):x} of the file, not {wanted.at:x}"
    if wanted.locked is not None and wanted.locked != seen.locked:
        return f"is {'' if seen.locked else 'not '}locked"
    return ""


def locked(process: Process, mappings: Iterable[Mapped], slot: str) -> Iterator[Seen]:
    """Require that no page of a locked mapping is in swap, unless it has never been in memory."""
    for seen in mappings:
        pages = (process.pages.get((slot, n)) for n in range(seen.first, seen.end))
        if seen.swapped and all(page and page.resident for page in pages):
            yield rules.LOCKED, f"{slot} {seen.first}: a page of the mapping is in swap"


def apart(op: Op, mappings: Iterable[Mapped]) -> Iterator[Seen]:
    """Require that no mapping in the range of MADV_UNMERGEABLE has a merged page."""
    where = op.range
    for seen in mappings:
        if where and seen.merged and where.page <= seen.first and seen.end <= where.end:
            begins = f"{op.actor} {where.slot} {seen.first} begins"
            yield rules.APART, f"{begins} a mapping with merged pages"


def locked_sum(process: Process, counters: str, locked: int) -> Iterator[Seen]:
    """Require that VmLck grows with the pages of locked mappings, and with nothing else."""
    match = _VMLCK.search(counters)
    if not match:
        return
    kib = int(match[1])
    if process.locked_base is None:
        process.locked_base = kib - 4 * locked
    if kib != process.locked_base + 4 * locked:
        more = kib - process.locked_base
        yield rules.LOCKED_SUM, f"VmLck is {more} kB more for {locked} locked pages"


def page(known: Page | None, seen: record.PageState, memory: Memory) -> list[Seen]:
    """Return the promises that a page breaks. None for `known`: nothing is mapped there."""
    if not known:
        return [(rules.MAPPED, "a page where nothing is mapped")]
    if known.murky:
        return []
    broken: list[Seen] = []
    _contents(broken, known, seen, memory)
    _marks(broken, known, seen, memory)
    _swap(broken, seen, memory)
    return broken and [(rule, f"{seen.state}:{seen.content}, {text}") for rule, text in broken]


def _contents(broken: list[Seen], page: Page, seen: record.PageState, memory: Memory) -> None:
    unreadable = seen.content == UNREADABLE
    if seen.state[0] == "p":
        refused = page.prot == "none" or page.refuses_reads
        if refused is not None and unreadable != refused:
            why = "trapped" if page.refuses_reads else f"protection {page.prot}"
            broken.append((rules.READABLE, why))
    frame = page.frame
    if frame.unsaid or (page.behind and page.behind.unsaid):
        return
    told = seen.content and not unreadable
    if (seen.state[0] == "-" and page.held) or (
        told and not frame.allows(seen.content, memory.words)
    ):
        names = sorted({name(content, memory.words) for content in frame.allowed})
        broken.append((frame.rule, f"not {' or '.join(names)}"))


def _marks(broken: list[Seen], page: Page, seen: record.PageState, memory: Memory) -> None:
    if page.marked and "w" not in seen.state:
        broken.append((rules.PROTECTED, "no longer write-protected"))
    if page.marked is False and "w" in seen.state:
        broken.append((rules.LIFTED, "write-protected"))
    # A page of an object may be in memory and not in the page table.
    if page.resident and not (page.shared or page.behind or seen.state[0] == "p"):
        broken.append((rules.LOCKED, "not present"))
    if memory.soft_dirty and page.dirty and page.held and "d" not in seen.state:
        broken.append((rules.SOFT_DIRTY, "not soft-dirty"))
    if id(page) in memory.written and seen.state[:2] != "px":
        broken.append((rules.EXCLUSIVE, "not mapped by this process alone"))


def _swap(broken: list[Seen], seen: record.PageState, memory: Memory) -> None:
    # A mark without a page looks like swap.
    if not memory.swapping and seen.state[0] == "s" and "w" not in seen.state:
        broken.append((rules.SWAPPED_OFF, "in swap"))
    reclaimed = memory.reclaims >= memory.ENOUGH and memory.swapping
    stays = reclaimed and seen.state[0] == "p" and "o" not in seen.state and not memory.kept
    # Only a merged page can have that many mappings.
    if stays and (seen.content[:1] != "k" or memory.mapped(seen.content) < MANY):
        broken.append((rules.RECLAIMABLE, f"still there after {memory.reclaims} times"))


def shared(memory: Memory, states: Mapping[str, str]) -> Iterator[Seen]:
    """Require that a shared page with several mappings is not reported as mapped once."""
    states_of: dict[int, list[str]] = {}
    for actor, place, known in memory.pages():
        if known.shared and not known.unsaid:
            line = states.get(f"m {actor} {place[0]}", "")
            seen = pages(line).get(place[1]) if line else None
            if seen and seen.state[0] == "p":
                states_of.setdefault(id(known.frame), []).append(seen.state)
    for several in states_of.values():
        if len(several) > 1 and any("x" in letters for letters in several):
            yield rules.NOT_EXCLUSIVE, f"mapped {len(several)} times: {' '.join(several)}"
