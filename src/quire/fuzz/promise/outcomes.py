# SPDX-License-Identifier: GPL-2.0
"""Check the outcomes of accesses, of calls with documented errors, and of scans.

language/verbs.py lists the errors that a call must return. Any other call may return anything.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from quire.fuzz.language import record
from quire.fuzz.language.program import Op, Position, positions
from quire.fuzz.language.verbs import Error
from quire.fuzz.promise import content, rules, state
from quire.fuzz.promise.memory import PRIVATE_ANON, Memory, Page, Process, Shows, change
from quire.fuzz.promise.rules import Promise

# The outcomes of accesses.
OK, SEGV, BUS, UNSAID = "ok", "segv", "bus", "unsaid"
# Writes at the end have tags above those of operations.
TAG_LAST = 200
_COUNTS = re.compile(r"(ok|segv|bus)=(\d+)")

# A broken promise, and what was seen.
Seen = tuple[Promise, str]


def write(
    memory: Memory, process: Process, where: Iterable[Position], op: Op, tag: int, outcome: str
) -> Iterator[Seen]:
    """Apply writes to the model, and yield the promises that their outcome breaks.

    `op` tells what is written: `write`, `same`, … At the end, when each process writes to all
    pages, the tag is TAG_LAST plus its number.
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
    """Yield the promises that the outcome of reads breaks."""
    fates = Counter(_fate(process.pages.get(place), writes=False) for place in where)
    yield from _judge(fates, outcome)


def read_all(process: Process, where: Iterable[Position], outcome: str) -> Iterator[Seen]:
    """Yield the promises that the final reads break; the outcome counts refused reads."""
    fates = Counter(_fate(process.pages.get(place), writes=False) for place in where)
    refused, wanted = int(outcome.partition("=")[2]), fates[SEGV] + fates[BUS]
    if not wanted <= refused <= wanted + fates[UNSAID]:
        yield rules.SIGNALS, f"{refused} reads are refused, not {wanted}"


def _fate(page: Page | None, *, writes: bool) -> str:
    """Return the expected outcome of an access; the mapping takes precedence over the page."""
    if not page or page.prot == "none" or (writes and page.prot == "r"):
        return SEGV
    refused = page.refuses_writes if writes else page.refuses_reads
    if page.murky or refused is None:
        return UNSAID
    return BUS if refused else OK


def _change(memory: Memory, shows: Shows, page: Page, op: Op, first: int, *, certain: bool) -> None:
    """Apply a write of `first` to a page, or one that may have failed."""
    old = page.frame.allowed
    if op.verb == "word":
        new = frozenset(content.with_word(held, op.number, first) for held in old)
    else:
        new = frozenset(content.with_words(held, first) for held in old)
    if page.shared:
        change(page.frame, new if certain else new | old, rules.SHARED, shows)
    elif not certain:
        page.frame.allowed |= new
    else:
        page.behind, page.dirty = None, True
        droppable = page.kind == "droppable"
        rule = rules.DROPPABLE if droppable else rules.WRITTEN
        page.frame.become(new, rule, fading=droppable)
        memory.written.add(id(page))


def _judge(fates: Counter[str], outcome: str) -> Iterator[Seen]:
    """Compare the outcomes of accesses with the expected ones."""
    counts = Counter({word: int(number) for word, number in _COUNTS.findall(outcome)})
    said = f"{outcome}; {fates[OK]} must succeed, {fates[SEGV]} raise SIGSEGV, {fates[BUS]} SIGBUS"
    if counts[SEGV] > fates[SEGV] + fates[UNSAID] or counts[SEGV] < fates[SEGV]:
        yield rules.SIGNALS, said
    elif counts[BUS] < fates[BUS]:
        yield rules.UNSEEN, said
    elif counts[BUS] > fates[BUS] + fates[UNSAID]:
        yield rules.LIFTED, said


class Call(NamedTuple):
    """An operation, its process, the mappings recorded before it, and its pages.

    `holes`: part of its range is not mapped; `file`: part is shared or maps a file.
    """

    process: Process
    op: Op
    states: Mapping[str, str]
    pages: list[Page]
    holes: bool
    file: bool

    @property
    def mappings(self) -> int:
        """How many mappings the range spans."""
        if not self.op.range:
            return 0
        where = self.op.range
        mappings = state.mappings(self.states.get(f"v {self.op.actor} {where.slot}", ""))
        return sum(seen.first < where.end and where.page < seen.end for seen in mappings)


