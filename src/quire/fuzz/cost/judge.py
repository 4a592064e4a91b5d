# SPDX-License-Identifier: GPL-2.0
"""The judge of costs: no operation may cost side b more, but for what the series means.

Noise (an interrupt, a kernel thread, a batch that happens to be full) adds to some operation of a
boot. So the least of several runs counts, in other boots and orders, and the median (growth.py).
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.boot.stops import Stop
from quire.fuzz.cost import allowed, growth
from quire.fuzz.cost.allowed import Allowance
from quire.fuzz.cost.growth import SHOWN, Regression
from quire.fuzz.cost.watch import Watch
from quire.fuzz.judge import Account, Again, Description, Faults, Finding, Judge, Tally, Words
from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.runner import Runs, Targets

# Runs of a suspect in a boot, for each of the boots that confirm it. The first boot drops most.
CONFIRM = (1, 2, 4, 8)
# Runs of each candidate while a program shrinks, the next if the last says yes; and of the
# program at the end.
SHRINK, LAST = (1, 1, 1), 6

# By program and step: what it cost in each run on side a, and on side b.
Costs = dict[tuple[int, str], tuple[list[Stop], list[Stop]]]


@dataclass
class CostJudge(Judge[Regression]):
    """Compares what `watch` counts on two sides. The series means the costs `allowed`."""

    targets: Targets
    watch: Watch
    allowed: Sequence[Allowance] = ()
    tally: Tally[Regression] = field(default_factory=Tally)
    # Operations that were compared, and those that cost more each time, allowed or not.
    operations: int = 0
    repeated: int = 0
    # Programs that run in between, so that a program does not always follow itself.
    fillers: list[Program] = field(default_factory=list)

    noisy = True
    words = Words(
        finding="regression",
        file="costs",
        does="costs more",
        bug="regression",
        bugs="seeded costs",
        shows="what grew",
        missed={"grown": None, "functions": {}},
        missing=("{} seeded regressions were not found", Words.missing[1]),
        listing="regressions",
        listed="operations cost more",
    )

    def judge(self, programs: Numbered, runs: Runs) -> Faults[Regression]:
        """The operations that cost more.

        A program that makes an allocation fail says nothing: the two sides count them differently.
        """
        programs = {n: ops for n, ops in programs.items() if all(op.verb != "fail" for op in ops)}
        costs = gather({number: number for number in programs}, runs)
        suspects = self._grown(programs, costs)
        numbers = {number for number, _ in suspects}
        self.operations += len(costs)
        self.tally.suspects += len(numbers)
        others = (number for number in programs if number not in numbers)
        self.fillers = [programs[number] for number in others if fit(number, runs)]
        return suspects

    def confirm(
        self, programs: Numbered, suspects: Faults[Regression], runs: Runs
    ) -> Iterator[tuple[int, Regression]]:
        """Those that cost more by the least of all runs, and more so than allowed."""
        costs = gather({number: number for number, _ in suspects}, runs)
        for stage, times in enumerate(CONFIRM):
            if not suspects:
                return
            chosen = {number: programs[number] for number, _ in suspects}
            again, _ = self.repeat(chosen, times, stage, detail=stage == len(CONFIRM) - 1)
            # An operation that was not alike in each run says nothing.
            keys = ((number, fault.step) for number, fault in suspects)
            costs = {
                key: (costs[key][0] + again[key][0], costs[key][1] + again[key][1])
                for key in keys
                if key in again and len(again[key][0]) == times
            }
            suspects = self._grown(programs, costs)
        self.repeated += len(suspects)
        for number, fault in suspects:
            left, used = allowed.judge(self.allowed, fault)
            self.tally.excused.update(used)
            if left:
                yield number, left

    def again(
        self, programs: Numbered, fault: Regression, *, last: bool = False
    ) -> Again[Regression]:
        """Those of which an operation of that verb keeps most of the growth."""
        showing: dict[int, Regression] = {}
        runs: Runs = ()
        for times in (LAST,) if last else SHRINK:
            if programs:
                # Only what is allowed, and the report, need symbols; they take most of the time.
                detail = last or bool(self.allowed)
                costs, runs = self.repeat(programs, times, times, detail=detail)
                costs = {key: both for key, both in costs.items() if len(both[0]) == times}
                showing = {}
                for number, grown in self._grown(programs, costs):
                    left, _ = allowed.judge(self.allowed, grown)
                    if left and left.verb == fault.verb and left.keeps(fault):
                        showing.setdefault(number, left)
                programs = {number: programs[number] for number in showing}
        return showing, runs

    def _grown(self, programs: Numbered, costs: Costs) -> Faults[Regression]:
        """The operations whose least cost grew, and their median."""
        suspects = []
        for (number, step), (left, right) in costs.items():
            grown = growth.compare(left, right, self.watch)
            if grown:
                least = growth.least(left), growth.least(right)
                fault = Regression(step, programs[number], *least, tuple(grown))
                suspects.append((number, fault))
        return suspects

    def repeat(
        self, programs: Numbered, times: int, seed: int, *, detail: bool
    ) -> tuple[Costs, Runs]:
        """What operations cost in runs that were alike, in one boot and orders of their own.

        And the records of the first.
        """
        mixed: list[Program] = []
        origin: dict[int, int] = {}
        for run in range(times):
            shuffled = random.Random(seed * 100 + run)
            order = list(programs)
            shuffled.shuffle(order)
            for number in order:
                if self.fillers:
                    mixed.append(shuffled.choice(self.fillers))
                origin[len(mixed)] = number
                mixed.append(programs[number])
        self._count_by_symbol(yes=detail)
        runs = self.targets.run(dict(enumerate(mixed)))
        self._count_by_symbol(yes=False)
        first = {number: at for at, number in reversed(origin.items())}
        firsts = ({n: run[at] for n, at in first.items() if at in run} for run in runs)
        return gather(origin, runs), tuple(firsts)

    def _count_by_symbol(self, *, yes: bool) -> None:
        for target in self.targets.all:
            if target.probe:
                counting = replace(target.probe.counting, detail=yes)
                target.probe = replace(target.probe, counting=counting)

    def describe(self, finding: Finding[Regression]) -> Description:
        """The costs, function by function."""
        fault = finding.fault
        return Description(
            (fault.text, *fault.functions),
            ", ".join(fault.functions),
            (fault.text, "", *fault.table()),
            {
                "step": fault.step,
                "operation": fault.verb,
                "programs": self.tally.kinds[finding.kind],
                "grown": {grown.name: [grown.a, grown.b] for grown in fault.grown},
                "functions": dict(fault.symbols[: 3 * SHOWN]),
            },
            {"grown": fault.text, "functions": dict(fault.symbols[:SHOWN])},
        )

    def account(self, seconds: float) -> Account:
        """How many operations cost more, at first and again, and what the series means."""
        excused = {entry.name: self.tally.excused[entry.name] for entry in self.allowed}
        notes = []
        for entry in self.allowed:
            number = excused[entry.name]
            word = f"meant in {number} operations" if number else "no operation needed the entry"
            notes.append(f"  {word}: {entry.name} ({' '.join(entry.reason.split())})")
        for name in self.watch.left_out:
            notes.append(f"  not watched, as not both kernels have it: {name}")
        return Account(
            f"costs: {self.operations} operations compared, in {self.tally.suspects} programs one "
            f"cost more at first, and {self.repeated} operations did in repeated runs; ",
            notes,
            {
                "operations": self.operations,
                "suspects": self.tally.suspects,
                "confirmed": self.repeated,
                "allowed": excused,
                "not watched": list(self.watch.left_out),
            },
        )


def fit(number: int, runs: Runs) -> bool:
    """Whether a program's costs say anything: it ran on both sides without trouble."""
    return all(number in records and not records[number].trouble for records in runs)


def gather(origin: Mapping[int, int], runs: Runs) -> Costs:
    """The costs of all operations that ran alike, by the programs' original numbers."""
    costs: Costs = {}
    for number, original in origin.items():
        if fit(number, runs):
            a, b = (records[number] for records in runs)
            for step in growth.alike(a, b):
                left, right = costs.setdefault((original, step), ([], []))
                left.append(a.costs[step])
                right.append(b.costs[step])
    return costs
