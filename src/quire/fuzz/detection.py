# SPDX-License-Identifier: GPL-2.0
"""Looking for seeded bugs: after how many programs each is found, and how far it shrinks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from quire.fuzz import findings, runner, seeking, triage
from quire.fuzz.difference.compare import comparable, compare
from quire.fuzz.difference.excuses import NONE, Excuses
from quire.fuzz.generate import generator
from quire.fuzz.language import program, record
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.runner import Records, Target
from quire.fuzz.seeking import Steps
from quire.fuzz.triage import Finding, Pair, Tally
from quire.host import parallel
from quire.host.cache import Cache, digest
from quire.host.progress import Progress
from quire.test.seeded import PARAMETER, Bug

# A bug counts as missed after so many programs.
PROGRAMS = 2000
# Programs a boot. The boot ends with the first program that shows the bug.
BATCH = 250
# The first time that a bug loses the guest is enough to find it.
LOSSES = 1

Detection = seeking.Detection[Finding]


@dataclass(frozen=True)
class Batch:
    """Some programs, and their records on the two kernels without a bug."""

    programs: Mapping[int, Program]
    a: Records
    control: Records
    excuses: Excuses = NONE

    def shows(self, number: int, found: Record) -> bool:
        """Whether a program's record differs from side a's, where the control's does not."""
        ops, a = self.programs[number], self.a[number]
        if not comparable(a, found) or not compare(ops, a, found, self.excuses).differences:
            return False
        return not compare(ops, a, self.control[number], self.excuses).differences


@dataclass
class Search:
    """The programs that look for bugs, the same for each bug.

    The cache keeps their records on side a and on the control, which is side b without a bug.
    """

    cache: Cache
    a: Target
    control: Target
    seed: int
    limit: int
    machines: int = 1
    excuses: Excuses = NONE
    _known: dict[int, Batch] = field(default_factory=dict)

    def batches(self) -> Iterator[Batch]:
        """The programs in order, a boot's worth at a time."""
        for start in range(0, self.limit, BATCH):
            if start not in self._known:
                self._known[start] = self._batch(range(start, min(start + BATCH, self.limit)))
            yield self._known[start]

    def _batch(self, numbers: range) -> Batch:
        programs = {n: generator.generate(self.seed + n) for n in numbers}
        a, control = parallel.each(
            [self.a, self.control],
            partial(kept, self.cache, programs),
            lambda *_: None,
            min(self.machines, parallel.AT_ONCE),
        )
        return Batch(programs, a, control, self.excuses)


def kept(cache: Cache, programs: Mapping[int, Program], target: Target) -> Records:
    """The programs' records on a kernel, from the cache if they ran there before."""
    texts = [program.text(ops) for ops in programs.values()]
    kernel = target.kernel
    key = digest(kernel.arch.name, kernel.image_sha256, target.guest.sha256, list(programs), texts)
    directory = cache.make(
        "records", key, lambda new: record.write(new / "records", runner.run(target, programs))
    )
    return record.read((directory / "records").read_text().splitlines())


def look_for_all(
    search: Search,
    seeded: Target,
    bugs: Sequence[Bug],
    left_out: Mapping[str, str],
    output: Path,
    progress: Progress,
) -> list[Detection]:
    """Look for the bugs in turn, but for those left out; `seeded` has all of them."""
    steps = Steps(partial(look_for, search, seeded), findings.write)
    stage = f"{seeded.kernel.arch.name} seeded bugs"
    return seeking.in_turn(steps, stage, bugs, left_out, output, progress)


def look_for(search: Search, seeded: Target, bug: Bug) -> Detection:
    """Look for one bug, on a kernel that has all of them."""
    b = replace(seeded, parameters=(f"{PARAMETER}={bug.name}",))
    pair = Pair(search.a, b, search.machines, search.control, search.excuses)
    done = 0
    for batch in search.batches():
        left = dict(batch.programs)
        while left:
            records = runner.run(b, left, LOSSES, batch.shows)
            showing = [number for number in records if batch.shows(number, records[number])]
            if not showing:
                break
            first = showing[0]
            suspect = {first: left[first]}
            for finding in triage.follow_up(pair, Tally(), suspect, batch.a, 1, pages=False):
                return Detection(bug, first + 1, finding)
            left = {number: ops for number, ops in left.items() if number > first}
        done += len(batch.programs)
    return Detection(bug, done)
