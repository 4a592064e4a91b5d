# SPDX-License-Identifier: GPL-2.0
"""UFFDIO_MOVE and PAGEMAP_SCAN: what they do to the model, and what the scan's report breaks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from quire.fuzz.language import record
from quire.fuzz.language.program import Op
from quire.fuzz.language.tracker import moved, positions
from quire.fuzz.promise import rules
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.content import ZERO
from quire.fuzz.promise.memory import (
    PRIVATE_ANON,
    Cell,
    Memory,
    Page,
    Process,
)

_REGION = re.compile(r" (\d+)\+(\d+):(\w*)")
_END = re.compile(r"end=(\d+)")
WRITTEN = "W"  # a letter of regions; the others are A, allowed, and those of pages
# Letters that a page's state has by the same condition. A page that was not there has a marker when
# it is protected, which looks like a page in swap.
_TOLD, _TOLD_BY_A_LOOK = "pfo", "psfod"


def take(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    """Follow a `take`: page by page, as the two ranges may overlap."""
    for old, new in moved(op, outcome):
        page, place = process.pages.get(old), process.pages.get(new)
        if not page or not place:
            continue
        process.pages[new] = _arrived(page, place, op.word)
        emptied = Cell(frozenset({ZERO}), rules.TAKEN, fading=page.kind == "droppable")
        process.pages[old] = replace(
            page, cell=emptied, dirty=False, resident=False, marked=page.perhaps_marked
        )
    _doubt(process, op)


def _arrived(page: Page, place: Page, word: str) -> Page:
    """A page that has moved to a place of another one, in a mapping that keeps what it is."""
    arrived = replace(
        place,
        cell=page.cell,
        behind=None,
        dirty=page.held,
        resident=page.resident,
        # The kernel moves nothing else: what a program then sees is not said.
        murky=page.murky or place.murky or not {page.kind, place.kind} <= PRIVATE_ANON,
    )
    if word == "to-rwp":
        # Not a hole that has moved.
        return replace(arrived, marked=page.held or None, trapped=True)
    unmarked = page.marked is False and place.marked is False
    return replace(arrived, marked=False if unmarked else None)


def _doubt(process: Process, op: Op) -> None:
    """The target was registered in another way meanwhile: its marks may stay without effect.

    So was the source, if they overlap.
    """
    old, new = {*positions(op.range)}, {*positions(op.target)}
    for at in old | new if old & new else new:
        place = process.pages.get(at)
        if place and place.marked is not False and op.word in ("all", "holes"):
            place.marked = place.tracked = place.trapped = None


@dataclass(frozen=True)
class Scan:
    """What a scan has reported: where it ended, the letters of pages, and if these are all."""

    end: int
    letters: Mapping[int, str]
    regions: tuple[tuple[int, int], ...]
    complete: bool


def _scan(outcome: str) -> Scan | None:
    """The report of a scan; None: it has failed."""
    end = _END.match(outcome)
    if not end:
        return None
    found = [(int(first), int(count), text) for first, count, text in _REGION.findall(outcome)]
    letters = {at: text for first, count, text in found for at in range(first, first + count)}
    regions = tuple((first, first + count) for first, count, _ in found)
    return Scan(int(end[1]), letters, regions, "rest=" not in outcome)


def scan(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    """Follow a `scan`: what it reports as written to is protected, until the next write."""
    seen = _scan(outcome)
    for place in positions(op.range) if op.word != "look" else ():
        page = process.pages.get(place)
        if not page:
            continue
        if not seen:
            page.marked, page.tracked = None, page.tracked or None
            continue
        page.tracked, page.trapped = True, False
        if op.word == "quiet" or WRITTEN in seen.letters.get(place[1], ""):
            page.marked = True
        elif not seen.complete and place[1] > max(seen.letters, default=0):
            page.marked = None


def scanned(
    process: Process, op: Op, outcome: str, shown: Mapping[int, record.Page]
) -> Iterator[Seen]:
    """What a report breaks. `shown` are the pages of the slot after the scan.

    The model still has the state before the scan.
    """
    seen = _scan(outcome)
    if not seen or not op.range:
        return
    yield from _report(op, seen)
    for place in positions(op.range):
        known, letters = process.pages.get(place), seen.letters.get(place[1])
        if place[1] >= seen.end or not known or known.murky or op.word == "quiet":
            continue
        if letters is None and not seen.complete:
            continue
        where = f"{place[0]} {place[1]}"
        yield from ((rule, f"{where} {text}") for rule, text in _since(known, op, letters or ""))
        told = _TOLD_BY_A_LOOK if op.word == "look" else _TOLD if op.word == "states" else ""
        if letters is None:
            if op.word == "look":
                yield rules.SCANNED, f"{where} is not reported"
            continue
        state = shown[place[1]].state if place[1] in shown else ""
        for letter in told if state else "":
            if (letter in letters) != (letter in state):
                yield rules.SCANNED, f"{where} is reported as {letters or 'nothing'}: {state}"


def _report(op: Op, seen: Scan) -> Iterator[Seen]:
    """The regions are in the range, in order, before the end, and not too many."""
    if not op.range:
        return
    if not op.range.page <= seen.end <= op.range.end:
        yield rules.SCANNED, f"the scan ends at {seen.end}"
    at = op.range.page
    for first, end in seen.regions:
        if first < at or end > seen.end:
            yield rules.SCANNED, f"a region is {first} to {end}"
        at = end
    if op.number and len(seen.letters) > op.number:
        yield rules.SCANNED, f"{len(seen.letters)} pages are reported"
    if op.word == "room" and len(seen.regions) > 1:
        yield rules.SCANNED, f"{len(seen.regions)} regions are reported"


def _since(known: Page, op: Op, letters: str) -> Iterator[Seen]:
    """Whether a page is reported as written to exactly if it is not protected."""
    tracked = op.word != "look" or known.tracked
    if known.marked is None or not (tracked or known.marked):
        return
    if (WRITTEN in letters) == known.marked:
        word = "" if known.marked else "not "
        yield rules.WRITTEN_SINCE, f"is {word}protected: reported as {letters or 'nothing'}"
