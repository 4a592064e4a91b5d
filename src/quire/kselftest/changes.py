# SPDX-License-Identifier: GPL-2.0
"""Compare the two sides case by case, and confirm the differences in a second run."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.host.errors import Difference, QuireError
from quire.kselftest import binaries
from quire.kselftest.output import EXIT
from quire.kselftest.runs import RunChoice
from quire.session import Session
from quire.suites import suite
from quire.suites.outcome import Case, Outcome
from quire.suites.suite import Job

_NUMBER = re.compile(r"\d+")
# The kernel's command line has no room for more patterns.
AT_ONCE = 20
# Only a name, so that logs of repeated boots do not overwrite the first ones.
AGAIN = "quire_again=1"
# Fields of a case in JSON.
CASE = ("name", "a", "b", "again", "regressed", "told")
# The sides' labels: A's, B's.
Labels = tuple[str, str]


@dataclass(frozen=True)
class Pair:
    """One case on both sides; `again` has the statuses of a second run of both, if any."""

    name: str
    a: Status
    b: Status
    told: str = ""
    again: tuple[Status, Status] | None = None

    @property
    def run(self) -> str:
        """The program and its arguments that the case belongs to."""
        return self.name.rpartition(".")[0]

    @property
    def differs(self) -> bool:
        """Whether exactly one side passes."""
        return (self.a is Status.PASS) != (self.b is Status.PASS)

    @property
    def unstable(self) -> bool:
        """Whether A's two runs have different results."""
        return self.again is not None and self.again[0] is not self.a

    @property
    def regressed(self) -> bool:
        """Whether A passes in every run and B does not."""
        return self.a is Status.PASS and self.differs and not self.unstable

    def remark(self, labels: Labels) -> str:
        """Return the remark for a difference."""
        if not self.differs:
            return ""
        if self.unstable:
            return f"two runs on {labels[0]} differ"
        if self.again and self.again[1] is not self.b:
            return f"{labels[1]}, second run: {self.again[1]}"
        return "same result in a second run" if self.again else ""


@dataclass(frozen=True)
class SelftestResult:
    """The selftests' results on one architecture's two kernels."""

    arch: Architecture
    choice: RunChoice
    cases: list[Pair]
    labels: Labels
    # From the first run: A, B.
    outcomes: tuple[Outcome, Outcome]

    @property
    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """The number of cases per status, on A and on B."""
        return counts(case.a for case in self.cases), counts(case.b for case in self.cases)

    def as_json(self) -> dict[str, Any]:
        """Return the result for --json."""
        a, b = self.outcomes
        return {
            "architecture": self.arch.name,
            "base": str(a.kernel.tree.base.version),
            "labels": dict(zip("ab", self.labels, strict=True)),
            "logs": {"a": a.logs, "b": b.logs},
            "left out": self.choice.left_out,
            "counts": dict(zip("ab", self.counts, strict=True)),
            "compared nothing": idle(self.cases),
            "cases": [{key: getattr(case, key) for key in CASE} for case in self.cases],
        }


def run(
    session: Session,
    choice: RunChoice,
    jobs: Sequence[Job],
    patterns: Sequence[str],
    labels: Labels,
) -> SelftestResult:
    """Run the same programs on both kernels; repeat those that differ."""

    def rerun(names: Sequence[str]) -> tuple[Outcome, Outcome]:
        session.progress.say(f"repeated on both: {', '.join(names)}")
        repeated = [
            replace(job, options=replace(job.options, parameters=(*job.options.parameters, AGAIN)))
            for job in jobs
        ]
        return _boot(session, choice, repeated, names if len(names) <= AT_ONCE else ["*"])

    outcomes = _boot(session, choice, jobs, patterns)
    cases = confirm(compare(*outcomes), rerun)
    return SelftestResult(jobs[0].kernel.arch, choice, cases, labels, outcomes)


