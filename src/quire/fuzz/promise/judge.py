# SPDX-License-Identifier: GPL-2.0
"""The judge of promises: one kernel must keep what user space was promised.

A record is judged by following its program in the model, and comparing each step with what was
seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from quire.fuzz import runner
from quire.fuzz.judge import AT_THE_END, Account, Description, Faults, Finding, Judge, Tally, Words
from quire.fuzz.language.program import Op, Program, Range
from quire.fuzz.language.record import Record, Step, steps
from quire.fuzz.promise import accesses, checks, content, effects, errors, rules, settle, state
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.memory import Memory, Page, Place, Process, places
from quire.fuzz.promise.rules import Rule
from quire.fuzz.promise.state import Mapped
from quire.fuzz.runner import Runs, Targets

WRITES = frozenset({"write", "same", "word"})
# Nothing is observed after these.
SETTINGS = frozenset({"folio", "smart", "warm", "fail"})
SOFT_DIRTY = "CONFIG_MEM_SOFT_DIRTY"
# What `warm` asks for: reads right before and right after an operation, to meet stale TLB entries.
# The record has a hash of what was read (content_hash() of guest/fuzz/content.c).
_HASHES = re.compile(r" before=([0-9a-f]{8}) after=([0-9a-f]{8})$")


@dataclass(frozen=True)
class Broken:
    """A promise that a record breaks: at which operation, and what was seen."""

    rule: Rule
    step: str
    op: Op | None
    seen: str
    # All that the step breaks.
    all: tuple[Broken, ...] = field(default=(), compare=False)

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


@dataclass
class PromiseJudge(Judge[Broken]):
    """Judges the records of one kernel. `known`: rules that some programs are known to break."""

    targets: Targets
    known: Mapping[int, str] = field(default_factory=dict)
    tally: Tally[Broken] = field(default_factory=Tally)
    # How many programs broke what they are known to break.
    expected: int = 0

    noisy = False
    words = Words(
        finding="broken",
        file="promises",
        does="breaks a promise",
        bug="bug",
        bugs="seeded bugs, one kernel",
        shows="the broken promise",
        missed={"broken": None},
    )

    def judge(self, programs: Mapping[int, Program], runs: Runs) -> Faults[Broken]:
        """The programs that break a promise which they are not known to break."""
        breaches = self._breaches(programs, runs)
        suspects = [
            (number, breach)
            for number, breach in breaches.items()
            if breach.kind[0] != self.known.get(number)
        ]
        self.tally.programs += len(runs[0])
        self.tally.suspects += len(suspects)
        self.expected += len(breaches) - len(suspects)
        return suspects

    def confirm(
        self, programs: Mapping[int, Program], suspects: Faults[Broken], runs: Runs
    ) -> Iterator[tuple[int, Broken]]:
        """Those that break the same in another boot, in another order."""
        if not suspects:
            return
        chosen = {number: programs[number] for number, _ in reversed(suspects)}
        again = self._breaches(chosen, self.targets.run(chosen))
        for number, fault in suspects:
            broken = again[number].all if number in again else ()
            same = [promise for promise in broken if promise.kind == fault.kind]
            if same:
                yield number, same[0]
            else:
                self.tally.unstable[number] = programs[number], fault.text

    def again(
        self, programs: Mapping[int, Program], fault: Broken, *, last: bool = False
    ) -> tuple[Mapping[int, Broken], Runs]:
        """Those whose first broken promise is of the same kind."""
        runs = self.targets.run(programs, losses=1)
        breaches = self._breaches(programs, runs)
        return {n: breach for n, breach in breaches.items() if breach.kind == fault.kind}, runs

    def _breaches(self, programs: Mapping[int, Program], runs: Runs) -> dict[int, Broken]:
        kernel = self.targets.tried.kernel
        soft_dirty, swapping = kernel.enables(SOFT_DIRTY), self.targets.tried.swap != runner.NONE
        broken = {
            number: judge(programs[number], record, soft_dirty=soft_dirty, swapping=swapping)
            for number, record in runs[0].items()
        }
        return {n: replace(some[0], all=tuple(some)) for n, some in broken.items() if some}

    def describe(self, finding: Finding[Broken]) -> Description:
        """For each broken rule what was promised, where, and what was seen."""
        fault = finding.fault
        about = f"promised: {fault.rule.promise} ({fault.rule.source})"
        lines: list[str] = []
        for rule in dict.fromkeys(broken.rule for broken in fault.all):
            lines += [rule.name, f"  promised: {rule.promise}", f"  source: {rule.source}"]
            lines += [f"  seen: {broken.text}" for broken in fault.all if broken.rule is rule]
        details = [
            {
                "rule": broken.rule.name,
                "promise": broken.rule.promise,
                "source": broken.rule.source,
                "operation": broken.verb,
                "seen": broken.seen,
            }
            for broken in fault.all
        ]
        row = {"broken": fault.text}
        return Description((fault.text, about), about, lines, {"broken": details}, row)

    def account(self, seconds: float) -> Account:
        """How many programs broke a promise, again, and as is known; and what was not shrunk."""
        tally, kinds = self.tally, self.tally.kinds.most_common()
        unstable = {number: text for number, (_, text) in tally.unstable.items()}
        known = f"{self.expected} broke what is known; " if self.expected else ""
        shrunk = {finding.kind for finding in tally.findings}
        return Account(
            f"{self.targets.arch.name}: {tally.programs} programs on {self.targets.labels[0]} in "
            f"{seconds:.0f} s, {self.targets.rate(tally.programs):.0f} a minute; {tally.suspects} "
            f"broke a promise, {len(tally.unstable)} of them not again; {known}",
            [
                *(f"  not again: program {number}: {text}" for number, text in unstable.items()),
                *(f"not shrunk: ×{n} {': '.join(kind)}" for kind, n in kinds if kind not in shrunk),
            ],
            {
                "kernel": self.targets.labels[0],
                "programs": tally.programs,
                "suspects": tally.suspects,
                "known": self.expected,
                "unstable": unstable,
                "confirmed": {number: fault.text for number, fault in tally.confirmed},
                "kinds": [[*kind, count] for kind, count in kinds],
            },
        )


def judge(
    program: Program, record: Record, *, soft_dirty: bool, swapping: bool = True
) -> list[Broken]:
    """What a record breaks in its first step that breaks anything.

    What follows from that is not said. `soft_dirty`: the kernel has soft-dirty bits. `swapping`:
    there is swap at the start.
    """
    broken = list(Trial(program, soft_dirty, swapping).run(record))
    if not broken and record.trouble:
        broken.append(Broken(rules.TROUBLE, "", None, record.trouble))
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

    def run(self, record: Record) -> Iterator[Broken]:
        """All that the first broken step breaks."""
        before: dict[str, str] = {}
        for step in steps(record):
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
        read = _hashes(step.outcome) if process and op.range else None
        if process and read and op.range:
            yield from _fresh(self.memory, process, op.range, "before", read[0])
        if process:
            yield from errors.check(process, op, outcome, before)
        effects.apply(self.memory, op, outcome)
        if process and op.verb in WRITES:
            yield from accesses.write(self.memory, process, op, number, outcome)
        elif process and op.verb == "read" and op.range:
            yield from accesses.read(process, places(op.range), outcome)
        elif process and op.word == "unmergeable" and op.range and outcome == "ok":
            line = step.states.get(f"v {op.actor} {op.range.slot}", "")
            yield from checks.apart(op, state.mapped(line, op.range.slot))
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
    wanted = _expected(memory, process, where)
    if wanted not in (None, read):
        yield rules.FRESH, f"what was read {when} it has the hash {read}, not {wanted}"


def _hashes(outcome: str) -> tuple[str, str] | None:
    """The hashes before and after an operation, if its pages were read."""
    match = _HASHES.search(outcome)
    return (match[1], match[2]) if match else None


def _expected(memory: Memory, process: Process, where: Range) -> str | None:
    """The hash that a read of the range must have; None if some page may hold several things."""
    value = 0
    for place in places(where):
        page = process.pages.get(place)
        if place in process.doubtful or (page and not _certain(page)):
            return None
        readable = page and page.prot != "none" and not page.refuses_reads
        held = next(iter(page.cell.allowed)) if page and readable else None
        value = content.mixed(value, held, words=memory.words)
    return f"{value >> 32:08x}"


def _certain(page: Page) -> bool:
    return not page.unsaid and page.refuses_reads is not None and len(page.cell.allowed) == 1


def _prefixed(where: str, seen: Iterator[Seen]) -> Iterator[Seen]:
    return ((rule, f"{where}{text}") for rule, text in seen)
