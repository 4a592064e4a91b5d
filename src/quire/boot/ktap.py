# SPDX-License-Identifier: GPL-2.0
"""Parse KTAP, as in the kernel's Documentation/dev-tools/ktap.rst: nested test results."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

_INDENT = re.compile(r"^ *")
_VERSION = re.compile(r"^KTAP version \d+$")
_PLAN = re.compile(r"^1\.\.(\d+)(?: *# *SKIP\b *(.*))?$")
_RESULT = re.compile(r"^(not )?ok (\d+)(?: +-)?(?: +([^#]*?))?(?: *# *(\w+) *(.*))?$")
_ANY_RESULT = re.compile(rb"^ *(?:not )?ok \d", re.M)
_BAIL = re.compile(r"^Bail out!(.*)$")


class Status(StrEnum):
    """The result of a test case, used from the guest's report to tables, JSON and JUnit."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    # Not run: slow kernels run fewer cases, and some cases could damage a kernel without their fix.
    LEFT_OUT = "left out"
    # A failure that lines/NAME/expected.toml lists, or that the program itself announces.
    EXPECTED = "expected"
    XFAIL = "xfail"
    # An expected result is missing.
    MISSING = "missing"


@dataclass
class Test:
    """One result. A suite has `subtests`; `problem` says why the result is invalid."""

    name: str
    status: Status = Status.MISSING
    reason: str = ""
    problem: str = ""
    diagnostics: list[str] = field(default_factory=list)
    subtests: list["Test"] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether it or a subtest failed; missing and inconsistent results are failures."""
        failed = self.status in (Status.FAIL, Status.MISSING) or bool(self.problem)
        return failed or any(test.failed for test in self.subtests)

    @property
    def outcome(self) -> Status:
        """FAIL for any failure, else the status."""
        return Status.FAIL if self.failed else self.status

    def leaves(self, prefix: str = "") -> Iterator[tuple[str, "Test"]]:
        """Yield every case with its full name, suite.case."""
        name = f"{prefix}{self.name}"
        if not self.subtests:
            yield name, self
        for test in self.subtests:
            yield from test.leaves(f"{name}.")


@dataclass
class _Level:
    """A nesting level while it is parsed: its plan, and its results so far."""

    indent: int
    tests: list[Test] = field(default_factory=list)
    planned: int | None = None
    diagnostics: list[str] = field(default_factory=list)

    def close(self, owner: Test) -> None:
        """Assign the level's results to the test they belong to, and check them."""
        owner.subtests = self.tests
        owner.diagnostics += self.diagnostics
        problem = ""
        if self.planned is None:
            problem = "no plan line (1..N)"
        elif self.planned != len(self.tests):
            problem = f"{self.planned} tests planned, {len(self.tests)} reported"
        owner.problem = "; ".join(filter(None, (owner.problem, problem)))


def results(report: Path) -> int:
    """Count the results, including suites, in a report that may be incomplete."""
    try:
        return len(_ANY_RESULT.findall(report.read_bytes()))
    except OSError:
        return 0


def parse(lines: Iterable[str]) -> Test:
    """Parse the whole report as one unnamed test; `failed` unless it is complete and consistent.

    Lines that are not KTAP are ignored, as the specification requires.
    """
    root = Test("", Status.PASS)
    levels: list[_Level] = []
    for line in lines:
        indent = len(_INDENT.match(line)[0])  # type: ignore[index]
        text = line.strip()
        if _VERSION.match(text):
            if not levels or indent > levels[-1].indent:
                levels.append(_Level(indent))
            continue
        if not levels:
            continue
        if bail := _BAIL.match(text):
            root.problem = f"bailed out:{bail[1]}"
            break
        _read(levels, indent, text)
    while len(levels) > 1:
        # The parent's result is missing: the run ended inside this suite.
        orphan = Test("(no result)", problem="the run ended inside this suite")
        levels.pop().close(orphan)
        levels[-1].tests.append(orphan)
    if not levels:
        root.status, root.problem = Status.MISSING, "no KTAP report"
    else:
        levels[0].close(root)
    return root


def _read(levels: list[_Level], indent: int, text: str) -> None:
    if plan := _PLAN.match(text):
        # A plan may open a level without a version line.
        if indent > levels[-1].indent:
            levels.append(_Level(indent))
        levels[-1].planned = int(plan[1])
    elif result := _RESULT.match(text):
        _result(levels, indent, result)
    elif text.startswith("#"):
        levels[-1].diagnostics.append(text.lstrip("# "))


def _result(levels: list[_Level], indent: int, line: re.Match[str]) -> None:
    negative, number, name, directive, reason = line.groups()
    test = Test((name or number).strip(), Status.FAIL if negative else Status.PASS, reason or "")
    if directive and directive.upper() == "SKIP":
        test.status = Status.SKIP
    elif directive:
        test.reason = f"{directive} {reason or ''}".strip()
    while len(levels) > 1 and levels[-1].indent > indent:
        levels.pop().close(test)
    level = levels[-1]
    test.diagnostics = level.diagnostics + test.diagnostics
    level.diagnostics = []
    if int(number) != len(level.tests) + 1:
        test.problem = f"numbered {number}, expected {len(level.tests) + 1}"
    if test.status is not Status.FAIL and any(sub.failed for sub in test.subtests):
        test.problem = test.problem or "a subtest failed, but the result is ok"
    level.tests.append(test)
