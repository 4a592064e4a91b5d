# SPDX-License-Identifier: GPL-2.0
"""The judge of promises: one kernel must keep what user space was promised.

A record is judged by following its program in the model, and comparing each step with what was
seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from quire.fuzz import runner
from quire.fuzz.judge import AT_THE_END, Description, Faults, Finding, Judge, Tally, Words
from quire.fuzz.language.program import Op, Program, Range
from quire.fuzz.language.record import Record, Step, steps
from quire.fuzz.promise import accesses, checks, effects, errors, fresh, rules, settle, state
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.memory import Memory, Place, Process, places
from quire.fuzz.promise.rules import Rule
from quire.fuzz.promise.state import Mapped
from quire.fuzz.runner import Runs, Targets

WRITES = frozenset({"write", "same", "word"})
# Nothing is observed after these.
SETTINGS = frozenset({"folio", "smart", "warm", "fail"})
SOFT_DIRTY = "CONFIG_MEM_SOFT_DIRTY"


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


@dataclass(frozen=True)
class Breach:
    """What a record breaks in its first step that breaks anything."""

    broken: tuple[Broken, ...]

    @property
    def kind(self) -> tuple[str, str]:
        """The rule and the operation of the first."""
        return self.broken[0].kind

    @property
    def step(self) -> str:
        """The step."""
        return self.broken[0].step

    @property
    def text(self) -> str:
        """The first one."""
        return self.broken[0].text

    @property
    def promises(self) -> Iterator[str]:
        """For each broken rule what was promised, where, and what was seen."""
        for rule in dict.fromkeys(broken.rule for broken in self.broken):
            yield from (rule.name, f"  promised: {rule.promise}", f"  source: {rule.source}")
            yield from (f"  seen: {broken.text}" for broken in self.broken if broken.rule is rule)


@dataclass
class PromiseJudge(Judge[Breach]):
    """Judges the records of one kernel. `known`: rules that some programs are known to break."""

    targets: Targets
    known: Mapping[int, str] = field(default_factory=dict)
    tally: Tally[Breach] = field(default_factory=Tally)
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

    def judge(self, programs: Mapping[int, Program], runs: Runs) -> Faults[Breach]:
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
        self, programs: Mapping[int, Program], suspects: Faults[Breach], runs: Runs
    ) -> Iterator[tuple[int, Breach]]:
        """Those that break the same in another boot, in another order."""
        if not suspects:
            return
        chosen = {number: programs[number] for number, _ in reversed(suspects)}
        again = self._breaches(chosen, self.targets.run(chosen))
        for number, fault in suspects:
            broken = again[number].broken if number in again else ()
            same = tuple(promise for promise in broken if promise.kind == fault.kind)
            if same:
                yield number, Breach(same)
            else:
                self.tally.unstable[number] = programs[number], fault.text

    def again(
        self, programs: Mapping[int, Program], fault: Breach, *, last: bool = False
    ) -> tuple[Mapping[int, Breach], Runs]:
        """Those whose first broken promise is of the same kind."""
        runs = self.targets.run(programs, losses=1)
        breaches = self._breaches(programs, runs)
        return {n: breach for n, breach in breaches.items() if breach.kind == fault.kind}, runs

    def _breaches(self, programs: Mapping[int, Program], runs: Runs) -> dict[int, Breach]:
        kernel = self.targets.tried.kernel
        soft_dirty, swapping = kernel.enables(SOFT_DIRTY), self.targets.tried.swap != runner.NONE
        broken = {
            number: judge(programs[number], record, soft_dirty=soft_dirty, swapping=swapping)
            for number, record in runs[0].items()
        }
        return {number: Breach(tuple(some)) for number, some in broken.items() if some}

    def describe(self, finding: Finding[Breach]) -> Description:
        """The promises."""
        fault, rule = finding.fault, finding.fault.broken[0].rule
        about = f"promised: {rule.promise} ({rule.source})"
        details = [
            {
                "rule": broken.rule.name,
                "promise": broken.rule.promise,
                "source": broken.rule.source,
                "operation": broken.verb,
                "seen": broken.seen,
            }
            for broken in fault.broken
        ]
        row = {"broken": fault.text}
        return Description((fault.text, about), about, fault.promises, {"broken": details}, row)

    def summary(self, seconds: float) -> str:
        """How many programs broke a promise, again, and as is known."""
        tally = self.tally
        return (
            f"{self.targets.arch.name}: {tally.programs} programs on {self.targets.labels[0]} in "
            f"{seconds:.0f} s, {self.targets.rate(tally.programs):.0f} a minute; {tally.suspects} "
            f"broke a promise, {len(tally.unstable)} of them not again; "
        ) + (f"{self.expected} broke what is known; " if self.expected else "")

    def notes(self) -> Iterator[str]:
        """What did not break again, and what was not shrunk."""
        for number, (_, text) in self.tally.unstable.items():
            yield f"  not again: program {number}: {text}"
        shrunk = {finding.kind for finding in self.tally.findings}
        for kind, count in self.tally.kinds.most_common():
            if kind not in shrunk:
                yield f"not shrunk: ×{count} {', '.join(kind)}"

    def figures(self) -> dict[str, Any]:
        """The same, and all that was confirmed."""
        tally = self.tally
        return {
            "kernel": self.targets.labels[0],
            "programs": tally.programs,
            "suspects": tally.suspects,
            "known": self.expected,
            "unstable": {number: text for number, (_, text) in tally.unstable.items()},
            "confirmed": {number: fault.text for number, fault in tally.confirmed},
            "kinds": [[*kind, count] for kind, count in tally.kinds.most_common()],
        }


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


def _prefixed(where: str, seen: Iterator[Seen]) -> Iterator[Seen]:
    return ((rule, f"{where}{text}") for rule, text in seen)
