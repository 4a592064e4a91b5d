# SPDX-License-Identifier: GPL-2.0
"""Judge costs: no operation may cost more on side b, except where the series intends it.

Noise (an interrupt, a kernel thread, a batch that happens to be full) adds to some operations of a
boot. Therefore the minimum and the median of several runs in different boots and orders count
(growth.py).
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quire.boot.counts import Stop
from quire.fuzz.cost import allowed, growth
from quire.fuzz.cost.allowed import Allowance
from quire.fuzz.cost.growth import SHOWN, Regression
from quire.fuzz.cost.watch import Watch
from quire.fuzz.judge import Faults, Judge, Requests, Rerun, Shown, Tally
from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.runner import Runs, Targets

# Runs of a suspect in a boot, for each of the boots that confirm it. The first boot drops most.
CONFIRM = (1, 2, 4, 8)
# Runs of each candidate of the minimiser, each only if the previous one confirms; and of the
# program at the end.
SHRINK, LAST = (1, 1, 1), 6

# By program and step: the costs of each run on side a, and on side b.
Costs = dict[tuple[int, str], tuple[list[Stop], list[Stop]]]


@dataclass
class CostJudge(Judge[Regression]):
    """Compares what `watch` counts on two sides. The costs `allowed` are intended."""

    watch: Watch
    allowed: Sequence[Allowance] = ()
    tally: Tally[Regression] = field(default_factory=Tally)
    # Operations compared, and those that cost more each time, allowed or not.
    operations: int = 0
    repeated: int = 0
    # Programs that run in between, so that a program does not always follow itself.
    fillers: list[Program] = field(default_factory=list)

    noisy = True
    finding, file, does = "regression", "costs", "costs more"
    listing, listed = "regressions", "operations cost more"
    bug, bugs, shows = "regression", "seeded costs", "what grew"
    missing = ("{} seeded regressions were not found", Judge.missing[1])

    def judge(self, programs: Numbered, runs: Runs) -> Faults[Regression]:
        """Return the operations that cost more.

        Programs with failing allocations are inconclusive: the sides count allocations differently.
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
    ) -> Requests[Faults[Regression]]:
        """Return those whose cheapest run costs more, by more than is allowed."""
        costs = gather({number: number for number, _ in suspects}, runs)
        for stage, times in enumerate(CONFIRM):
            if not suspects:
                return []
            chosen = {number: programs[number] for number, _ in suspects}
            last = stage == len(CONFIRM) - 1
            more, _ = yield from self.measure(chosen, times, stage, symbols=last)
            # An operation that differs between runs is inconclusive.
            keys = ((number, fault.step) for number, fault in suspects)
            costs = {
                key: (costs[key][0] + more[key][0], costs[key][1] + more[key][1])
                for key in keys
                if key in more and len(more[key][0]) == times
            }
            suspects = self._grown(programs, costs)
        self.repeated += len(suspects)
        confirmed = []
        for number, fault in suspects:
            left, used = allowed.judge(self.allowed, fault)
            self.tally.excused.update(used)
            if left:
                confirmed.append((number, left))
        return confirmed

    def repeat(
        self, programs: Numbered, fault: Regression, *, last: bool = False
    ) -> Requests[Shown[Regression]]:
        """Return the programs in which an operation of that verb keeps most of the growth."""
        showing: dict[int, Regression] = {}
        runs: Runs = ()
        for times in (LAST,) if last else SHRINK:
            if programs:
                # Only what is allowed, and the report, need symbols; they take most of the time.
                symbols = last or bool(self.allowed)
                costs, runs = yield from self.measure(programs, times, times, symbols=symbols)
                costs = {key: both for key, both in costs.items() if len(both[0]) == times}
                showing = {}
                for number, grown in self._grown(programs, costs):
                    left, _ = allowed.judge(self.allowed, grown)
                    if left and left.verb == fault.verb and left.keeps(fault):
                        showing.setdefault(number, left)
                programs = {number: programs[number] for number in showing}
        return showing, runs

    def _grown(self, programs: Numbered, costs: Costs) -> Faults[Regression]:
        """Return the operations whose minimum and median cost grew."""
        suspects = []
        for (number, step), (left, right) in costs.items():
            grown = growth.compare(left, right, self.watch)
            if grown:
                least = growth.least(left), growth.least(right)
                fault = Regression(step, programs[number], *least, tuple(grown))
                suspects.append((number, fault))
        return suspects

    def measure(
        self, programs: Numbered, times: int, seed: int, *, symbols: bool
    ) -> Requests[tuple[Costs, Runs]]:
        """Return the costs of equal runs, in one boot and several orders, and the first records."""
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
        runs = yield Rerun(dict(enumerate(mixed)), symbols=symbols)
        first = {number: at for at, number in reversed(origin.items())}
        firsts = ({n: run[at] for n, at in first.items() if at in run} for run in runs)
        return gather(origin, runs), tuple(firsts)

    def row(self, fault: Regression | None) -> dict[str, Any]:
        """Return the costs that grew, and the functions."""
        functions = dict(fault.symbols[:SHOWN]) if fault else {}
        return {"grown": fault and fault.text, "functions": functions}

    def summary(self, _targets: Targets, _seconds: float) -> str:
        """Return how many operations cost more, at first and when repeated."""
        return (
            f"costs: {self.operations} operations compared, in {self.tally.suspects} programs one "
            f"cost more at first, and {self.repeated} operations did in repeated runs; "
        )

    def notes(self) -> list[str]:
        """Return the intended costs, and what is not watched."""
        notes = []
        for entry in self.allowed:
            number = self.tally.excused[entry.name]
            word = f"intended in {number} operations" if number else "no operation needed the entry"
            notes.append(f"  {word}: {entry.name} ({' '.join(entry.reason.split())})")
        missing = self.watch.left_out
        return [*notes, *(f"  not watched, as one or both kernels lack it: {n}" for n in missing)]

    def figures(self, _targets: Targets) -> dict[str, Any]:
        return {
            "operations": self.operations,
            "suspects": self.tally.suspects,
            "confirmed": self.repeated,
            "allowed": {entry.name: self.tally.excused[entry.name] for entry in self.allowed},
            "not watched": list(self.watch.left_out),
        }


def fit(number: int, runs: Runs) -> bool:
    """Return whether a program's costs are conclusive: it ran on both sides without trouble."""
    return all(number in records and not records[number].trouble for records in runs)


def gather(origin: Mapping[int, int], runs: Runs) -> Costs:
    """Return the costs of all operations that ran alike, by the programs' original numbers."""
    costs: Costs = {}
    for number, original in origin.items():
        if fit(number, runs):
            a, b = (records[number] for records in runs)
            for step in growth.alike(a, b):
                left, right = costs.setdefault((original, step), ([], []))
                left.append(a.costs[step])
                right.append(b.costs[step])
    return costs
