# SPDX-License-Identifier: GPL-2.0
"""The judge of promises: one kernel must keep what user space was promised (oracle.py)."""

import contextlib
import gc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from quire.fuzz import runner
from quire.fuzz.judge import Faults, Judge, Requests, Rerun, Shown, Tally
from quire.fuzz.language.program import Numbered
from quire.fuzz.promise.oracle import Broken, broken_promises
from quire.fuzz.runner import Runs, Targets

SOFT_DIRTY = "CONFIG_MEM_SOFT_DIRTY"


@dataclass
class PromiseJudge(Judge[Broken]):
    """Judges the records of one kernel, which may have soft-dirty bits, and swap.

    `known`: rules that some programs are known to break.
    """

    soft_dirty: bool
    swapping: bool = True
    known: Mapping[int, str] = field(default_factory=dict)
    tally: Tally[Broken] = field(default_factory=Tally)
    expected: int = 0  # how many programs broke what they are known to break

    finding, file, does = "broken", "promises", "breaks a promise"
    bugs, shows = "seeded bugs, one kernel", "the broken promise"
    failing = (
        "{1} breaks a promise in {0} ways",
        "replay one: quire fuzz replay FILE --oracle; `promises` beside it has the sources",
    )
    missing = (
        "{} seeded bugs break no promise that the oracle knows",
        "more --programs, or without --oracle: the comparison sees more",
    )

    @classmethod
    def of(cls, targets: Targets, known: Mapping[int, str] | None = None) -> "PromiseJudge":
        """Return the judge of a kernel."""
        tried = targets.tried
        return cls(tried.kernel.enables(SOFT_DIRTY), tried.swap != runner.NONE, known or {})

    def judge(self, programs: Numbered, runs: Runs) -> Faults[Broken]:
        """Return the programs that break a promise unexpectedly."""
        broken = self._broken(programs, runs)
        suspects = [(n, fault) for n, fault in broken.items() if fault.kind[0] != self.known.get(n)]
        self.tally.programs += len(runs[0])
        self.tally.suspects += len(suspects)
        self.expected += len(broken) - len(suspects)
        return suspects

    def confirm(
        self, programs: Numbered, suspects: Faults[Broken], runs: Runs
    ) -> Requests[Faults[Broken]]:
        """Return the suspects that break the same promise in another boot, in another order."""
        if not suspects:
            return []
        chosen = {number: programs[number] for number, _ in reversed(suspects)}
        repeated, confirmed = self._broken(chosen, (yield Rerun(chosen))), []
        for number, fault in suspects:
            broken = repeated[number].all if number in repeated else ()
            same = [promise for promise in broken if promise.kind == fault.kind]
            if same:
                confirmed.append((number, same[0]))
            else:
                self.tally.unstable[number] = programs[number], fault.text
        return confirmed

    def repeat(
        self, programs: Numbered, fault: Broken, *, last: bool = False
    ) -> Requests[Shown[Broken]]:
        """Return those whose first broken promise is of the same kind."""
        runs = yield Rerun(programs, losses=1)
        broken = self._broken(programs, runs)
        return {n: one for n, one in broken.items() if one.kind == fault.kind}, runs

    def _broken(self, programs: Numbered, runs: Runs) -> dict[int, Broken]:
        """Return the first broken promise of each program, with all that the same step breaks."""
        broken = {}
        with _uncollected():
            for n, record in runs[0].items():
                some = broken_promises(
                    programs[n], record, soft_dirty=self.soft_dirty, swapping=self.swapping
                )
                if some:
                    broken[n] = replace(some[0], all=tuple(some))
        return broken

    def row(self, fault: Broken | None) -> dict[str, Any]:
        return {"broken": fault and fault.text}

    def summary(self, targets: Targets, seconds: float) -> str:
        """Return how many programs broke a promise, repeatedly, and as expected."""
        tally = self.tally
        known = f"{self.expected} broke a promise as expected; " if self.expected else ""
        return (
            f"{targets.arch.name}: {tally.programs} programs on {targets.labels[0]} in "
            f"{seconds:.0f} s, {targets.rate(tally.programs):.0f} a minute; {tally.suspects} "
            f"broke a promise, {len(tally.unstable)} of them only once; {known}"
        )

    def notes(self) -> list[str]:
        """Return the findings that did not repeat, and those that were not minimised."""
        shrunk = {finding.kind for finding in self.tally.findings}
        kinds = self.tally.kinds.most_common()
        unstable = self.tally.unstable.items()
        return [
            *(f"  only once: program {number}: {text}" for number, (_, text) in unstable),
            *(f"not minimised: ×{n} {': '.join(kind)}" for kind, n in kinds if kind not in shrunk),
        ]

    def figures(self, targets: Targets) -> dict[str, Any]:
        tally = self.tally
        return {
            "kernel": targets.labels[0],
            "programs": tally.programs,
            "suspects": tally.suspects,
            "known": self.expected,
            "unstable": {number: text for number, (_, text) in tally.unstable.items()},
            "confirmed": {number: fault.text for number, fault in tally.confirmed},
            "kinds": [[*kind, count] for kind, count in tally.kinds.most_common()],
        }


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Suspend garbage collection: the model makes many objects, but no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
