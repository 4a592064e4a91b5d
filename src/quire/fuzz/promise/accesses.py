# SPDX-License-Identifier: GPL-2.0
"""Reads and writes: which must succeed, which must raise a signal, and what a write leaves."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from quire.fuzz.language.program import Op
from quire.fuzz.language.tracker import Position
from quire.fuzz.promise import content, rules
from quire.fuzz.promise.memory import Memory, Page, Process, Shows, change
from quire.fuzz.promise.rules import Promise

# What an access comes to.
OK, SEGV, BUS, UNSAID = "ok", "segv", "bus", "unsaid"
# What a process writes at the end has tags above those of operations.
TAG_LAST = 200
_COUNTS = re.compile(r"(ok|segv|bus)=(\d+)")

# A broken rule, and what was seen.
Seen = tuple[Promise, str]


def write(
    memory: Memory, process: Process, where: Iterable[Position], op: Op, tag: int, outcome: str
) -> Iterator[Seen]:
    """Follow writes; what their outcome breaks. `op` says what is written: `write`, `same`, ...

    At the end, where each process writes to all pages, the tag is TAG_LAST and its number.
    """
    fates: Counter[str] = Counter()
    shows, same = memory.shows(), op.verb == "same"
    for place in where:
        page = process.pages.get(place)
        fate = _fate(page, writes=True)
        fates[fate] += 1
        if page and fate in (OK, UNSAID):
            first = content.classed(op.number) if same else content.tagged(*place, tag)
            _change(memory, shows, page, op, first, certain=fate == OK)
            if page.marked and page.tracked is not False:
                page.marked = False if page.tracked else None
    yield from _judge(fates, outcome)


def read(process: Process, where: Iterable[Position], outcome: str) -> Iterator[Seen]:
    """What the outcome of reads breaks."""
    fates = Counter(_fate(process.pages.get(place), writes=False) for place in where)
    yield from _judge(fates, outcome)


def read_all(process: Process, where: Iterable[Position], outcome: str) -> Iterator[Seen]:
    """What the outcome of the reads at the end breaks: it counts those that are refused."""
    fates = Counter(_fate(process.pages.get(place), writes=False) for place in where)
    refused, wanted = int(outcome.partition("=")[2]), fates[SEGV] + fates[BUS]
    if not wanted <= refused <= wanted + fates[UNSAID]:
        yield rules.SIGNALS, f"{refused} reads are refused, not {wanted}"


def _fate(page: Page | None, *, writes: bool) -> str:
    """What an access comes to: the protection of the mapping counts before that of the page."""
    if not page or page.prot == "none" or (writes and page.prot == "r"):
        return SEGV
    refused = page.refuses_writes if writes else page.refuses_reads
    if page.murky or refused is None:
        return UNSAID
    return BUS if refused else OK


def _change(memory: Memory, shows: Shows, page: Page, op: Op, first: int, *, certain: bool) -> None:
    """A page after a write of `first` to it, or after one that may have failed."""
    old = page.cell.allowed
    if op.verb == "word":
        new = frozenset(content.with_word(held, op.number, first) for held in old)
    else:
        new = frozenset(content.with_words(held, first) for held in old)
    if page.shared:
        change(page.cell, new if certain else new | old, rules.SHARED, shows)
    elif not certain:
        page.cell.allowed |= new
    else:
        page.behind, page.dirty = None, True
        droppable = page.kind == "droppable"
        rule = rules.DROPPABLE if droppable else rules.WRITTEN
        page.cell.become(new, rule, fading=droppable)
        memory.written.add(id(page))


def _judge(fates: Counter[str], outcome: str) -> Iterator[Seen]:
    """Compare what accesses came to with what they had to."""
    counts = Counter({word: int(number) for word, number in _COUNTS.findall(outcome)})
    said = f"{outcome}; {fates[OK]} must succeed, {fates[SEGV]} raise SIGSEGV, {fates[BUS]} SIGBUS"
    if counts[SEGV] > fates[SEGV] + fates[UNSAID] or counts[SEGV] < fates[SEGV]:
        yield rules.SIGNALS, said
    elif counts[BUS] < fates[BUS]:
        yield rules.UNSEEN, said
    elif counts[BUS] > fates[BUS] + fates[UNSAID]:
        yield rules.LIFTED, said
