# SPDX-License-Identifier: GPL-2.0
"""Stock against patched, case by case, and which of the differences hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from quire.boot.ktap import Test
from quire.kselftest.output import EXIT
from quire.test.suite import Verdict

# A case that one of the two did not report.
MISSING = "missing"
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Case:
    """One case on both kernels; `again` is what a second run of both made of it, if there was."""

    name: str
    stock: str
    patched: str
    told: str = ""
    again: tuple[str, str] | None = None

    @property
    def run(self) -> str:
        """The program with its arguments that it belongs to."""
        return self.name.rpartition(".")[0]

    @property
    def differs(self) -> bool:
        """One passes and the other does not, whichever way round."""
        return (self.stock == "pass") != (self.patched == "pass")

    @property
    def unstable(self) -> bool:
        """Stock itself does not do the same twice."""
        return self.again is not None and self.again[0] != self.stock

    @property
    def regressed(self) -> bool:
        """Stock passes it, as often as it was asked, and patched did not."""
        return self.stock == "pass" and self.differs and not self.unstable

    @property
    def remark(self) -> str:
        """What is to be said of a difference."""
        if not self.differs:
            return ""
        if self.unstable:
            return "not the same twice on stock"
        if self.again and self.again[1] != self.patched:
            return f"patched, run again: {self.again[1]}"
        return "the same when run again" if self.again else ""


def compare(stock: Verdict, patched: Verdict) -> list[Case]:
    """Every case that one of them has, in the order of their reports."""
    left, right = dict(stock.cases), dict(patched.cases)
    names = dict.fromkeys([*left, *right])
    return [
        Case(name, _status(left, name), _status(right, name), _told(left, right, name))
        for name in names
    ]


def confirm(
    cases: Sequence[Case], rerun: Callable[[Sequence[str]], tuple[Verdict, Verdict]]
) -> list[Case]:
    """Run what differs once more on both (`rerun` gets the runs' names), and note what came."""
    suspects = list(dict.fromkeys(case.run for case in cases if case.differs))
    if not suspects:
        return list(cases)
    stock, patched = (dict(verdict.cases) for verdict in rerun(suspects))
    return [
        replace(case, again=(_status(stock, case.name), _status(patched, case.name)))
        if case.differs
        else case
        for case in cases
    ]


def idle(cases: Sequence[Case]) -> list[str]:
    """Runs of which stock passes nothing: they compare nothing.

    That a program ended well is something only where it reports nothing else.
    """
    passes: dict[str, list[bool]] = {}
    ends = {}
    for case in cases:
        passed = case.stock == "pass"
        if case.name.endswith(f".{EXIT}"):
            ends[case.run] = passed
        else:
            passes.setdefault(case.run, []).append(passed)
    return [run for run in ends if not any(passes.get(run, [ends[run]]))]


def grouped(cases: Sequence[Case]) -> list[tuple[str, Case]]:
    """What is not `pass` on both, for a table: what differs by itself, the rest by its likes.

    Cases of one run that have the same statuses and tell the same but for numbers are one row.
    """
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        if case.stock == case.patched == "pass":
            continue
        like = (case.run, case.stock, case.patched, _NUMBER.sub("#", case.told))
        key = (case.name,) if case.stock != case.patched else like
        groups.setdefault(key, []).append(case)
    return [(_name(group), group[0]) for group in groups.values()]


def counts(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """How many cases have each status, stock and patched."""
    found: dict[str, dict[str, int]] = {"stock": {}, "patched": {}}
    for case in cases:
        for tree, status in (("stock", case.stock), ("patched", case.patched)):
            found[tree][status] = found[tree].get(status, 0) + 1
    return found


def _name(group: Sequence[Case]) -> str:
    first = group[0]
    return first.name if len(group) == 1 else f"{first.name} and {len(group) - 1} more"


def _status(cases: Mapping[str, Test], name: str) -> str:
    return cases[name].outcome if name in cases else MISSING


def _told(stock: Mapping[str, Test], patched: Mapping[str, Test], name: str) -> str:
    """What the test that did worse has to say."""
    both = [tests[name] for tests in (patched, stock) if name in tests]
    test = next((one for one in both if one.outcome != "pass"), both[0])
    # cow, for one, says in a comment what it tests, and in the result only what came of it.
    context = test.diagnostics[-1:] if test.failed else []
    return "; ".join(text for text in (test.reason, test.problem, *context) if text)
