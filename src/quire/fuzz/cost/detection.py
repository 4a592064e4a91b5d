# SPDX-License-Identifier: GPL-2.0
"""Looking for seeded regressions: after how many programs each is found, and how far it shrinks.

Both sides are one kernel, with all regressions; side b has one selected, side a none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from quire.fuzz import runner, seeking
from quire.fuzz.cost import finding
from quire.fuzz.cost.finding import Finding
from quire.fuzz.cost.hunt import Hunt
from quire.fuzz.cost.meter import Meter
from quire.fuzz.generate import generator
from quire.fuzz.language.program import Program
from quire.fuzz.runner import Records, Target
from quire.fuzz.seeking import Steps
from quire.host.progress import Progress
from quire.test.seeded import PARAMETER, Bug

# A regression counts as missed after so many programs.
PROGRAMS = 500
# Programs a boot.
BATCH = 50

Detection = seeking.Detection[Finding]


@dataclass
class Search:
    """The programs that look for regressions, and what they cost without one, the same for each."""

    meter: Meter
    seed: int
    limit: int
    _known: dict[int, Records] = field(default_factory=dict)

    def batches(self) -> Iterator[tuple[dict[int, Program], Records]]:
        """The programs in order, a boot's worth at a time, with side a's records."""
        for start in range(0, self.limit, BATCH):
            numbers = range(start, min(start + BATCH, self.limit))
            programs = {n: generator.generate(self.seed + n) for n in numbers}
            if start not in self._known:
                self._known[start] = runner.run(self.meter.pair.a, programs)
            yield programs, self._known[start]

    def against(self, bug: Bug) -> Hunt:
        """A hunt with this regression on side b."""
        b = selecting(self.meter.pair.b, bug)
        return Hunt(replace(self.meter, pair=replace(self.meter.pair, b=b)))


def selecting(target: Target, bug: Bug) -> Target:
    """A side with this regression."""
    return replace(target, parameters=(f"{PARAMETER}={bug.name}",))


def look_for_all(
    search: Search, bugs: Sequence[Bug], output: Path, progress: Progress
) -> list[Detection]:
    """Look for the regressions in turn."""
    steps = Steps(partial(look_for, search), finding.write, title=lambda found: found.title)
    stage = f"{search.meter.pair.b.kernel.arch.name} seeded costs"
    return seeking.in_turn(steps, stage, bugs, {}, output, progress)


def look_for(search: Search, bug: Bug) -> Detection:
    """Look for one regression: the first operation of its table that is dearer and shrinks."""
    hunt = search.against(bug)
    b = hunt.meter.pair.b
    done = 0
    for programs, a in search.batches():
        found = runner.run(b, programs)
        for number, dearer in hunt.confirm(programs, a, found):
            verb = finding.kind(programs[number], dearer.step).partition(" ")[0]
            if verb not in bug.cases:
                continue
            shrunk = hunt.shrink(number, programs[number], dearer)
            if shrunk:
                return Detection(bug, number + 1, shrunk)
        done += len(programs)
    return Detection(bug, done)
