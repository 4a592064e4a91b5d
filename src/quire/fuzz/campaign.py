# SPDX-License-Identifier: GPL-2.0
"""A campaign: many programs on both sides of an architecture, in batches, and their triage."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quire.arch import Architecture
from quire.boot import machine
from quire.fuzz import findings, triage
from quire.fuzz.cost import finding as dearer
from quire.fuzz.cost.hunt import Hunt
from quire.fuzz.coverage.guide import Guide
from quire.fuzz.generate import generator
from quire.fuzz.language import program
from quire.fuzz.language.program import Program
from quire.fuzz.runner import ZRAM, Records, Target
from quire.fuzz.triage import Finding, Pair, Tally
from quire.host import parallel
from quire.host.errors import UserError
from quire.host.progress import Progress
from quire.session import Session
from quire.source.tree import Tree

# The programs of a batch, and their records on both sides.
BatchRun = tuple[dict[int, Program], Records, Records]

# Programs a boot: enough to make the time of booting small, and few to lose with a guest.
BATCH = 500
PROGRAMS = 1000
FAULTS = "CONFIG_FAULT_INJECTION"
# A comment in a program of the corpus: a promise that Linux is known to break.
_BREAKS = re.compile(r"^# breaks: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class CampaignOptions:
    """Which programs run: how many, from which seed, and when to stop.

    With `findings` 0 all programs run, and what is dearer is listed, not shrunk. `faults` lets
    allocations fail, `migrating` lets pages migrate. `given` are programs from files, which run in
    place of generated ones. `known`: the rules of the oracle that some of them are known to break.
    """

    programs: int = PROGRAMS
    seed: int = 1
    findings: int = 5
    faults: bool = False
    given: Mapping[int, Program] = field(default_factory=dict)
    migrating: bool = False
    known: Mapping[int, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of programs."""
        return len(self.given) or self.programs

    def program(self, number: int, pool: Sequence[Program]) -> Program:
        """The program of a number; the pool lends its programs to generated ones."""
        if self.given:
            return self.given[number]
        seed = self.seed + number
        ops = generator.following(seed, pool, migrating=self.migrating)
        return generator.with_faults(seed, ops) if self.faults else ops


