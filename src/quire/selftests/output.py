# SPDX-License-Identifier: GPL-2.0
"""What the programs print: TAP, or a dialect of their own, or nothing but an exit status."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quire import ktap
from quire.ktap import Test

# Before a program's line; the harness's own remarks are indented.
PRINTED, REMARK = "# ", "  # "
# The case that every run has: how the program itself ended.
EXIT = "exit"

_RESULT = re.compile(r"^(?:not )?ok \d+ (\S+)")
_VERDICT = re.compile(r"(?:^|\.\.\. )(done|failed|skipped)(?: \[reason: (.*)\])?$")
_STEP = re.compile(r"^(.*?)[ .]*\x1b\[(\d+)m(.*?)\x1b\[0m$")
_SECTION = re.compile(r"^Run test: (.*)$")
_STEP_STATUS = {"32": "pass", "31": "fail", "33": "skip"}
_VERDICT_STATUS = {"done": "pass", "failed": "fail", "skipped": "skip"}


@dataclass
class Output:
    """What one run printed, and what the harness remarked."""

    lines: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def outer(lines: Sequence[str]) -> Test:
    """The guest's report as the guest means it: a result for each run."""
    return ktap.parse(line for line in lines if not line.startswith(PRINTED))


def expand(report: Test, lines: Sequence[str], dialects: Mapping[str, str]) -> None:
    """Give each run of that report its cases. `dialects` go by the run's name.

    The run's own result becomes its case `exit`; a plan that was not kept fails that one.
    """
    printed = split(lines)
    for run in report.subtests:
        output = printed.get(run.name, Output())
        cases, problem = DIALECTS[dialects.get(run.name, EXIT)](output.lines)
        end = Test(EXIT, run.status, "; ".join(output.remarks), run.problem)
        if problem and end.status == "pass":
            end.status, end.reason = "fail", problem
        run.subtests = [*cases, end]


def split(lines: Iterable[str]) -> dict[str, Output]:
    """Each run's output by the run's name, which stands behind it."""
    found: dict[str, Output] = {}
    output = Output()
    for line in lines:
        if line.startswith(PRINTED):
            output.lines.append(line.removeprefix(PRINTED))
        elif line.startswith(REMARK):
            output.remarks.append(line.removeprefix(REMARK))
        elif result := _RESULT.match(line):
            found[result[1]] = output
            output = Output()
    return found


def _tap(lines: Sequence[str]) -> tuple[list[Test], str]:
    """A case for each result, by its number: not all descriptions are unique, or the same twice."""
    root = ktap.parse(["KTAP version 1", *lines])
    cases = []
    for number, result in enumerate(root.subtests, 1):
        title = "" if result.name.isdigit() else result.name
        status, reason = result.status, result.reason
        if status == "pass" and reason.startswith("XFAIL"):
            status, reason = "xfail", reason.removeprefix("XFAIL").strip()
        told = ": ".join(text for text in (title, reason) if text)
        cases.append(Test(str(number), status, told, result.problem, result.diagnostics))
    return cases, root.problem


def _testing(lines: Sequence[str]) -> tuple[list[Test], str]:
    """uffd-unit-tests: `Testing poison on anon... done`, where the end may be lines away."""
    cases: list[Test] = []
    for line in lines:
        if line.startswith("Testing "):
            name = line.removeprefix("Testing ").partition("... ")[0]
            cases.append(Test(name.replace(" ", "-"), "fail", "no verdict"))
        if cases and (found := _VERDICT.search(line)):
            cases[-1].status = _VERDICT_STATUS[found[1]]
            cases[-1].reason = found[2] or ""
    return cases, ""


def _steps(lines: Sequence[str]) -> tuple[list[Test], str]:
    """khugepaged: steps that end in a coloured word, by their number."""
    cases: list[Test] = []
    section = ""
    for line in lines:
        if found := _SECTION.match(line):
            section = f"{found[1]}: "
        elif found := _STEP.match(line):
            title, colour, word = found.groups()
            status = _STEP_STATUS.get(colour, "fail")
            told = f"{section}{title}" + ("" if status == "pass" else f": {word}")
            cases.append(Test(str(len(cases) + 1), status, told))
    return cases, ""


def _exit(_lines: Sequence[str]) -> tuple[list[Test], str]:
    return [], ""


DIALECTS: dict[str, Callable[[Sequence[str]], tuple[list[Test], str]]] = {
    "tap": _tap,
    "testing": _testing,
    "steps": _steps,
    EXIT: _exit,
}
