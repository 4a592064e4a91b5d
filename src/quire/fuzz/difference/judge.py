# SPDX-License-Identifier: GPL-2.0
"""The judge of differences: both sides must see the same, but for what the series means."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from quire.fuzz.difference.compare import Judgement, compare
from quire.fuzz.difference.excuses import GENERAL, Excuses
from quire.fuzz.judge import Faults, Judge, Request, Requests, Shown, Tally
from quire.fuzz.language.program import Numbered
from quire.fuzz.language.record import Record
from quire.fuzz.runner import Runs, Targets


@dataclass
class DifferenceJudge(Judge[Judgement]):
    """Side b has what is tried, side a is what it must agree with but for the excuses."""

    excuses: Excuses = field(default_factory=lambda: GENERAL)
    tally: Tally[Judgement] = field(default_factory=Tally)

    finding, file, does = "finding", "differences", "differs"
    bugs, shows = "seeded bugs", "the first difference"

    def judge(self, programs: Numbered, runs: Runs) -> Faults[Judgement]:
        """The programs whose records differ without an excuse, where they can be compared."""
        a, b = runs
        suspects = []
        for number, ops in programs.items():
            if number not in a or number not in b:
                continue
            verdict = compare(ops, a[number], b[number], self.excuses)
            self.tally.programs += 1
            self.tally.excused.update(verdict.excused.keys())
            if a[number].trouble:
                self.tally.troubled[number] = ops, a[number].trouble
            # Where side a is in trouble, the records say nothing unless side b is in the same.
            if verdict.differences and a[number].trouble in ("", b[number].trouble):
                suspects.append((number, verdict))
        self.tally.suspects += len(suspects)
        return suspects

    def confirm(
        self, programs: Numbered, suspects: Faults[Judgement], runs: Runs
    ) -> Requests[Faults[Judgement]]:
        """Those that differ again, in another order, and whose record on side a repeats."""
        if not suspects:
            return []
        a, b = yield Request({n: programs[n] for n, _ in reversed(suspects)})
        confirmed = []
        for number, fault in suspects:
            before, left, right = runs[0][number], a[number], b[number]
            if not _alike(left, before):
                # The sums of accessed pages depend on the order of reclaim.
                before, left, right = (
                    replace(seen, lines=[re.sub(r",Referenced=\d+", "", x) for x in seen.lines])
                    for seen in (before, left, right)
                )
            if not _alike(left, before):
                self.tally.unstable[number] = programs[number], fault.text
                continue
            verdict = compare(programs[number], left, right, self.excuses)
            if verdict.differences:
                confirmed.append((number, verdict))
        return confirmed

    def repeat(
        self, programs: Numbered, fault: Judgement, *, last: bool = False
    ) -> Requests[Shown[Judgement]]:
        """Any difference will do. A program that loses side b's guest differs."""
        runs = yield Request(programs, losses=1)
        return dict(replace(self, tally=Tally()).judge(programs, runs)), runs

    def row(self, fault: Judgement | None) -> dict[str, Any]:
        """The text of the fault."""
        return {"difference": fault and fault.text}

    def summary(self, targets: Targets, seconds: float) -> str:
        """How many programs differed, and how many say nothing."""
        (a, b), tally = targets.labels, self.tally
        return (
            f"{targets.arch.name}: {tally.programs} programs on {a} and {b} in {seconds:.0f} "
            f"s, {targets.rate(tally.programs):.0f} a minute per boot; {tally.suspects} "
            f"differed, {len(tally.unstable)} of them did not repeat on {a}, "
            f"{len(tally.troubled)} in trouble on {a}; "
        )

    def notes(self) -> list[str]:
        """The excuses that applied."""
        excused = self.tally.excused.most_common()
        return [f"  excused in {n} programs: {name} ({self.excuses[name]})" for name, n in excused]

    def figures(self, targets: Targets) -> dict[str, Any]:
        """The same as numbers."""
        tally = self.tally
        return {
            "sides": dict(zip("ab", targets.labels, strict=True)),
            "programs": tally.programs,
            "suspects": tally.suspects,
            "unstable": len(tally.unstable),
            "troubled": len(tally.troubled),
            "excused": dict(tally.excused.most_common()),
            "cost": None,
        }


def _alike(record: Record, other: Record) -> bool:
    return record.trouble == other.trouble and record.plain == other.plain
