# SPDX-License-Identifier: GPL-2.0
"""The judge of promises: one kernel must keep what user space was promised (oracle.py)."""

import contextlib
import gc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from quire.fuzz import runner
from quire.fuzz.judge import Account, Again, Description, Faults, Finding, Judge, Tally, Words
from quire.fuzz.language.program import Numbered
from quire.fuzz.promise.oracle import Broken, broken_promises
from quire.fuzz.runner import Runs, Targets

SOFT_DIRTY = "CONFIG_MEM_SOFT_DIRTY"


@dataclass
class PromiseJudge(Judge[Broken]):
    """Judges the records of one kernel. `known`: rules that some programs are known to break."""

    targets: Targets
    known: Mapping[int, str] = field(default_factory=dict)
    tally: Tally[Broken] = field(default_factory=Tally)
    expected: int = 0  # how many programs broke what they are known to break

    noisy = False
    words = Words(
        finding="broken",
        file="promises",
        does="breaks a promise",
        bug="bug",
        bugs="seeded bugs, one kernel",
        shows="the broken promise",
        missed={"broken": None},
        failing=(
            "{1} breaks a promise in {0} ways",
            "replay one: quire fuzz replay FILE --oracle; `promises` beside it has the sources",
        ),
        missing=(
            "{} seeded bugs break no promise that the oracle knows",
            "more --programs, or without --oracle: the comparison sees more",
        ),
    )

    def judge(self, programs: Numbered, runs: Runs) -> Faults[Broken]:
        """The programs that break a promise which they are not known to break."""
        broken = self._broken(programs, runs)
        suspects = [(n, fault) for n, fault in broken.items() if fault.kind[0] != self.known.get(n)]
        self.tally.programs += len(runs[0])
        self.tally.suspects += len(suspects)
        self.expected += len(broken) - len(suspects)
        return suspects

    def confirm(
        self, programs: Numbered, suspects: Faults[Broken], runs: Runs
    ) -> Iterator[tuple[int, Broken]]:
        """Those that break the same in another boot, in another order."""
        if not suspects:
            return
        chosen = {number: programs[number] for number, _ in reversed(suspects)}
        again = self._broken(chosen, self.targets.run(chosen))
        for number, fault in suspects:
            broken = again[number].all if number in again else ()
            same = [promise for promise in broken if promise.kind == fault.kind]
            if same:
                yield number, same[0]
            else:
                self.tally.unstable[number] = programs[number], fault.text

    def again(self, programs: Numbered, fault: Broken, *, last: bool = False) -> Again[Broken]:
        """Those whose first broken promise is of the same kind."""
        runs = self.targets.run(programs, losses=1)
        broken = self._broken(programs, runs)
        return {n: again for n, again in broken.items() if again.kind == fault.kind}, runs

    def _broken(self, programs: Numbered, runs: Runs) -> dict[int, Broken]:
        """Of each program that breaks a promise the first, with all that its step breaks."""
        target, broken = self.targets.tried, {}
        soft_dirty, swapping = target.kernel.enables(SOFT_DIRTY), target.swap != runner.NONE
        with _uncollected():
            for n, record in runs[0].items():
                some = broken_promises(
                    programs[n], record, soft_dirty=soft_dirty, swapping=swapping
                )
                if some:
                    broken[n] = replace(some[0], all=tuple(some))
        return broken

    def describe(self, finding: Finding[Broken]) -> Description:
        """For each broken rule what was promised, where, and what was seen."""
        fault = finding.fault
        about = f"promised: {fault.rule.promise} ({fault.rule.source})"
        lines: list[str] = []
        for rule in dict.fromkeys(broken.rule for broken in fault.all):
            lines += [rule.name, f"  promised: {rule.promise}", f"  source: {rule.source}"]
            lines += [f"  seen: {broken.text}" for broken in fault.all if broken.rule is rule]
        details = [
            {
                "rule": broken.rule.name,
                "promise": broken.rule.promise,
                "source": broken.rule.source,
                "operation": broken.verb,
                "seen": broken.seen,
            }
            for broken in fault.all
        ]
        row = {"broken": fault.text}
        return Description((fault.text, about), about, lines, {"broken": details}, row)

    def account(self, seconds: float) -> Account:
        """How many programs broke a promise, again, and as is known; and what was not shrunk."""
        tally, kinds = self.tally, self.tally.kinds.most_common()
        unstable = {number: text for number, (_, text) in tally.unstable.items()}
        known = f"{self.expected} broke what is known; " if self.expected else ""
        shrunk = {finding.kind for finding in tally.findings}
        return Account(
            f"{self.targets.arch.name}: {tally.programs} programs on {self.targets.labels[0]} in "
            f"{seconds:.0f} s, {self.targets.rate(tally.programs):.0f} a minute; {tally.suspects} "
            f"broke a promise, {len(tally.unstable)} of them not again; {known}",
            [
                *(f"  not again: program {number}: {text}" for number, text in unstable.items()),
                *(f"not shrunk: ×{n} {': '.join(kind)}" for kind, n in kinds if kind not in shrunk),
            ],
            {
                "kernel": self.targets.labels[0],
                "programs": tally.programs,
                "suspects": tally.suspects,
                "known": self.expected,
                "unstable": unstable,
                "confirmed": {number: fault.text for number, fault in tally.confirmed},
                "kinds": [[*kind, count] for kind, count in kinds],
            },
        )


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for cycles of objects: the model makes many objects, and no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