# Conditions of calls; the names are those of language/verbs.py.
CONDITIONS: Mapping[str, Callable[[Call], bool]] = {
    "always": lambda _: True,
    "holes": lambda call: call.holes,
    # The range begins with a hole.
    "unmapped": lambda call: next(iter(positions(call.op.range)), None) not in call.process.pages,
    "file": lambda call: call.file,
    # Part of the range is private or not writable; or is locked.
    "private": lambda call: any(not page.shared or page.prot != "rw" for page in call.pages),
    "locked": lambda call: any(page.locked for page in call.pages),
    # All of the range is mapped, not locked, and not droppable.
    "plain": lambda call: (
        not (call.holes or any(page.locked or page.kind == "droppable" for page in call.pages))
    ),
    # The kernel can access every page of the range, as the process can.
    "readable": lambda call: all(p.prot != "none" and p.marked is False for p in call.pages),
    # The range is in one mapping; MREMAP_DONTUNMAP also requires private anonymous memory.
    "one": lambda call: (
        call.mappings == 1 and not call.holes and not (call.op.word == "keep" and call.file)
    ),
    # The target of a move has a page; the target overlaps the source, or does not.
    "occupied": lambda call: (
        any(page.held for page in call.process.within(call.op.target))
        and not CONDITIONS["onto"](call)
    ),
    "onto": lambda call: bool({*positions(call.op.range)} & {*positions(call.op.target)}),
}


@cache
def promise(name: str, error: Error) -> Promise:
    """Return the promise for an operation with this name."""
    when, outcomes, source = error
    return Promise(f"error: {when}", f"{name}: {outcomes}", source)


def check(process: Process, op: Op, outcome: str, states: Mapping[str, str]) -> Iterator[Seen]:
    """Yield the promises that the outcome of an operation breaks."""
    pages = list(process.within(op.range))
    if any(page.murky or page.locked is None for page in pages):
        # The model does not know enough about the range.
        return
    file = any(page.kind not in PRIVATE_ANON for page in pages)
    call = Call(process, op, states, pages, len(pages) < len(positions(op.range)), file)
    for error in op.entry.errors:
        if CONDITIONS[error[0]](call):
            allowed = error[1].split()
            # The rest may be the amount of work done.
            if outcome.partition(" ")[0] not in allowed:
                yield promise(op.call, error), f"{outcome}, not {' or '.join(sorted(allowed))}"
            return


_REGION = re.compile(r" (\d+)\+(\d+):(\w*)")
_END = re.compile(r"end=(\d+)")
WRITTEN = "W"  # a letter of regions; the others are A, allowed, and those of pages
# Letters of a page's state with the same meaning. Protecting a missing page leaves a marker, which
# looks like a page in swap.
_TOLD, _TOLD_BY_A_LOOK = "pfo", "psfod"


@dataclass(frozen=True)
class Scan:
    """The report of a scan: where it ended, the letters of pages, and whether it is complete."""

    end: int
    letters: Mapping[int, str]
    regions: tuple[tuple[int, int], ...]
    complete: bool


def report(outcome: str) -> Scan | None:
    """Parse the report of a scan; None if the scan failed."""
    end = _END.match(outcome)
    if not end:
        return None
    found = [(int(first), int(count), text) for first, count, text in _REGION.findall(outcome)]
    letters = {at: text for first, count, text in found for at in range(first, first + count)}
    regions = tuple((first, first + count) for first, count, _ in found)
    return Scan(int(end[1]), letters, regions, "rest=" not in outcome)


def scanned(
    process: Process, op: Op, outcome: str, shown: Mapping[int, record.PageState]
) -> Iterator[Seen]:
    """Yield the promises that a report breaks. `shown`: the pages of the slot after the scan.

    The model still has the state before the scan.
    """
    seen = report(outcome)
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
    """Require that regions are in the range, in order, before the end, and not too many."""
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
    """Require that exactly the unprotected pages are reported as written."""
    tracked = op.word != "look" or known.tracked
    if known.marked is None or not (tracked or known.marked):
        return
    if (WRITTEN in letters) == known.marked:
        word = "" if known.marked else "not "
        yield rules.WRITTEN_SINCE, f"is {word}protected: reported as {letters or 'nothing'}"
