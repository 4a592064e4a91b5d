# SPDX-License-Identifier: GPL-2.0
"""Looking for seeded bugs on one kernel: after how many programs each breaks a promise.

The kernel has all bugs and a parameter that selects one. What breaks without the parameter, too, is
not the bug's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from quire.fuzz import runner, seeking
from quire.fuzz.generate import generator
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.promise import epilogue, finding
from quire.fuzz.promise.finding import Finding
from quire.fuzz.promise.hunt import Hunt
from quire.fuzz.runner import Target
from quire.fuzz.seeking import Steps
from quire.host.progress import Progress
from quire.test.seeded import PARAMETER, Bug

# A bug counts as missed after so many programs.
PROGRAMS = 1000
# Programs a boot. The boot ends with the first program that shows the bug.
BATCH = 250
# The first time that a bug loses the guest is enough to find it.
LOSSES = 1

Detection = seeking.Detection[Finding]


@dataclass
class Search:
    """The programs that look for bugs, the same for each, on a kernel that has all of them."""

    target: Target
    output: Path
    seed: int
    limit: int
    left_out: Mapping[str, str] = field(default_factory=dict)

    def programs(self, start: int) -> dict[int, Program]:
        """A boot's worth of programs."""
        numbers = range(start, min(start + BATCH, self.limit))
        return {n: epilogue.added(generator.generate(self.seed + n)) for n in numbers}

    def hunt(self, bug: Bug | None) -> Hunt:
        """A hunt on the kernel with this bug, or without any."""
        parameters = (f"{PARAMETER}={bug.name}",) if bug else ()
        return Hunt(replace(self.target, parameters=parameters), self.output)


def look_for_all(search: Search, bugs: Sequence[Bug], progress: Progress) -> list[Detection]:
    """Look for the bugs in turn, but for those left out."""
    steps = Steps(partial(look_for, search), finding.write, title=lambda found: found.title)
    stage = f"{search.target.kernel.arch.name} seeded bugs"
    return seeking.in_turn(steps, stage, bugs, search.left_out, search.output, progress)


def look_for(search: Search, bug: Bug) -> Detection:
    """Look for one bug: the first program that breaks a promise with it and not without it."""
    hunt, control = search.hunt(bug), search.hunt(None)
    done = 0
    for start in range(0, search.limit, BATCH):
        programs = search.programs(start)
        left = dict(programs)
        while left:
            shown = _first(hunt, left)
            if shown is None:
                break
            found = _investigate(hunt, control, shown, left[shown])
            if found:
                return Detection(bug, shown + 1, found)
            left = {number: ops for number, ops in left.items() if number > shown}
        done += len(programs)
    return Detection(bug, done)


def _first(hunt: Hunt, programs: Mapping[int, Program]) -> int | None:
    """The first program that breaks a promise; nothing behind it runs."""

    def breaks(number: int, record: Record) -> bool:
        return bool(hunt.broken(programs[number], record))

    records = runner.run(hunt.target, programs, LOSSES, breaks)
    return next((number for number, found in records.items() if breaks(number, found)), None)


def _investigate(hunt: Hunt, control: Hunt, number: int, program: Program) -> Finding | None:
    """The shrunk finding, if the program breaks the same again, and not without the bug."""
    chosen = {number: program}
    if control.judge(chosen, runner.run(control.target, chosen)):
        return None
    broken = hunt.judge(chosen, runner.run(hunt.target, chosen))
    return hunt.shrink(number, program, broken[number][0]) if broken else None
