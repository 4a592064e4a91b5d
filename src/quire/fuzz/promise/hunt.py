# SPDX-License-Identifier: GPL-2.0
"""The hunt for broken promises on one kernel: run programs, repeat what breaks, and shrink it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.arch import Architecture
from quire.fuzz import runner
from quire.fuzz.campaign import BATCH, CampaignOptions
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.minimise import minimise, replace_each
from quire.fuzz.promise import epilogue, finding, judge
from quire.fuzz.promise.finding import Finding
from quire.fuzz.promise.judge import Broken
from quire.fuzz.runner import NONE, Records, Target
from quire.fuzz.triage import simpler
from quire.host.progress import Progress

SOFT_DIRTY = "CONFIG_MEM_SOFT_DIRTY"
Kind = tuple[str, str]


@dataclass
class Tally:
    """What a hunt has seen so far."""

    programs: int = 0
    suspects: int = 0
    # How many broke what they are known to break.
    known: int = 0
    # What programs broke that broke nothing, or something else, when they ran again.
    unstable: dict[int, Broken] = field(default_factory=dict)
    # What programs broke each time.
    confirmed: dict[int, Broken] = field(default_factory=dict)

    @property
    def kinds(self) -> Counter[Kind]:
        """For each kind, how many programs broke it each time."""
        return Counter(one.kind for one in self.confirmed.values())


@dataclass
class Hunt:
    """Judges the programs that run on a kernel. Findings go to folders in `output`.

    Of several programs with one kind of broken promise, only the first is shrunk.
    """

    target: Target
    output: Path
    tally: Tally = field(default_factory=Tally)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def arch(self) -> Architecture:
        """The kernel's architecture."""
        return self.target.kernel.arch

    @property
    def problems(self) -> list[str]:
        """A line per finding: where its program is, and what it breaks."""
        return [
            f"{self.arch.name}: {finding.folder(one, self.output) / 'program.fuzz'}: {one.title}"
            for one in self.findings
        ]

    def run(self, options: CampaignOptions, progress: Progress) -> None:
        """Run all programs, or stop after enough findings. GuestLost if no program begins."""
        started = time.monotonic()
        options = replace(options, migrating=True)
        with progress.stage(f"{self.arch.name} programs", options.total):
            for start in range(0, options.total, BATCH):
                numbers = range(start, min(start + BATCH, options.total))
                programs = {n: epilogue.added(options.program(n, ())) for n in numbers}
                left = options.findings - len(self.findings)
                for found in self.look(programs, left, progress, options.known):
                    finding.write(found, self.output)
                    self.findings.append(found)
                    progress.say(f"broken {found.number}: {found.title}")
                text = f"{self.tally.suspects} suspects, {len(self.findings)} findings"
                progress.at(numbers.stop, text)
                if options.findings and len(self.findings) >= options.findings:
                    break
        self.seconds = time.monotonic() - started

    def look(
        self,
        programs: Mapping[int, Program],
        most: int,
        progress: Progress,
        known: Mapping[int, str],
    ) -> Iterator[Finding]:
        """Run programs, and shrink those that break promises of a kind that is new.

        `known`: the rules that some programs are known to break.
        """
        records = runner.run(self.target, programs)
        broken = self.judge(programs, records)
        expected = [n for n, one in broken.items() if one[0].rule.name == known.get(n)]
        self.tally.known += len(expected)
        for number in expected:
            del broken[number]
        self.tally.programs += len(records)
        self.tally.suspects += len(broken)
        for number, one in self.confirm(programs, broken).items():
            new = one.kind not in self.tally.kinds
            self.tally.confirmed[number] = one
            if not new:
                continue
            progress.say(f"program {number} breaks a promise: {one.text}")
            shrunk = self.shrink(number, programs[number], one) if most > 0 else None
            if shrunk:
                most -= 1
                yield shrunk

    def judge(self, programs: Mapping[int, Program], records: Records) -> dict[int, list[Broken]]:
        """What each program's record breaks, if it does."""
        broken = {n: self.broken(programs[n], found) for n, found in records.items()}
        return {number: one for number, one in broken.items() if one}

    def broken(self, program: Program, found: Record) -> list[Broken]:
        """What a record breaks on this kernel."""
        soft_dirty, swapping = self.target.kernel.enables(SOFT_DIRTY), self.target.swap != NONE
        return judge.judge(program, found, soft_dirty=soft_dirty, swapping=swapping)

    def confirm(
        self, programs: Mapping[int, Program], broken: Mapping[int, Sequence[Broken]]
    ) -> dict[int, Broken]:
        """The programs that break the same in another boot, in another order."""
        if not broken:
            return {}
        chosen = {number: programs[number] for number in reversed(list(broken))}
        again = self.judge(chosen, runner.run(self.target, chosen))
        kept = {}
        for number, before in broken.items():
            same = [one for one in again.get(number, ()) if one.kind == before[0].kind]
            if same:
                kept[number] = same[0]
            else:
                self.tally.unstable[number] = before[0]
        return kept

    def shrink(self, number: int, program: Program, broken: Broken) -> Finding | None:
        """The smallest program, in operations, then in pages, that still breaks the same."""
        seen: dict[Program, tuple[list[Broken], Record]] = {}

        def happens(candidates: Sequence[Program]) -> list[bool]:
            new = [ops for ops in dict.fromkeys(candidates) if ops not in seen]
            programs = runner.numbered(new)
            records = runner.run(self.target, programs, losses=1) if programs else {}
            for at, record in records.items():
                seen[programs[at]] = self.broken(programs[at], record), record
            # Behind one that loses the guest, the others have no record.
            judged = [seen[ops][0] if ops in seen else [] for ops in candidates]
            return [bool(one) and one[0].kind == broken.kind for one in judged]

        # What comes behind the operation that broke it does not matter.
        start = program[: int(broken.step[2:]) + 1] if broken.op else program
        small = replace_each(minimise(start, happens), simpler, happens)
        if small not in seen and not happens([small])[0]:
            return None
        label = self.target.label
        return Finding(number, program, small, tuple(seen[small][0]), seen[small][1], label)
