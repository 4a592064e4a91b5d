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
HELPING = 250
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
class Helping:
    """Some programs, and what the kernels without a bug make of them."""

    programs: Mapping[int, Program]
    stock: Records
    healthy: Records

    def tells(self, number: int, found: Record) -> bool:
        """Whether that record of a program differs from stock's, where the healthy one does not."""
        ops, stock = self.programs[number], self.stock[number]
        if not comparable(stock, found) or not compare(ops, stock, found).differences:
            return False
        return not compare(ops, stock, self.healthy[number]).differences


@dataclass
class Course:
    """The programs of a self-test. Their records on kernels without a bug are kept in the cache."""

    cache: Cache
    stock: Target
    # The series without a bug.
    healthy: Target
    seed: int
    limit: int
    machines: int = 1
    _known: dict[int, Helping] = field(default_factory=dict)

    def helpings(self) -> Iterator[Helping]:
        """One after the other."""
        for start in range(0, self.limit, HELPING):
            if start not in self._known:
                numbers = range(start, min(start + HELPING, self.limit))
                programs = {n: generator.generate(self.seed + n) for n in numbers}
                stock, healthy = parallel.each(
                    [self.stock, self.healthy],
                    partial(kept, self.cache, programs),
                    lambda *_: None,
                    min(self.machines, parallel.AT_ONCE),
                )
                self._known[start] = Helping(programs, stock, healthy)
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
    pair = Pair(course.stock, sick, course.machines, course.healthy)
    done = 0
    for helping in course.helpings():
        left = dict(helping.programs)
        while left:
            records = runner.run(sick, left, LOSSES, helping.tells)
            telling = [number for number in records if helping.tells(number, records[number])]
            if not telling:
                break
            first = telling[0]
            suspect = {first: left[first]}
            for finding in triage.follow_up(pair, Tally(), suspect, helping.stock, 1, pages=False):
                return Result(bug, first + 1, finding)
            left = {number: ops for number, ops in left.items() if number > first}
        done += len(helping.programs)
        if tick:
            tick(done)
    return Result(bug, done)
