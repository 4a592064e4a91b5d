# SPDX-License-Identifier: GPL-2.0
"""What a record says of a process, place by place, and what the model takes from it.

It takes what no promise says, marks and mappings, and takes them once. What was seen then holds
like what was promised.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from quire.fuzz.language import record
from quire.fuzz.language.program import Program, Range
from quire.fuzz.promise import rules
from quire.fuzz.promise.content import ZERO
from quire.fuzz.promise.memory import Cell, Page, Position, Process, positions

_MAPPING = re.compile(r"(\d+)\+(\d+):(....):([0-9a-f]+)(\S*)")
PROTECTIONS = {"rw": "rw", "r-": "r", "--": "none"}


@dataclass(frozen=True)
class Mapped:
    """A page of a mapping: its protection, whether writes are shared, its number in the file.

    `mapping` is the first page of the mapping that it belongs to; `swapped`: some page of it, which
    the page table of shared memory does not show; `merged`: some page of it is.
    """

    prot: str
    shared: bool
    at: int
    locked: bool
    swapped: bool
    mapping: int
    merged: bool


@lru_cache(4096)
def pages(line: str) -> dict[int, record.Page]:
    """The pages of an m line. The result is shared: it must not be changed."""
    return record.pages(line)


@lru_cache(4096)
def mapped(line: str, slot: str) -> dict[Position, Mapped]:
    """The mapped pages of a v line. The result is shared: it must not be changed."""
    result: dict[Position, Mapped] = {}
    for first, count, perms, offset, flags in _MAPPING.findall(line):
        start, prot, shared = int(first), PROTECTIONS.get(perms[:2], perms[:2]), perms[3] == "s"
        locked, swapped, merged = (flag in flags for flag in (",lo", ",Swap=", ",KSM="))
        for number in range(int(count)):
            at = int(offset, 16) + number
            result[slot, start + number] = Mapped(prot, shared, at, locked, swapped, start, merged)
    return result


def locked(line: str) -> int:
    """How many pages of a v line's mappings are locked."""
    return sum(int(count) for _, count, _, _, flags in _MAPPING.findall(line) if ",lo" in flags)


def extents(program: Program) -> list[Position]:
    """The pages that a record shows: in each slot all between the first and the last named."""
    named: dict[str, tuple[int, int]] = {}
    for op in program:
        count = op.range.count if op.range else 1
        for where in (op.range, op.to and replace(op.to, count=count)):
            if where:
                first, end = named.get(where.slot, (where.page, where.end))
                named[where.slot] = min(first, where.page), max(end, where.end)
    shown = (Range(slot, first, end - first) for slot, (first, end) in sorted(named.items()))
    return [place for where in shown for place in positions(where)]


def take_mappings(process: Process, mapped: Mapping[Position, Mapped], slot: str) -> None:
    """Take which doubtful places of a slot are mapped, with which protection; which are locked."""
    doubtful = {place for place in process.doubtful if place[0] == slot}
    process.doubtful -= doubtful
    for place in doubtful:
        seen, page = mapped.get(place), process.pages.get(place)
        if not seen:
            process.pages.pop(place, None)
        elif page and not page.murky:
            page.prot = seen.prot
        else:
            # What may have moved there is taken as it is, with the marks of its mapping.
            cell, kind = Cell(frozenset({ZERO}), rules.ZEROED), "shared" if seen.shared else "anon"
            taken = Page(kind, cell, prot=seen.prot, marked=None, murky=True)
            process.pages[place] = replace(taken, locked=None, dontfork=None, wipe=None)
    for place, page in process.pages.items():
        if page.locked is None and place in mapped:
            page.locked = mapped[place].locked


def take_page(known: Page, seen: record.Page, *, words: bool) -> None:
    """Take the marks of a page, and which of its allowed contents it has."""
    marked = "w" in seen.state
    fleeting = known.cell.fading or (known.trapped is not False and not known.held)
    if known.marked is None or (known.marked and fleeting):
        # A page that fades away may lose its mark with its content; a trap is one of a page.
        known.marked = marked
    if len(known.cell.allowed) > 1 and seen.content in known.cell.names(words):
        known.cell.narrow(seen.content, words)
