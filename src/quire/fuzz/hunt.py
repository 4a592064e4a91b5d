# SPDX-License-Identifier: GPL-2.0
"""Hunt: run programs in batches, judge the records, repeat suspects, and minimise them."""

import contextlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from quire.fuzz.coverage.guide import Guide
from quire.fuzz.judge import F, Finding, Judge, Requests, T
from quire.fuzz.language import program as language
from quire.fuzz.language.program import Numbered, Op, Program
from quire.fuzz.minimise import minimise, replace_each
from quire.fuzz.programs import Programs
from quire.fuzz.runner import Runs, Targets
from quire.host import parallel, process
from quire.host.progress import Progress

# Programs per boot: enough to amortise the boot, but few to lose with a guest.
BATCH = 500


def answer(targets: Targets, requests: Requests[T]) -> T:
    """Run what a judge requests, until it has its result."""
    runs: Runs | None = None
    while True:
        try:
            request = requests.send(runs)  # type: ignore[arg-type]  # None begins
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        runs = targets.run(request.programs, request.losses, symbols=request.symbols)


@dataclass
class Hunt:
    """A hunt on one architecture. All judges get the same records; findings go to `output`."""

    targets: Targets
    judges: Sequence[Judge[Any]]
    output: Path
    guide: Guide | None = None
    seconds: float = 0.0

    @property
    def findings(self) -> list[Finding[Any]]:
        return list(itertools.chain(*(judge.tally.findings for judge in self.judges)))

    @property
    def problems(self) -> list[str]:
        """Return a line per finding: its program's path, and what it exposes."""
        lines = (problems(judge, self.output) for judge in self.judges)
        return [f"{self.targets.arch.name}: {line}" for line in itertools.chain(*lines)]

    def run(self, programs: Programs, most: int, progress: Progress) -> None:
        """Run all programs, or stop after `most` findings. GuestLost if none begins.

        With 0 it never stops, and faults that have a kind are counted, not minimised.
        """
        started, total = time.monotonic(), programs.total
        with progress.stage(f"{self.targets.arch.name} programs", total):
            batches = [range(at, min(at + BATCH, total)) for at in range(0, total, BATCH)]
            runs = parallel.ahead(batches, partial(self._run, programs), self._ahead)
            with contextlib.closing(runs):
                for numbers, (batch, records) in runs:
                    for judge in self.judges:
                        self._follow_up(judge, batch, records, most, progress)
                    progress.at(numbers.stop, self.summary)
                    if most and len(self.findings) >= most:
                        break
        self.seconds = time.monotonic() - started

    @property
    def summary(self) -> str:
        """Text for the progress line."""
        counts = "; ".join(
            f"{judge.tally.suspects} suspects, {len(judge.tally.findings)} findings"
            for judge in self.judges
        )
        return counts + (self.guide.summary if self.guide else "")

    @property
    def _ahead(self) -> int:
        """The number of batches to run while one is judged; 0 if each depends on the verdict."""
        alone = self.guide or any(judge.noisy for judge in self.judges)
        return 0 if alone else max(self.targets.tried.place.machines // len(self.targets.all), 1)

    def _run(self, programs: Programs, numbers: range) -> tuple[dict[int, Program], Runs]:
        """Run a batch, in a separate directory if there are several."""
        pool = self.guide.pool if self.guide else ()
        batch = {number: programs.program(number, pool) for number in numbers}
        if not self._ahead or programs.total <= BATCH:
            return batch, self.targets.run(batch)
        apart = self.targets.apart(f"batch-{numbers.start}")
        runs = apart.run(batch)
        apart.remove()
        return batch, runs

    def _follow_up(
        self, judge: Judge[F], batch: Numbered, runs: Runs, most: int, progress: Progress
    ) -> None:
        """Confirm a judge's suspects, and minimise one fault of each kind."""
        tally = judge.tally
        suspects = judge.judge(batch, runs)
        for number, fault in answer(self.targets, judge.confirm(batch, suspects, runs)):
            if not fault.kind or fault.kind not in tally.kinds:
                progress.say(f"program {number} {judge.does}: {fault.text}")
            tally.confirmed.append((number, fault))
            tally.kinds[fault.kind] += 1
            known = fault.kind in {shrunk.kind for shrunk in tally.findings}
            wanted = len(self.findings) < most if most else not fault.kind
            if not wanted or (known and fault.kind):
                continue
            try:
                shrunk = shrink(judge, self.targets, number, batch[number], fault)
            except process.OutOfTime:
                self._keep(judge, as_is(self.targets, number, batch[number], fault, runs), progress)
                raise
            if shrunk:
                self._keep(judge, shrunk, progress)
        write_lists(judge, self.output)

    def _keep(self, judge: Judge[F], found: Finding[F], progress: Progress) -> None:
        judge.tally.findings.append(found)
        write(judge, found, self.output)
        progress.say(f"{judge.finding} {found.number}: {found.fault.text}")


def as_is(targets: Targets, number: int, program: Program, fault: F, runs: Runs) -> Finding[F]:
    """Return a fault that was not minimised."""
    records = tuple(run[number] for run in runs)
    return Finding(number, program, program, fault, fault.kind, records, targets.labels)


def shrink(
    judge: Judge[F],
    targets: Targets,
    number: int,
    program: Program,
    fault: F,
    *,
    pages: bool = True,
) -> Finding[F] | None:
    """Return the smallest program that shows the fault, in operations, then in pages; or None.

    A candidate that follows one that loses the guest has no record; the next round requests it
    again if it still needs it.
    """

    def happens(candidates: Sequence[Program]) -> list[bool]:
        programs = dict(enumerate(dict.fromkeys(candidates)))
        showing = {programs[at] for at in answer(targets, judge.repeat(programs, fault))[0]}
        return [ops in showing for ops in candidates]

    # Later operations do not matter.
    start = program[: int(fault.step[2:]) + 1] if fault.step.startswith("o ") else program
    small = minimise(start, happens)
    if pages:
        small = replace_each(small, simpler, happens)
    for attempt in (small, start) if judge.noisy else (small,):
        showing, runs = answer(targets, judge.repeat({number: attempt}, fault, last=True))
        if showing:
            records = tuple(records[number] for records in runs)
            shown, labels = showing[number], targets.labels
            return Finding(number, program, attempt, shown, fault.kind, records, labels)
    return None


def simpler(op: Op) -> list[Op]:
    """Return forms of an operation with fewer pages, the smallest first."""
    if not op.range or op.range.count == 1:
        return []
    counts = sorted({1, op.range.count // 2})
    return [replace(op, range=replace(op.range, count=count)) for count in counts]


PROGRAM = "program.fuzz"  # in a finding's folder: the shrunk program


def folder(judge: Judge[Any], finding: Finding[Any], directory: Path) -> Path:
    return directory / f"{judge.finding}-{finding.number}"


def write(judge: Judge[F], finding: Finding[F], directory: Path) -> None:
    """Write the finding's folder: the program to replay, its original, the records, the fault."""
    where, fault = folder(judge, finding, directory), finding.fault
    where.mkdir(parents=True, exist_ok=True)
    (where / PROGRAM).write_text(
        language.text(finding.program, filter(None, (fault.text, fault.about)))
    )
    (where / "original.fuzz").write_text(language.text(finding.original))
    (where / judge.file).write_text("\n".join(fault.lines) + "\n")
    alone = len(finding.sides) == 1
    for letter, record, side in zip("ab", finding.records, finding.sides, strict=False):
        title = f"# kernel: {side}" if alone else f"# side {letter}: {side}"
        name = "record" if alone else f"{letter}.log"
        (where / name).write_text("\n".join([title, *record.lines]) + "\n")


def write_lists(judge: Judge[Any], directory: Path) -> None:
    """Write results without a folder: all confirmed faults, and inconclusive programs."""
    tally = judge.tally
    if judge.listing:
        directory.mkdir(parents=True, exist_ok=True)
        lines = (f"{n}, operation {fault.step}: {fault}\n" for n, fault in tally.confirmed)
        (directory / judge.listing).write_text("".join(lines))
    for name, programs in (("unstable", tally.unstable), ("troubled", tally.troubled)):
        for number, (ops, why) in programs.items():
            path = directory / name / f"{number}.fuzz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(language.text(ops, [why]))


def problems(judge: Judge[Any], directory: Path) -> list[str]:
    """Return a line per finding, its program and the fault; or how many faults are listed."""
    tally, listing = judge.tally, judge.listing
    if listing and tally.confirmed and not tally.findings:
        return [f"{directory / listing}: {len(tally.confirmed)} {judge.listed}"]
    places = ((folder(judge, finding, directory), finding) for finding in tally.findings)
    return [f"{where / PROGRAM}: {finding.fault.text}" for where, finding in places]
