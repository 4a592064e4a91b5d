# SPDX-License-Identifier: GPL-2.0
"""The state of a process as a record shows it, page by page, and what the model takes from it.

The model takes undefined marks and mappings from the record, once. From then on they must stay, as
if promised.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from quire.fuzz.language import record
from quire.fuzz.language.program import Op, Position, Program, Range
from quire.fuzz.promise import rules
from quire.fuzz.promise.content import ZERO
from quire.fuzz.promise.memory import Frame, Memory, Page, Process

_MAPPING = re.compile(r"(\d+)\+(\d+):(....):([0-9a-f]+)(\S*)")
PROTECTIONS = {"rw": "rw", "r-": "r", "--": "none"}


class Mapped(NamedTuple):
    """A mapping: its pages, its protection, whether writes are shared, the first page of the file.

    `swapped`: a page of it is in swap, which page tables of shared memory do not show; `merged`: a
    page of it is merged.
    """

    first: int
    end: int  # the page after the last
    prot: str
    shared: bool
    offset: int
    locked: bool
    swapped: bool
    merged: bool

    def at(self, number: int) -> int:
        """Return the page of the file that is at this page of the slot."""
        return self.offset + number - self.first


# A program's lines repeat, for each of its processes and after each of its operations.
@lru_cache(512)
def pages(line: str) -> dict[int, record.PageState]:
    """Return the pages of an m line. The result is shared: it must not be changed."""
    return record.pages(line)


@lru_cache(512)
def mappings(line: str) -> tuple[Mapped, ...]:
    """Return the mappings of a v line."""
    return tuple(
        Mapped(
            int(first),
            int(first) + int(count),
            PROTECTIONS.get(perms[:2], perms[:2]),
            perms[3] == "s",
            int(offset, 16),
            *(flag in flags for flag in (",lo", ",Swap=", ",KSM=")),
        )
        for first, count, perms, offset, flags in _MAPPING.findall(line)
    )


@lru_cache(512)
def mapped(mappings: tuple[Mapped, ...], slot: str) -> dict[Position, Mapped]:
    """Return the mapping of each page of a slot. The result is shared: it must not be changed."""
    places: dict[Position, Mapped] = {}
    for mapping in mappings:
        numbers = range(mapping.first, mapping.end)
        places |= dict.fromkeys(((slot, number) for number in numbers), mapping)
    return places


def extents(program: Program) -> list[Range]:
    """Return the pages that a record shows: in each slot, from the first named to the last."""
    named: dict[str, tuple[int, int]] = {}
    for op in program:
        count = op.range.count if op.range else 1
        for where in (op.range, op.to and replace(op.to, count=count)):
            if where:
                first, end = named.get(where.slot, (where.page, where.end))
                named[where.slot] = min(first, where.page), max(end, where.end)
    return [Range(slot, first, end - first) for slot, (first, end) in sorted(named.items())]


def take_mappings(
    process: Process, mapped: Mapping[Position, Mapped], slot: str, numbers: Iterable[int]
) -> None:
    """Take from the record which doubtful places are mapped, their protection, and their locks.

    Only pages with these numbers may be locked.
    """
    doubtful = {place for place in process.doubtful if place[0] == slot}
    process.doubtful -= doubtful
    for place in doubtful:
        seen, page = mapped.get(place), process.pages.get(place)
        if not seen:
            process.pages.pop(place, None)
        elif page and not page.murky:
            page.prot = seen.prot
        else:
            # A page may have moved there: take it and its mapping's marks from the record.
            frame = Frame(frozenset({ZERO}), rules.ZEROED)
            kind = "shared" if seen.shared else "anon"
            taken = Page(kind, frame, prot=seen.prot, marked=None, murky=True)
            process.pages[place] = replace(taken, locked=None, dontfork=None, wipe=None)
    for place in ((slot, number) for number in numbers):
        page = process.pages.get(place)
        if page and page.locked is None and place in mapped:
            page.locked = mapped[place].locked


def take_page(known: Page, seen: record.PageState, *, words: bool) -> None:
    """Take the undefined marks of a page, and its actual content, from the record."""
    # A fading page may lose its mark with its content; a trap belongs to a page in memory.
    if known.marked is None or (
        known.marked and (known.frame.fading or (known.trapped is not False and not known.held))
    ):
        known.marked = "w" in seen.state
    if len(known.frame.allowed) > 1:
        known.frame.narrow(seen.content, words)


# Slots of processes in which the model may have changed; None: all of all processes.
Slots = frozenset[tuple[int, str]] | None


def touched(memory: Memory, op: Op) -> Slots:
    """Return where an operation may change the model, which still has the state before it.

    Elsewhere, an unchanged record needs no check: undefined marks and contents break no promise.
    """
    enough = memory.reclaims >= memory.ENOUGH
    if (op.verb == "swap" and (enough or op.word == "off")) or (
        op.verb == "reclaim" and not enough and memory.reclaims + 1 >= memory.ENOUGH
    ):
        # Any page may now be in the wrong place.
        return None
    process = memory.processes.get(op.actor) if op.actor is not None else None
    if not process or op.actor is None:
        return frozenset()
    to = op.target or (op.to and replace(op.to, count=1))
    ranges = [where for where in (op.range, to) if where]
    if any(page.shared for where in ranges for page in process.within(where)):
        return None
    return frozenset((op.actor, where.slot) for where in ranges)
