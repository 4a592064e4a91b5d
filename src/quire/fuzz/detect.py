# SPDX-License-Identifier: GPL-2.0
"""Look for seeded bugs: count the programs until a judge finds each, and minimise the program.

The kernel under test has all bugs and a parameter that selects one. Findings without the parameter
are not due to a bug.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic

from quire.fuzz import hunt, runner
from quire.fuzz.cost.growth import Regression
from quire.fuzz.judge import F, Finding, Judge
from quire.fuzz.language import program, record
from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.language.record import Record
from quire.fuzz.programs import Programs
from quire.fuzz.runner import Records, Runs, Target, Targets
from quire.host.cache import Cache, digest
from quire.host.progress import Progress
from quire.suites import seeded
from quire.suites.seeded import PARAMETER, Bug

# Programs per boot, also for judges whose confirmation takes many boots. A boot ends with the first
# program that exposes the bug.
BATCH, NOISY_BATCH = 250, 50
LOSSES = 1  # the first time that a bug loses the guest is enough to find it
EVERY = "all"  # names every bug


def choose(known: Sequence[Bug], names: Sequence[str]) -> list[Bug]:
    """Return the named bugs, or those fuzzed by default, or all. UserError: no such bug."""
    if list(names) == [EVERY]:
        return list(known)
    return seeded.select(known, names or [bug.name for bug in known if bug.fuzzed])


@dataclass(frozen=True)
class Detection:
    """One bug: the number of programs that ran, and the shrunk finding if one showed it.

    `seconds` is the time of the boots with the bug, until the first program that showed it.
    """

    bug: Bug
    programs: int
    finding: Finding[Any] | None = None
    seconds: float = 0.0

    @property
    def missed(self) -> bool:
        """Whether programs looked for it without finding it."""
        return not self.finding and not self.bug.no_program

    @property
    def outcome(self) -> str:
        """Summarise the search in a line."""
        if self.finding:
            text = f"{len(self.finding.program)} operations: {self.finding.fault.text}"
            return f"{self.programs} programs, {text}"
        missed = f"missed in {self.programs} programs"
        return missed if self.missed else f"not searched for: {self.bug.no_program}"


@dataclass
class Search(Generic[F]):
    """The programs that look for bugs, the same for each; those given are a boot of their own.

    `new_judge` makes a judge. `pages`: shrink in pages, too. Without `shrinks`, the first program
    that shows a bug is neither repeated nor shrunk.
    """

    new_judge: Callable[[], Judge[F]]
    targets: Targets
    programs: Programs
    cache: Cache
    pages: bool = True
    shrinks: bool = True
    # By the first of a boot: its programs, and their records without a bug.
    _boots: dict[int, tuple[dict[int, Program], Runs]] = field(default_factory=dict)

    def boots(self) -> Iterator[tuple[dict[int, Program], Runs]]:
        """Yield the programs, a boot's worth at a time, and their records without a bug.

        Without those that show a fault anyway. Where there is noise, records of side a alone.
        """
        judge = self.new_judge()
        given = len(self.programs.given)
        size, end = NOISY_BATCH if judge.noisy else BATCH, given + self.programs.count
        generated = [range(at, min(at + size, end)) for at in range(given, end, size)]
        for numbers in [range(given), *generated] if given else generated:
            if numbers.start not in self._boots:
                programs = {number: self.programs.program(number) for number in numbers}
                if judge.noisy:
                    runs = replace(self.targets, all=self.targets.all[:-1]).run(programs)
                else:
                    runs = self.targets.on_each(partial(kept, self.cache, programs))
                    odd = dict(judge.judge(programs, runs))
                    programs = {n: ops for n, ops in programs.items() if n not in odd}
                self._boots[numbers.start] = programs, runs
            yield self._boots[numbers.start]


def kept(cache: Cache, programs: Numbered, target: Target) -> Records:
    """Return the programs' records on a kernel, from the cache if they ran there before."""
    texts = [program.text(ops) for ops in programs.values()]
    on = (target.kernel.image_sha256, target.guest.sha256, *target.init, *target.parameters)
    key = digest(*on, list(programs), texts)
    directory = cache.make(
        "records", key, lambda new: record.write(new / "records", runner.run(target, programs))
    )
    return record.read((directory / "records").read_text().splitlines())


def look_for_all(
    search: Search[F], bugs: Sequence[Bug], output: Path, progress: Progress
) -> list[Detection]:
    """Look for the bugs in turn. This takes hours, so each result is written immediately."""
    results = []
    judge = search.new_judge()
    with progress.stage(f"{search.targets.arch.name} {judge.bugs}", len(bugs)):
        for number, bug in enumerate(bugs, 1):
            result = Detection(bug, 0) if bug.no_program else look_for(search, bug)
            results.append(result)
            progress.at(number, bug.name)
            progress.say(f"{bug.name}: {result.outcome}")
            if result.finding:
                hunt.write(judge, result.finding, output / bug.name)
    return results


def look_for(search: Search[F], bug: Bug) -> Detection:
    """Look for one bug: the first program that shows it each time, and nothing without the bug."""
    judge, spent = search.new_judge(), 0.0
    targets = search.targets.with_parameters(f"{PARAMETER}={bug.name}")
    for programs, runs in search.boots():
        left = programs
        while left:
            # The other side's records are the same with every bug.
            others = runs[: len(search.targets.all) - 1]
            began = time.monotonic()
            shows = None if judge.noisy else partial(_shows, judge, left, others)
            records = runner.run(targets.tried, left, LOSSES, shows)
            spent += time.monotonic() - began
            for shrunk in _shrunk(search, judge, targets, bug, left, (*others, records)):
                return Detection(bug, shrunk.number + 1, shrunk, spent)
            left = {number: ops for number, ops in left.items() if number > max(records)}
    return Detection(bug, len(search.programs.given) + search.programs.count, seconds=spent)


def _shows(judge: Judge[F], programs: Numbered, others: Runs, number: int, seen: Record) -> bool:
    """Whether a program shows a fault, which ends the boot."""
    return bool(judge.judge({number: programs[number]}, (*others, {number: seen})))


def _shrunk(
    search: Search[F],
    judge: Judge[F],
    targets: Targets,
    bug: Bug,
    programs: Numbered,
    runs: Runs,
) -> Iterator[Finding[F]]:
    """Yield the programs that show the bug, shrunk."""
    suspects = judge.judge(programs, runs)
    if not search.shrinks:
        for number, fault in suspects:
            yield hunt.as_is(targets, number, programs[number], fault, runs)
        return
    for number, fault in hunt.answer(targets, judge.confirm(programs, suspects, runs)):
        # The table of regressions names the operations that cost more.
        if isinstance(fault, Regression) and fault.verb.partition(" ")[0] not in bug.operations:
            continue
        ops, pages = programs[number], search.pages
        shrunk = hunt.shrink(judge, targets, number, ops, fault, pages=pages)
        if not shrunk:
            continue
        without_bug = search.new_judge().repeat({number: shrunk.program}, shrunk.fault)
        if not hunt.answer(search.targets, without_bug)[0]:
            yield shrunk
