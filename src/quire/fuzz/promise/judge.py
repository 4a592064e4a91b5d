# SPDX-License-Identifier: GPL-2.0
"""Judge a record: follow its program in the model, and compare each step with what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from quire.fuzz.language.program import Op, Program, Range
from quire.fuzz.language.record import Record, Step, steps
from quire.fuzz.promise import accesses, checks, effects, errors, fresh, rules, settle, state
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.memory import Memory, Place, Process, places
from quire.fuzz.promise.rules import Rule
from quire.fuzz.promise.state import Mapped

WRITES = frozenset({"write", "same", "word"})
# Nothing is observed after these.
SETTINGS = frozenset({"folio", "smart", "warm", "fail"})
AT_THE_END = {"r": "read all", "w": "write all"}


@dataclass(frozen=True)
class Broken:
    """A promise that a record breaks: at which operation, and what was seen."""

    rule: Rule
    step: str
    op: Op | None
    seen: str

    @property
    def verb(self) -> str:
        """The operation's verb; advice counts as a verb each."""
        if not self.op:
            return AT_THE_END.get(self.step[:1], "")
        return f"advise {self.op.word}" if self.op.verb == "advise" else self.op.verb

    @property
    def kind(self) -> tuple[str, str]:
        """Findings of one kind have, as far as can be told, one cause."""
        return self.rule.name, self.verb

    @property
    def text(self) -> str:
        """A line: the rule, the operation, what was seen."""
        where = f"{self.step} {self.op.text() if self.op else self.verb}".strip()
        return (
            f"{self.rule.name}: {where}: {self.seen}" if where else f"{self.rule.name}: {self.seen}"
        )


def judge(
    program: Program, found: Record, *, soft_dirty: bool, swapping: bool = True
) -> list[Broken]:
    """What a record breaks in its first step that breaks anything.

    What follows from that is not said. `soft_dirty`: the kernel has soft-dirty bits. `swapping`:
    there is swap at the start.
    """
    broken = list(Trial(program, soft_dirty, swapping).run(found))
    if not broken and found.trouble:
        broken.append(Broken(rules.TROUBLE, "", None, found.trouble))
    return broken


@dataclass
class Trial:
    """The model of one program, and its record step by step."""

    program: Program
    soft_dirty: bool
    swapping: bool
    memory: Memory = field(init=False)
    extents: list[Place] = field(init=False)
    # What each process has last seen in a slot.
    known: dict[tuple[int, str], tuple[Process, Mapping[Place, Mapped], str]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        words = any(op.verb == "word" for op in self.program)
        self.memory = Memory(words=words, soft_dirty=self.soft_dirty, swapping=self.swapping)
        self.extents = state.extents(self.program)

    def run(self, found: Record) -> Iterator[Broken]:
        """All that the first broken step breaks."""
        before: dict[str, str] = {}
        for step in steps(found):
            kind, _, number = step.name.partition(" ")
            op = self.program[int(number)] if kind == "o" else None
            outcome = step.outcome.partition(" before=")[0]
            if op and (outcome == "hang" or (op.verb == "fail" and outcome == "ok")):
                # An allocation fails from here on: anything may fail.
                return
            self.memory.written.clear()
            if op:
                seen = list(self._operation(op, int(number), step, before))
            else:
                seen = list(self._end(step))
            seen += self._observation(step, op)
            if seen:
                yield from (Broken(rule, step.name, op, text) for rule, text in seen)
                return
            before = step.states

    def _operation(
        self, op: Op, number: int, step: Step, before: Mapping[str, str]
    ) -> Iterator[Seen]:
        process = self.memory.processes.get(op.actor) if op.actor is not None else None
        outcome = step.outcome.partition(" before=")[0]
        if op.actor is not None and (not process or outcome in ("ESRCH", "EEXIST")):
            return
        read = fresh.hashes(step.outcome) if process and op.range else None
        if process and read and op.range:
            yield from _fresh(self.memory, process, op.range, "before", read[0])
        if process:
            yield from errors.check(process, op, outcome, before)
        effects.apply(self.memory, op, outcome)
        if process and op.verb in WRITES:
            yield from accesses.write(self.memory, process, op, number, outcome)
        elif process and op.verb == "read" and op.range:
            yield from accesses.read(process, places(op.range), outcome)
        if process and read and op.range:
            yield from _fresh(self.memory, process, op.range, "after", read[1])

    def _end(self, step: Step) -> Iterator[Seen]:
        actor = int(step.name[2:])
        process = self.memory.processes.get(actor)
        self.memory.reclaims = 0
        if process and step.name[0] == "r":
            yield from accesses.read_all(process, self.extents, step.outcome)
        elif process:
            yield from accesses.write_all(self.memory, process, self.extents, actor, step.outcome)

    def _observation(self, step: Step, op: Op | None) -> Iterator[Seen]:
        """What the processes have seen after a step; at the reads, only the one that read."""
        if op and op.verb in SETTINGS:
            return
        alone = int(step.name[2:]) if step.name[0] == "r" else None
        changed = self._changed(op)
        for actor, process in self.memory.processes.items():
            if alone in (None, actor):
                yield from self._observed(actor, process, step.states, changed)
        if alone is None and self.memory.sharing:
            yield from checks.shared(self.memory, step.states)

    def _changed(self, op: Op | None) -> set[tuple[int | None, str]] | None:
        """The slots that a step may have changed in the model; None: any slot of any process."""
        if not op or self.memory.sharing or op.verb in ("reclaim", "swap", "clear-refs"):
            return None
        return {(op.actor, where.slot) for where in (op.range, op.to) if where}

    def _observed(
        self,
        actor: int,
        process: Process,
        states: dict[str, str],
        changed: set[tuple[int | None, str]] | None,
    ) -> Iterator[Seen]:
        """What a process has seen. What neither changed in the model nor in the record is known."""
        mine = f"{actor} "
        lines = {key[-1]: text for key, text in states.items() if key.startswith(f"v {mine}")}
        locked = sum(state.locked(text) for text in lines.values())
        yield from _prefixed(mine, checks.locked_sum(process, states.get(f"u {actor}", ""), locked))
        for slot, text in lines.items():
            mapped, pages = state.mapped(text, slot), states.get(f"m {mine}{slot}", "")
            before = self.known.get((actor, slot))
            self.known[actor, slot] = (process, mapped, pages)
            same = before and before[0] is process and before[1] is mapped and before[2] == pages
            if same and changed is not None and (actor, slot) not in changed:
                continue
            settle.mappings(process, mapped, slot)
            yield from _prefixed(mine, checks.mappings(process, mapped, slot))
            yield from self._pages(mine, process, pages, slot)

    def _pages(self, mine: str, process: Process, line: str, slot: str) -> Iterator[Seen]:
        for place, seen in state.pages(line, slot).items() if line else ():
            known = process.pages.get(place)
            if known:
                settle.page(known, seen, words=self.memory.words)
            elif seen.state[0] == "-":
                continue
            for rule, text in checks.page(known, seen, self.memory):
                yield rule, f"{mine}{slot} {place[1]}: {text}"


def _fresh(memory: Memory, process: Process, where: Range, when: str, read: str) -> Iterator[Seen]:
    wanted = fresh.expected(memory, process, where)
    if wanted not in (None, read):
        yield rules.FRESH, f"what was read {when} it has the hash {read}, not {wanted}"


def _prefixed(where: str, found: Iterator[Seen]) -> Iterator[Seen]:
    return ((rule, f"{where}{text}") for rule, text in found)
