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
    """The programs that look for bugs, the same for each, on a kernel that has all of them.

    Those of the corpus come first, as a boot of their own. `limit` counts generated ones.
    Without `shrinks`, the first program that shows a bug is neither repeated nor shrunk.
    """

    target: Target
    output: Path
    seed: int
    limit: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    corpus: Mapping[int, Program] = field(default_factory=dict)
    shrinks: bool = True
    # By boot: which break a promise without any bug.
    odd: dict[int, frozenset[int]] = field(default_factory=dict)

    @property
    def boots(self) -> range:
        """The boots that look for a bug; the corpus is boot 0."""
        return range(0 if self.corpus else 1, 1 + -(-self.limit // BATCH))

    def programs(self, boot: int) -> dict[int, Program]:
        """A boot's worth of programs."""
        if not boot:
            return {n: epilogue.added(ops) for n, ops in self.corpus.items()}
        first, start = len(self.corpus), (boot - 1) * BATCH
        numbers = range(start, min(start + BATCH, self.limit))
        return {first + n: epilogue.added(self.generated(n)) for n in numbers}

    def generated(self, number: int) -> Program:
        """A generated program, of those that a hunt for broken promises would run."""
        return generator.generate(self.seed + number, migrating=True)

    def hunt(self, bug: Bug | None) -> Hunt:
        """A hunt on the kernel with this bug, or without any."""
        parameters = (f"{PARAMETER}={bug.name}",) if bug else ()
        return Hunt(replace(self.target, parameters=parameters), self.output)

    def even(self, boot: int) -> dict[int, Program]:
        """A boot's worth of programs, but for those that break a promise without any bug."""
        programs = self.programs(boot)
        if boot not in self.odd:
            control = self.hunt(None)
            records = runner.run(control.target, programs)
            self.odd[boot] = frozenset(control.judge(programs, records))
        return {n: ops for n, ops in programs.items() if n not in self.odd[boot]}


def look_for_all(search: Search, bugs: Sequence[Bug], progress: Progress) -> list[Detection]:
    """Look for the bugs in turn, but for those left out."""
    steps = Steps(partial(look_for, search), finding.write, title=lambda found: found.title)
    stage = f"{search.target.kernel.arch.name} seeded bugs"
    return seeking.in_turn(steps, stage, bugs, search.left_out, search.output, progress)


def look_for(search: Search, bug: Bug) -> Detection:
    """Look for one bug: the first program that breaks a promise with it and not without it."""
    hunt = search.hunt(bug)
    for boot in search.boots:
        left = search.even(boot)
        while left:
            shown = _first(hunt, left)
            if not shown:
                break
            found = _shrunk(hunt, shown) if search.shrinks else shown
            if found:
                return Detection(bug, found.number + 1, found)
            left = {number: ops for number, ops in left.items() if number > shown.number}
    return Detection(bug, len(search.corpus) + search.limit)


def _first(hunt: Hunt, programs: Mapping[int, Program]) -> Finding | None:
    """The first program that breaks a promise, as it is; nothing behind it runs."""

    def breaks(number: int, record: Record) -> bool:
        return bool(hunt.broken(programs[number], record))

    records = runner.run(hunt.target, programs, LOSSES, breaks)
    for number, record in records.items():
        program = programs[number]
        broken = tuple(hunt.broken(program, record))
        if broken:
            return Finding(number, program, program, broken, record, hunt.target.label)
    return None


def _shrunk(hunt: Hunt, found: Finding) -> Finding | None:
    """The shrunk finding, if the program breaks the same again."""
    chosen = {found.number: found.program}
    broken = hunt.judge(chosen, runner.run(hunt.target, chosen))
    return hunt.shrink(found.number, found.program, broken[found.number][0]) if broken else None
