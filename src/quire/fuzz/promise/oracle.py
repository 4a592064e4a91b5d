# SPDX-License-Identifier: GPL-2.0
"""The oracle: runs a program in the model, and compares each step with the record."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from quire.fuzz.judge import AT_THE_END
from quire.fuzz.language import record
from quire.fuzz.language.program import SLOTS, Op, Program, Range, positions
from quire.fuzz.language.record import Record, StepRecord, steps
from quire.fuzz.promise import checks, content, effects, outcomes, rules, state
from quire.fuzz.promise.memory import FILE, SHARED, Memory, Process
from quire.fuzz.promise.outcomes import Seen
from quire.fuzz.promise.rules import Promise
from quire.fuzz.promise.state import Mapped, Slots

# `warm` adds reads right before and after an operation, to meet stale TLB entries. The record has a
# hash of what was read (content_hash() of guest/fuzz/content.c).
_HASHES = re.compile(r" before=([0-9a-f]{8}) after=([0-9a-f]{8})$")


@dataclass(frozen=True)
class Broken:
    """A broken promise: the operation, and what was seen."""

    rule: Promise
    step: str
    op: Op | None
    seen: str
    all: tuple["Broken", ...] = field(
        default=(), compare=False
    )  # all promises that the step breaks

    @property
    def verb(self) -> str:
        """The operation's verb; each kind of advice counts as a verb."""
        return self.op.call if self.op else AT_THE_END.get(self.step[:1], "")

    @property
    def kind(self) -> tuple[str, str]:
        """A key: findings of one kind probably have one cause."""
        return self.rule.name, self.verb

    @property
    def text(self) -> str:
        """A line: the rule, the operation, what was seen."""
        where = f"{self.step} {self.op.text() if self.op else self.verb}".strip()
        return ": ".join(part for part in (self.rule.name, where, self.seen) if part)

    @property
    def about(self) -> str:
        """The promise and its source."""
        return f"promised: {self.rule.promise} ({self.rule.source})"

    @property
    def lines(self) -> Iterator[str]:
        """Each broken promise, its source, and what was seen."""
        for rule in dict.fromkeys(broken.rule for broken in self.all):
            yield from (rule.name, f"  promised: {rule.promise}", f"  source: {rule.source}")
            yield from (f"  seen: {broken.text}" for broken in self.all if broken.rule == rule)

    @property
    def details(self) -> dict[str, list[dict[str, str]]]:
        names = ("rule", "promise", "source", "operation", "seen")
        rows = ((b.rule.name, b.rule.promise, b.rule.source, b.verb, b.seen) for b in self.all)
        return {"broken": [dict(zip(names, row, strict=True)) for row in rows]}


def broken_promises(
    program: Program, record: Record, *, soft_dirty: bool, swapping: bool = True
) -> list[Broken]:
    """Return the promises broken in the first step that breaks any; later steps are undefined.

    `soft_dirty`: the kernel has soft-dirty bits; `swapping`: swap is on at the start.
    """
    words = any(op.verb == "word" for op in program)
    memory = Memory(words=words, soft_dirty=soft_dirty, swapping=swapping)
    broken = list(Oracle(program, memory).follow(record))
    if not broken and record.trouble:
        broken.append(Broken(rules.TROUBLE, "", None, record.trouble))
    return broken


@dataclass(frozen=True)
class Observed:
    """What a process last saw in a slot, and the lines v and m that show it."""

    process: Process
    lines: tuple[str, str]
    mappings: tuple[Mapped, ...]
    pages: Mapping[int, record.PageState]
    locked: int  # pages of locked mappings

    @staticmethod
    def read(process: Process, lines: tuple[str, str]) -> "Observed":
        """Parse the lines."""
        mappings = state.mappings(lines[0])
        locked = sum(seen.end - seen.first for seen in mappings if seen.locked)
        return Observed(process, lines, mappings, state.pages(lines[1]) if lines[1] else {}, locked)