def _boot(
    session: Session, choice: RunChoice, jobs: Sequence[Job], patterns: Sequence[str]
) -> tuple[Outcome, Outcome]:
    """Run the same programs on both kernels. A lost guest aborts the comparison."""
    # Build once, not in both boots in parallel.
    binaries.build(session, jobs[0].kernel, choice)
    a, b = suite.several(session, jobs, patterns, binaries.tests(choice))
    if lost := a.lost or b.lost:
        raise lost
    return a, b


def compare(a: Outcome, b: Outcome) -> list[Pair]:
    """List every case that either side reports, in report order."""
    left, right = _by_name(a), _by_name(b)
    return [
        Pair(
            name, _status(left, name), _status(right, name), _text(left.get(name), right.get(name))
        )
        for name in dict.fromkeys([*left, *right])
    ]


def confirm(
    pairs: Sequence[Pair], rerun: Callable[[Sequence[str]], tuple[Outcome, Outcome]]
) -> list[Pair]:
    """Run the differing cases a second time on both (`rerun` gets the runs' names)."""
    suspects = list(dict.fromkeys(pair.run for pair in pairs if pair.differs))
    if not suspects:
        return list(pairs)
    a, b = map(_by_name, rerun(suspects))
    return [
        replace(pair, again=(_status(a, pair.name), _status(b, pair.name)))
        if pair.differs
        else pair
        for pair in pairs
    ]


def idle(pairs: Sequence[Pair]) -> list[str]:
    """List runs in which A passes no case, so that nothing is compared.

    The exit status counts as a case only if the program reports no other.
    """
    passes: dict[str, list[bool]] = {}
    ends = {}
    for pair in pairs:
        passed = pair.a is Status.PASS
        if pair.name.endswith(f".{EXIT}"):
            ends[pair.run] = passed
        else:
            passes.setdefault(pair.run, []).append(passed)
    return [run for run in ends if not any(passes.get(run, [ends[run]]))]


def grouped(pairs: Sequence[Pair]) -> list[tuple[str, Pair]]:
    """Return the cases that do not pass on both as rows: differences alone, the others grouped.

    Cases of one run with equal statuses and equal text, ignoring numbers, share a row.
    """
    groups: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        if pair.a is pair.b is Status.PASS:
            continue
        like = (pair.run, pair.a, pair.b, _NUMBER.sub("#", pair.told))
        groups.setdefault(like if pair.a is pair.b else (pair.name,), []).append(pair)
    more = {name: f" and {len(group) - 1} more" for name, group in groups.items() if group[1:]}
    return [(group[0].name + more.get(name, ""), group[0]) for name, group in groups.items()]


def counts(statuses: Iterable[Status]) -> dict[str, int]:
    """Count the cases per status, in alphabetical order."""
    return dict(sorted(Counter(statuses).items()))


def _by_name(outcome: Outcome) -> dict[str, Case]:
    return {case.name: case for case in outcome.cases}


def _status(cases: Mapping[str, Case], name: str) -> Status:
    return cases[name].status if name in cases else Status.MISSING


def _text(a: Case | None, b: Case | None) -> str:
    """The text of the worse case."""
    both = [case for case in (b, a) if case]
    worse = next((case for case in both if case.status is not Status.PASS), both[0])
    # Some programs, such as cow, name the test in a comment and only the outcome in the result.
    context = worse.diagnostics[-1:] if worse.status is Status.FAIL else ()
    return "; ".join(filter(None, (worse.reason, *context)))


def failure(results: Sequence[SelftestResult]) -> QuireError | None:
    """Return the error for cases that pass on A but not on B, or if no case passes on A."""
    lines: list[str] = []
    for result in results:
        worse = [case for case in result.cases if case.regressed]
        name = result.arch.name
        lines += [f"{name}: {case.name}: {case.b}: {case.told}" for case in worse]
        if not any(case.a is Status.PASS for case in result.cases):
            lines.append(f"{name}: no case passes on {result.labels[0]}, so nothing was compared")
        if lines:
            lines += [f"whole log: {outcome.logs}" for outcome in result.outcomes]
    if not lines:
        return None
    a, b = results[0].labels
    return Difference(f"{b} fails cases that {a} passes", "\n".join(lines), "read both logs")
