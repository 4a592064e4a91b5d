# SPDX-License-Identifier: GPL-2.0
"""The fuzzer against seeded bugs: after how many programs each is found, and how small it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from quire.fuzz import runner, triage
from quire.fuzz.generate import generator
from quire.fuzz.language import program, record
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.oracle.compare import comparable, compare
from quire.fuzz.oracle.excuses import NONE, Excuses
from quire.fuzz.runner import Records, Target
from quire.fuzz.triage import Finding, Pair, Tally
from quire.host import parallel
from quire.host.cache import Cache, digest
from quire.host.process import dry_run
from quire.test import seeded
from quire.test.seeded import PARAMETER, Bug

# Within so many programs a bug counts as found.
PROGRAMS = 2000
# Programs a boot. It ends with the first that tells.
BATCH = 250
# A bug that takes the guest along is found by the first time.
LOSSES = 1


EVERY = "all"
# What is looked for when no bug is named.
CHOSEN = (
    *("folio-batch-ignores-uffd", "keep-uffd-wp-swap", "marker-kept", "no-soft-dirty-swap"),
    *("no-flush", "lost-dirty", "swap-run-bits"),
    *("address-key", "index-off-by-one", "stale-index", "only-first-item"),
    *("ignore-uffd-wp", "ignore-soft-dirty", "restore-first-only", "stop-after-partial-run"),
    *("dirty-not-marked", "refs-ignored", "held-droppable", "pmd-redirtied-dropped"),
    *("swap-bits-of-first", "swap-exclusive-of-first", "swap-ignore-uffd-wp"),
    *("swap-restore-first", "swap-ref-once", "marker-in-first"),
)
# Bugs that no program can show, and why.
_MEMORY_FAILURE = "needs memory to fail, which it then does for all later programs of the boot"
_AS_STOCK = "is what stock does"
OUT_OF_REACH = {
    **dict.fromkeys(
        (
            "memory-failure-address-key",
            "memory-failure-all-vmas",
            "memory-failure-old-address",
            "memory-failure-first-item",
            "memory-failure-own-mm",
        ),
        _MEMORY_FAILURE,
    ),
    **dict.fromkeys(("always-swapbacked", "pmd-goes-on", "wrong-address"), _AS_STOCK),
}


@dataclass(frozen=True)
class Result:
    """One bug: the number of programs it took, and the shrunk finding; neither if it was missed."""

    bug: Bug
    programs: int
    finding: Finding | None = None
    # Why it was not looked for.
    reason: str = ""

    @property
    def missed(self) -> bool:
        """Looked for in vain."""
        return not self.finding and not self.reason


def choose(known: Sequence[Bug], names: Sequence[str]) -> list[Bug]:
    """The bugs of those names; of none, some of each series, if they are known; of `all`, all."""
    if names and list(names) != [EVERY]:
        return seeded.select(known, names)
    some = [bug for bug in known if bug.name in CHOSEN]
    return list(known) if names or not some else some


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
class Course:
    """The programs of a self-test. Their records on kernels without a bug are kept in the cache."""

    cache: Cache
    a: Target
    # Side b without a bug.
    control: Target
    seed: int
    limit: int
    machines: int = 1
    excuses: Excuses = NONE
    _known: dict[int, Batch] = field(default_factory=dict)

    def batches(self) -> Iterator[Batch]:
        """One after the other."""
        for start in range(0, self.limit, BATCH):
            if start not in self._known:
                numbers = range(start, min(start + BATCH, self.limit))
                programs = {n: generator.generate(self.seed + n) for n in numbers}
                a, control = parallel.each(
                    [self.a, self.control],
                    partial(kept, self.cache, programs),
                    lambda *_: None,
                    min(self.machines, parallel.AT_ONCE),
                )
                self._known[start] = Batch(programs, a, control, self.excuses)
            yield self._known[start]


def kept(cache: Cache, programs: Mapping[int, Program], target: Target) -> Records:
    """The programs' records on a kernel, from the cache if they ran there before."""
    if dry_run():
        return runner.run(target, programs)
    texts = [program.text(ops) for ops in programs.values()]
    kernel = target.kernel
    key = digest(kernel.arch.name, kernel.image_sha256, target.guest.sha256, list(programs), texts)
    directory = cache.make(
        "records", key, lambda new: record.write(new / "records", runner.run(target, programs))
    )
    return record.read((directory / "records").read_text().splitlines())


def hunt_bug(
    course: Course, target: Target, bug: Bug, tick: Callable[[int], None] | None = None
) -> Result:
    """Look for one bug, on a kernel with all of them."""
    if bug.name in OUT_OF_REACH:
        return Result(bug, 0, reason=OUT_OF_REACH[bug.name])
    sick = replace(target, parameters=(f"{PARAMETER}={bug.name}",))
    pair = Pair(course.a, sick, course.machines, course.control, course.excuses)
    done = 0
    for batch in course.batches():
        left = dict(batch.programs)
        while left:
            records = runner.run(sick, left, LOSSES, batch.shows)
            showing = [number for number in records if batch.shows(number, records[number])]
            if not showing:
                break
            first = showing[0]
            suspect = {first: left[first]}
            for finding in triage.follow_up(pair, Tally(), suspect, batch.a, 1, pages=False):
                return Result(bug, first + 1, finding)
            left = {number: ops for number, ops in left.items() if number > first}
        done += len(batch.programs)
        if tick:
            tick(done)
    return Result(bug, done)
