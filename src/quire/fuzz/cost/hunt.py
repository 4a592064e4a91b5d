# SPDX-License-Identifier: GPL-2.0
"""The hunt: which operations got dearer, whether they are so again, and in how short a program.

An interrupt, a kernel thread, a batch that happens to be full: noise adds to some operation of some
boot. So an operation counts by the least of several runs, in other boots and in other orders, and
both sides run equally often. Their medians must agree with it (growth.py).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from quire.boot.stops import Stop
from quire.fuzz.cost import allowed, finding, growth
from quire.fuzz.cost.allowed import Allowance
from quire.fuzz.cost.finding import Dearer, Finding
from quire.fuzz.cost.meter import Meter
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.minimise import minimise, replace_each
from quire.fuzz.runner import Records
from quire.fuzz.triage import simpler

# Runs of a suspect in a boot, for each of the boots that confirm it. The first boot drops most.
CONFIRM = (1, 2, 4, 8)
# Runs of each candidate while a program shrinks, the next if the last says yes; and of the
# program at the end.
SHRINK, LAST = (1, 1, 1), 6

Costs = dict[tuple[int, str], tuple[list[Stop], list[Stop]]]


@dataclass
class Tally:
    """What the hunt has seen so far."""

    # Operations that were compared, and programs with a suspect one.
    operations: int = 0
    suspects: int = 0
    # Operations that were dearer each time, before the entries of the series.
    confirmed: int = 0
    # For each entry of the series, how many operations it allowed something in.
    allowed: Counter[str] = field(default_factory=Counter)
    # For each signature, how many programs had it.
    signatures: Counter[tuple[str, ...]] = field(default_factory=Counter)


@dataclass
class Hunt:
    """Compares costs of programs on two sides.

    `allowed` are the costs that the series means. Of several programs with one signature, only the
    first is shrunk.
    """

    meter: Meter
    allowed: Sequence[Allowance] = ()
    tally: Tally = field(default_factory=Tally)
    findings: list[Finding] = field(default_factory=list)
    # Programs that run in between, so that a program does not always follow itself.
    fillers: list[Program] = field(default_factory=list)
    # A line per operation that was dearer each time, and more so than allowed.
    confirmed: list[str] = field(default_factory=list)

    def follow_up(
        self, programs: Mapping[int, Program], confirmed: Iterable[tuple[int, Dearer]], most: int
    ) -> Iterator[Finding]:
        """Shrink what is dearer: at most `most` findings, one of each signature."""
        left = most
        for number, dearer in confirmed:
            sign = finding.signature(programs[number], dearer)
            self.tally.signatures[sign] += 1
            if self.tally.signatures[sign] > 1 or left <= 0:
                continue
            shrunk = self.shrink(number, programs[number], dearer)
            if shrunk:
                left -= 1
                self.findings.append(shrunk)
                yield shrunk
            else:
                # It did not repeat, which says nothing about others of this signature.
                self.tally.signatures[sign] = 0

    def confirm(
        self, programs: Mapping[int, Program], a: Records, b: Records
    ) -> list[tuple[int, Dearer]]:
        """The operations that are dearer by the least of all runs, and more so than allowed.

        A program that makes an allocation fail says nothing: the two sides count them differently.
        """
        programs = {n: ops for n, ops in programs.items() if all(op.verb != "fail" for op in ops)}
        costs: Costs = {}
        steps = gather(costs, {number: number for number in programs}, a, b)
        self.tally.operations += len(steps)
        suspects = self.dearer(costs)
        dearer = {number for number, _ in suspects}
        self.tally.suspects += len(dearer)
        fit = [n for n in programs if n in a and n in b and not a[n].trouble and not b[n].trouble]
        self.fillers = [programs[n] for n in fit if n not in dearer]
        for stage, runs in enumerate(CONFIRM):
            if not suspects:
                return []
            chosen = {number: programs[number] for number, _ in suspects}
            again, _ = self._repeat(chosen, runs, stage, detail=stage == len(CONFIRM) - 1)
            # An operation that was not alike in each run says nothing.
            costs = {
                key: (costs[key][0] + again[key][0], costs[key][1] + again[key][1])
                for key in suspects
                if len(again.get(key, ([], []))[0]) == runs
            }
            suspects = self.dearer(costs)
        self.tally.confirmed += len(suspects)
        found = list(self.judge(programs, suspects))
        self.confirmed += [finding.line(number, programs[number], one) for number, one in found]
        return found

    def judge(
        self, programs: Mapping[int, Program], suspects: Mapping[tuple[int, str], Dearer]
    ) -> Iterable[tuple[int, Dearer]]:
        """What of the growth the series does not mean."""
        for (number, _), dearer in suspects.items():
            left, used = allowed.judge(self.allowed, programs[number], dearer)
            self.tally.allowed.update(used)
            if left:
                yield number, left

    def dearer(self, costs: Costs) -> dict[tuple[int, str], Dearer]:
        """The operations whose least cost grew, and their median."""
        found = {}
        for (number, step), (left, right) in costs.items():
            grown = growth.compare(left, right, self.meter.watch)
            if grown:
                a, b = growth.least(left), growth.least(right)
                found[number, step] = Dearer(step, a, b, tuple(grown))
        return found

    def repeat(self, programs: Mapping[int, Program], runs: int, *, seed: int) -> Costs:
        """The costs of several runs of each program, in one boot, in another order each time."""
        costs, _ = self._repeat(programs, runs, seed, detail=True)
        return costs

    def _repeat(
        self, programs: Mapping[int, Program], runs: int, seed: int, *, detail: bool
    ) -> tuple[Costs, tuple[Records, Records]]:
        mixed: list[Program] = []
        origin: dict[int, int] = {}
        for run in range(runs):
            shuffled = random.Random(seed * 100 + run)
            order = list(programs)
            shuffled.shuffle(order)
            for number in order:
                if self.fillers:
                    mixed.append(shuffled.choice(self.fillers))
                origin[len(mixed)] = number
                mixed.append(programs[number])
        records = self.meter.run(dict(enumerate(mixed)), detail=detail)
        costs: Costs = {}
        gather(costs, origin, *records)
        first: dict[int, int] = {}
        for new, old in origin.items():
            first.setdefault(old, new)
        a, b = ({n: found[at] for n, at in first.items() if at in found} for found in records)
        return costs, (a, b)

    def shrink(self, number: int, program: Program, dearer: Dearer) -> Finding | None:
        """The fewest operations, then pages, that keep the growth; None if it does not repeat."""
        kind = finding.kind(program, dearer.step)

        def happens(candidates: Sequence[Program]) -> list[bool]:
            left = dict(enumerate(dict.fromkeys(candidates)))
            for runs in SHRINK:
                grown = self.kept(left, kind, dearer, runs)[0] if left else {}
                left = {at: left[at] for at in grown}
            return [candidate in left.values() for candidate in candidates]

        # What comes behind the operation does not matter.
        start = program[: int(dearer.step[2:]) + 1] if dearer.step[0] == "o" else program
        small = replace_each(minimise(start, happens), simpler, happens)
        for attempt in (small, start):
            grown, records = self.kept({number: attempt}, kind, dearer, LAST)
            if grown:
                pair = (records[0][number], records[1][number])
                labels = self.meter.pair.labels
                sign = finding.signature(program, dearer)
                return Finding(number, program, attempt, grown[number], pair, labels, sign)
        return None

    def kept(
        self, programs: Mapping[int, Program], kind: str, of: Dearer, runs: int
    ) -> tuple[dict[int, Dearer], tuple[Records, Records]]:
        """For each program, its operation of that kind whose growth is most of that of `of`."""
        # Only what is allowed, and the report, ask for symbols; they take most of the time.
        detail = bool(self.allowed) or runs == LAST
        costs, records = self._repeat(programs, runs, runs, detail=detail)
        costs = {key: lists for key, lists in costs.items() if len(lists[0]) == runs}
        found: dict[int, Dearer] = {}
        for (number, step), dearer in self.dearer(costs).items():
            if finding.kind(programs[number], step) != kind:
                continue
            left, _ = allowed.judge(self.allowed, programs[number], dearer)
            if left and left.keeps(of):
                found.setdefault(number, left)
        return found, records


def gather(costs: Costs, origin: Mapping[int, int], a: Records, b: Records) -> list[str]:
    """Add the costs of all operations that ran alike, by the programs' original numbers.

    Programs in trouble, and those that make allocations fail, say nothing.
    """
    steps: list[str] = []
    for number, original in origin.items():
        left, right = a.get(number), b.get(number)
        if not left or not right or _unfit(left) or _unfit(right):
            continue
        for step in growth.alike(left, right):
            lists = costs.setdefault((original, step), ([], []))
            lists[0].append(left.costs[step])
            lists[1].append(right.costs[step])
            steps.append(step)
    return steps


def _unfit(found: Record) -> bool:
    return bool(found.trouble)