@dataclass
class Campaign:
    """The programs of one architecture on a pair of sides, and what came of them so far.

    Findings go to folders in `output`. With a guide, coverage leads to further programs. With a
    hunt, costs are compared, too; then both sides must count.
    """

    pair: Pair
    output: Path
    guide: Guide | None = None
    hunt: Hunt | None = None
    tally: Tally = field(default_factory=Tally)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def arch(self) -> Architecture:
        """The architecture of both sides."""
        return self.pair.b.kernel.arch

    def run(self, options: CampaignOptions, progress: Progress) -> None:
        """Run all programs, or stop after enough findings. GuestLost if no program begins."""
        started = time.monotonic()
        with progress.stage(f"{self.arch.name} programs", options.total):
            batches = [
                range(start, min(start + BATCH, options.total))
                for start in range(0, options.total, BATCH)
            ]
            runs = parallel.ahead(batches, lambda numbers: self._run(options, numbers), self._ahead)
            with contextlib.closing(runs):
                for numbers, run in runs:
                    self._investigate(options, run, progress)
                    progress.at(numbers.stop, self.summary)
                    if options.findings and self._count >= options.findings:
                        break
        self.seconds = time.monotonic() - started
        findings.write_odd(self.tally, self.output)

    @property
    def summary(self) -> str:
        """For the progress line."""
        guide = self.guide.summary if self.guide else ""
        cost = f", {len(self.hunt.findings)} dearer" if self.hunt else ""
        return f"{self.tally.suspects} suspects, {len(self.findings)} findings{cost}{guide}"

    @property
    def problems(self) -> list[str]:
        """A line per finding: where its program is, and the first difference."""
        found = [(findings.folder(one, self.output), one.title) for one in self.findings]
        if self.hunt:
            found += [(dearer.folder(one, self.output), one.title) for one in self.hunt.findings]
        lines = [f"{path / findings.PROGRAM}: {title}" for path, title in found]
        if self.hunt and self.hunt.confirmed and not self.hunt.findings:
            listed = self.output / dearer.CONFIRMED
            lines.append(f"{listed}: {len(self.hunt.confirmed)} operations are dearer")
        return [f"{self.arch.name}: {line}" for line in lines]

    @property
    def _count(self) -> int:
        return len(self.findings) + (len(self.hunt.findings) if self.hunt else 0)

    @property
    def _ahead(self) -> int:
        """How many batches run at once: one after the other if each depends on those before it."""
        return 1 if self.guide or self.hunt else max(parallel.machines(1) // 2, 1)

    def _run(self, options: CampaignOptions, numbers: range) -> BatchRun:
        """Run a batch on both sides; several at once have a directory each."""
        pool = self.guide.pool if self.guide else []
        batch = {number: options.program(number, pool) for number in numbers}
        pair = self.pair if self._ahead == 1 else self.pair.apart(f"batch-{numbers.start}")
        a, b = pair.run(batch)
        if pair is not self.pair:
            self.pair.add(pair)
        return batch, a, b

    def _investigate(self, options: CampaignOptions, run: BatchRun, progress: Progress) -> None:
        batch, a, b = run
        suspects = triage.suspects(self.pair, self.tally, batch, a, b)
        left = options.findings - self._count if options.findings else len(batch)
        for finding in triage.follow_up(self.pair, self.tally, suspects, a, left):
            findings.write(finding, self.output)
            self.findings.append(finding)
        if self.hunt:
            self._hunt(self.hunt, batch, a, b, options.findings - self._count, progress)

    def _hunt(
        self,
        hunt: Hunt,
        batch: Mapping[int, Program],
        a: Records,
        b: Records,
        most: int,
        progress: Progress,
    ) -> None:
        confirmed = hunt.confirm(batch, a, b)
        dearer.write_confirmed(hunt.confirmed, self.output)
        for found in hunt.follow_up(batch, confirmed, most):
            dearer.write(found, self.output)
            progress.say(f"dearer {found.number}: {found.title}")


def target(
    session: Session, arch: Architecture, tree: Tree, use: str = "fuzz", swap: str = ZRAM
) -> Target:
    """A side: the kernel of a tree with our guest, both built, and where its boots log.

    `use` keeps the logs of different commands apart. `swap` is one of runner.SWAPS.
    """
    kernel = session.kernel(arch, tree)
    built = session.guest(kernel)
    name = f"{use}-{arch.name}-{tree.path.parent.name}"
    return Target(kernel, built, machine.workdir(session.cache, name), swap=swap)


def require_faults(pair: Pair) -> None:
    """UserError if side b's kernel cannot make allocations fail."""
    if not pair.b.kernel.enables(FAULTS):
        raise UserError(
            "this kernel cannot make allocations fail",
            f"{pair.b.kernel.config}: no {FAULTS}",
            "--config configs/debug.config",
        )


def corpus(root: Path) -> list[Path]:
    """The files of the corpus. UserError if there are none."""
    files = sorted((root / "tests/fuzz").glob("*.fuzz"))
    if not files:
        raise UserError("there is no corpus", "tests/fuzz/*.fuzz", "quire fuzz, without it")
    return files


def read(files: Sequence[Path]) -> tuple[dict[int, Program], dict[int, str]]:
    """Programs from files, numbered, and the rules that they say they break.

    UserError for a file or a line that cannot be read.
    """
    try:
        texts = [path.read_text() for path in files]
    except OSError as error:
        raise UserError(
            "a program cannot be read", str(error), "name a file that is there"
        ) from error
    programs = {n: program.parse(text, str(files[n])) for n, text in enumerate(texts)}
    found = {n: _BREAKS.search(text) for n, text in enumerate(texts)}
    return programs, {n: match[1] for n, match in found.items() if match}