@dataclass
class Oracle:
    """A program, and the expected state of its memory after the steps so far."""

    program: Program
    memory: Memory
    known: dict[tuple[int, str], Observed] = field(default_factory=dict)  # by process and slot

    @cached_property
    def shown(self) -> list[Range]:
        """The pages that the record shows."""
        return state.extents(self.program)

    @cached_property
    def shares(self) -> bool:
        """Whether several processes may see the same page of an object."""
        return any(op.verb == "map" and op.word in FILE | SHARED for op in self.program)

    def follow(self, record: Record) -> Iterator[Broken]:
        """Yield all promises that the first failing step breaks."""
        before: dict[str, str] = {}
        for step in steps(record):
            op = step.op(self.program)
            if op and (step.result == "hang" or (op.verb == "fail" and step.result == "ok")):
                # Allocations may fail from here on, and so may anything else.
                return
            self.memory.written.clear()
            changed = state.touched(self.memory, op) if op else self._at_the_end(step)
            seen = list(self._operation(op, step, before) if op else self._end(step))
            if not op or not op.entry.sets:
                seen += self._observation(step, changed)
            if seen:
                yield from (Broken(rule, step.name, op, text) for rule, text in seen)
                return
            before = step.states

    def _operation(self, op: Op, step: StepRecord, before: Mapping[str, str]) -> Iterator[Seen]:
        outcome, where = step.result, op.range
        if op.actor is None:
            effects.apply(self.memory, op, outcome)
            return
        process = self.memory.processes.get(op.actor)
        if not process or outcome == "ESRCH" or (outcome == "EEXIST" and op.verb != "take"):
            return
        hashes = _HASHES.search(step.outcome) if where else None
        if hashes:
            yield from self._fresh(process, where, "before", hashes[1])
        yield from outcomes.check(process, op, outcome, before)
        if op.verb == "scan" and where:
            line = step.states.get(f"m {op.actor} {where.slot}", "")
            shown = state.pages(line) if line else {}
            yield from outcomes.scanned(process, op, outcome, shown)
        effects.apply(self.memory, op, outcome)
        if op.entry.writes:
            pages = positions(where)
            yield from outcomes.write(self.memory, process, pages, op, step.number, outcome)
        elif op.verb == "read":
            yield from outcomes.read(process, positions(where), outcome)
        elif op.word == "unmergeable" and where and outcome == "ok":
            line = step.states.get(f"v {op.actor} {where.slot}", "")
            yield from checks.apart(op, state.mappings(line))
        if hashes:
            yield from self._fresh(process, where, "after", hashes[2])

    def _fresh(self, process: Process, where: Range | None, when: str, read: str) -> Iterator[Seen]:
        """Yield the promises that a read breaks; none if a page has several allowed contents."""
        value = 0
        for place in positions(where):
            page = process.pages.get(place)
            certain = not page or (
                not page.unsaid and page.refuses_reads is not None and len(page.frame.allowed) == 1
            )
            if place in process.doubtful or not certain:
                return
            readable = page and page.prot != "none" and not page.refuses_reads
            held = next(iter(page.frame.allowed)) if page and readable else None
            value = content.mixed(value, held, words=self.memory.words)
        wanted = f"{value >> 32:08x}"
        if wanted != read:
            yield rules.FRESH, f"what was read {when} it has the hash {read}, not {wanted}"

    def _end(self, step: StepRecord) -> Iterator[Seen]:
        actor, where = step.number, list(itertools.chain(*map(positions, self.shown)))
        process = self.memory.processes.get(actor)
        self.memory.reclaims = 0
        if process and step.name[0] == "r":
            yield from outcomes.read_all(process, where, step.outcome)
        elif process:
            last, tag = Op("write", actor), outcomes.TAG_LAST + actor
            yield from outcomes.write(self.memory, process, where, last, tag, step.outcome)

    def _at_the_end(self, step: StepRecord) -> Slots:
        """Return what a final step changes in the model: a read nothing, a write everything."""
        if step.name[0] == "r":
            return frozenset()
        return None if self.shares else frozenset((step.number, at.slot) for at in self.shown)

    def _observation(self, step: StepRecord, changed: Slots) -> Iterator[Seen]:
        """Check what all processes see after a step; after a read, only the process that read."""
        alone = step.number if step.name[0] == "r" else None
        for actor, process in self.memory.processes.items():
            if alone in (None, actor):
                seen = self._observed(actor, process, step.states, changed)
                yield from ((rule, f"{actor} {text}") for rule, text in seen)
        if alone is None and self.shares:
            yield from checks.shared(self.memory, step.states)

    def _observed(
        self, actor: int, process: Process, states: dict[str, str], changed: Slots
    ) -> Iterator[Seen]:
        """Check what a process sees."""
        slots: dict[str, Observed] = {}
        for slot in SLOTS:
            line, known = states.get(f"v {actor} {slot}"), self.known.get((actor, slot))
            if line is None:
                continue
            lines = line, states.get(f"m {actor} {slot}", "")
            same = known and known.process is process and known.lines == lines
            slots[slot] = known if known and same else Observed.read(process, lines)
        locked = sum(known.locked for known in slots.values())
        yield from checks.locked_sum(process, states.get(f"u {actor}", ""), locked)
        for slot, known in slots.items():
            yield from self._slot(actor, slot, known, changed)

    def _slot(self, actor: int, slot: str, seen: Observed, changed: Slots) -> Iterator[Seen]:
        """Check what a process sees in a slot, if the model or the record has changed."""
        process = seen.process
        touched = changed is None or (actor, slot) in changed
        touched |= any(at == slot for at, _ in process.doubtful)
        if self.known.get((actor, slot)) is seen and not touched:
            return
        self.known[actor, slot] = seen
        mapped = state.mapped(seen.mappings, slot)
        numbers = sorted({number for at, number in (*process.pages, *mapped) if at == slot})
        state.take_mappings(process, mapped, slot, numbers)
        yield from checks.mappings(process, mapped, slot, numbers)
        yield from checks.locked(process, seen.mappings, slot)
        yield from self._pages(process, seen.pages, slot)

    def _pages(
        self, process: Process, pages: Mapping[int, record.PageState], slot: str
    ) -> Iterator[Seen]:
        memory, mapped = self.memory, process.pages
        for number, seen in pages.items():
            known = mapped.get((slot, number))
            if known:
                if known.marked is not False or len(known.frame.allowed) > 1:
                    state.take_page(known, seen, words=memory.words)
            elif seen.state[0] == "-":
                continue
            for rule, text in checks.page(known, seen, memory):
                yield rule, f"{slot} {number}: {text}"
