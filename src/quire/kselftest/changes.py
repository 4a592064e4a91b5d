# SPDX-License-Identifier: GPL-2.0
"""Compare the two sides case by case, and confirm the differences in a second run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quire.boot.ktap import Test
from quire.kselftest.output import EXIT
from quire.test.suite import Verdict

# The status of a case that one of the sides did not report.
MISSING = "missing"
_NUMBER = re.compile(r"\d+")
# The labels of the sides: A's, B's.
Labels = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """One case on both sides; `again` has the statuses of a second run of both, if any."""

    name: str
    a: str
    b: str
    told: str = ""
    again: tuple[str, str] | None = None

    @property
    def run(self) -> str:
        """The program and its arguments that the case belongs to."""
        return self.name.rpartition(".")[0]

    @property
    def differs(self) -> bool:
        """Exactly one of the two passes."""
        return (self.a == "pass") != (self.b == "pass")

    @property
    def unstable(self) -> bool:
        """A's two runs have different results."""
        return self.again is not None and self.again[0] != self.a

    @property
    def regressed(self) -> bool:
        """A passes in every run, and B did not pass."""
        return self.a == "pass" and self.differs and not self.unstable

    def remark(self, labels: Labels) -> str:
        """The remark for a difference."""
        if not self.differs:
            return ""
        if self.unstable:
            return f"two runs on {labels[0]} differ"
        if self.again and self.again[1] != self.b:
            return f"{labels[1]}, second run: {self.again[1]}"
        return "same result in a second run" if self.again else ""


def compare(a: Verdict, b: Verdict) -> list[Case]:
    """Every case that either reports, in report order."""
    left, right = dict(a.cases), dict(b.cases)
    names = dict.fromkeys([*left, *right])
    return [
        Case(name, _status(left, name), _status(right, name), _told(left, right, name))
        for name in names
    ]


def confirm(
    cases: Sequence[Case], rerun: Callable[[Sequence[str]], tuple[Verdict, Verdict]]
) -> list[Case]:
    """Run the differing cases a second time on both (`rerun` gets the runs' names)."""
    suspects = list(dict.fromkeys(case.run for case in cases if case.differs))
    if not suspects:
        return list(cases)
    a, b = (dict(verdict.cases) for verdict in rerun(suspects))
    return [
        replace(case, again=(_status(a, case.name), _status(b, case.name)))
        if case.differs
        else case
        for case in cases
    ]


def idle(cases: Sequence[Case]) -> list[str]:
    """Runs of which A passes no case; these compare nothing.

    The exit status counts as a case only if the program reports no other.
    """
    passes: dict[str, list[bool]] = {}
    ends = {}
    for case in cases:
        passed = case.a == "pass"
        if case.name.endswith(f".{EXIT}"):
            ends[case.run] = passed
        else:
            passes.setdefault(case.run, []).append(passed)
    return [run for run in ends if not any(passes.get(run, [ends[run]]))]


def grouped(cases: Sequence[Case]) -> list[tuple[str, Case]]:
    """All cases that do not pass on both, as rows: each difference alone, the others grouped.

    Cases of one run with equal statuses and equal text, ignoring numbers, share a row.
    """
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        if case.a == case.b == "pass":
            continue
        like = (case.run, case.a, case.b, _NUMBER.sub("#", case.told))
        key = (case.name,) if case.a != case.b else like
        groups.setdefault(key, []).append(case)
    return [(_name(group), group[0]) for group in groups.values()]


def counts(statuses: Iterable[str]) -> dict[str, int]:
    """The number of cases per status, in alphabetical order."""
    return dict(sorted(Counter(statuses).items()))


def _name(group: Sequence[Case]) -> str:
    first = group[0]
    return first.name if len(group) == 1 else f"{first.name} and {len(group) - 1} more"


def _status(cases: Mapping[str, Test], name: str) -> str:
    return cases[name].outcome if name in cases else MISSING


def _told(a: Mapping[str, Test], b: Mapping[str, Test], name: str) -> str:
    """The text of the test that did worse."""
    both = [tests[name] for tests in (b, a) if name in tests]
    test = next((one for one in both if one.outcome != "pass"), both[0])
    # Some programs, such as cow, name the test in a comment and only the outcome in the result.
    context = test.diagnostics[-1:] if test.failed else []
    return "; ".join(text for text in (test.reason, test.problem, *context) if text)
