# SPDX-License-Identifier: GPL-2.0
"""The fuzzer against seeded bugs: after how many programs each is found, and how small it gets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from quire.fuzz import generate, hunt, runner
from quire.fuzz.hunt import Finding, Pair, Tally
from quire.fuzz.program import Program
from quire.fuzz.runner import Records, Target
from quire.sabotage import PARAMETER, Bug

# Programs are run in helpings, so that a bug that is easily seen costs little.
HELPINGS = (25, 75, 200, 300)
# A bug that takes the guest along is found by the first time.
LOSSES = 1


@dataclass(frozen=True)
class Result:
    """One bug: the number of programs it took, and the shrunk finding; neither if it was missed."""

    bug: Bug
    programs: int
    finding: Finding | None = None


@dataclass
class Course:
    """The programs of a self-test with their records on stock, made when they are first wanted."""

    stock: Target
    # The series without a bug.
    healthy: Target
    seed: int
    limit: int
    _records: dict[int, Records] = field(default_factory=dict)

    def helpings(self) -> Iterator[tuple[dict[int, Program], Records]]:
        """Programs and their records, more at a time."""
        start = 0
        for size in itertools.chain(HELPINGS, itertools.repeat(HELPINGS[-1])):
            numbers = range(start, min(start + size, self.limit))
            if not numbers:
                return
            programs = {n: generate.generate(self.seed + n) for n in numbers}
            if start not in self._records:
                self._records[start] = runner.run(self.stock, programs)
            yield programs, self._records[start]
            start = numbers.stop


def hunt_bug(
    course: Course, target: Target, bug: Bug, tick: Callable[[int], None] | None = None
) -> Result:
    """Look for one bug, on a kernel with all of them."""
    sick = replace(target, parameters=(f"{PARAMETER}={bug.name}",))
    pair = Pair(course.stock, sick, control=course.healthy)
    done = 0
    for programs, stock in course.helpings():
        records = runner.run(sick, programs, LOSSES)
        found = hunt.suspects(Tally(), programs, stock, records)
        first = {number: found[number] for number in sorted(found)[:4]}
        for number in hunt.without_control(pair, first, stock):
            findings = hunt.follow_up(pair, Tally(), {number: found[number]}, stock, 1)
            if findings:
                return Result(bug, number + 1, findings[0])
        done += len(programs)
        if tick:
            tick(done)
    return Result(bug, done)
