# SPDX-License-Identifier: GPL-2.0
"""Parse the programs' output: TAP, a dialect of their own, or only an exit status."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quire.boot import ktap
from quire.boot.ktap import Status, Test

# Prefix of a program's line; the harness's own remarks are indented.
PRINTED, REMARK = "# ", "  # "
# The only remark that is not a reason.
TOOK = "took "
# The case that every run has: the program's exit status.
EXIT = "exit"

HEADER = "KTAP version 1"
# A failure that the program expects.
EXPECTED = "XFAIL"

_NUMBERED = re.compile(r"(?:not )?ok (\d+)\b")
_RESULT = re.compile(r"^(?:not )?ok \d+ (\S+)")
_VERDICT = re.compile(r"(?:^|\.\.\. )(done|failed|skipped)(?: \[reason: (.*)\])?$")
_STEP = re.compile(r"^(.*?)[ .]*\x1b\[(\d+)m(.*?)\x1b\[0m$")
_SECTION = re.compile(r"^Run test: (.*)$")
_STEP_STATUS = {"32": Status.PASS, "31": Status.FAIL, "33": Status.SKIP}
_VERDICT_STATUS = {"done": Status.PASS, "failed": Status.FAIL, "skipped": Status.SKIP}


@dataclass
class Output:
    """The output of one run, and the harness's remarks."""

    lines: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def expand(report: Test, lines: Sequence[str], dialects: Mapping[str, str]) -> None:
    """Add the cases of each run to the report. `dialects` maps run names to dialects.

    The run's own result becomes its case `exit`; an unfulfilled plan fails that case.
    """
    printed = split(lines)
    for run in report.subtests:
        output = printed.get(run.name, Output())
        cases, problem = DIALECTS[dialects.get(run.name, EXIT)](output.lines)
        why = "; ".join(text for text in output.remarks if not text.startswith(TOOK))
        end = Test(EXIT, run.status, why, run.problem)
        if problem and end.status is Status.PASS:
            end.status, end.reason = Status.FAIL, problem
        run.subtests = [*cases, end]


def split(lines: Iterable[str]) -> dict[str, Output]:
    """Each run's output by its name, which follows the output."""
    outputs: dict[str, Output] = {}
    output = Output()
    for line in lines:
        if line.startswith(PRINTED):
            output.lines.append(line.removeprefix(PRINTED))
        elif line.startswith(REMARK):
            output.remarks.append(line.removeprefix(REMARK))
        elif result := _RESULT.match(line):
            outputs[result[1]] = output
            output = Output()
    return outputs


def _tap(lines: Sequence[str]) -> tuple[list[Test], str]:
    """One case per result, by number: descriptions may be ambiguous or vary between runs.

    A repeated number comes from a child that continued where it should have exited.
    """
    first, again = _by_number(lines)
    root = ktap.parse([HEADER, *first])
    cases = [_case(str(number), test) for number, test in enumerate(root.subtests, 1)]
    for number, line in again:
        (test,) = ktap.parse([HEADER, line]).subtests
        cases.append(_case(f"{number}-again", test, ""))
    return cases, root.problem


def _by_number(lines: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The lines without repeated results, and the repeated results."""
    seen: set[str] = set()
    first, again = [], []
    for line in lines:
        result = _NUMBERED.match(line)
        if result and result[1] in seen:
            again.append((result[1], line))
            continue
        if result:
            seen.add(result[1])
        first.append(line)
    return first, again


def _case(name: str, test: Test, problem: str | None = None) -> Test:
    title = "" if test.name.isdigit() else test.name
    status, reason = test.status, test.reason
    if status is Status.PASS and reason.startswith(EXPECTED):
        status, reason = Status.XFAIL, reason.removeprefix(EXPECTED).strip()
    if not reason or status is not Status.SKIP:
        reason = ": ".join(filter(None, (title, reason)))
    problem = test.problem if problem is None else problem
    return Test(name, status, reason, problem, test.diagnostics)


def _testing(lines: Sequence[str]) -> tuple[list[Test], str]:
    """uffd-unit-tests: `Testing poison on anon... done`, whose end may be lines later."""
    cases: list[Test] = []
    for line in lines:
        if line.startswith("Testing "):
            name = line.removeprefix("Testing ").partition("... ")[0]
            cases.append(Test(name.replace(" ", "-"), Status.FAIL, "no verdict"))
        if cases and (verdict := _VERDICT.search(line)):
            cases[-1].status = _VERDICT_STATUS[verdict[1]]
            cases[-1].reason = verdict[2] or ""
    return cases, ""


def _steps(lines: Sequence[str]) -> tuple[list[Test], str]:
    """khugepaged: numbered steps, each ended by a coloured word."""
    cases: list[Test] = []
    section = ""
    for line in lines:
        if header := _SECTION.match(line):
            section = f"{header[1]}: "
        elif step := _STEP.match(line):
            title, colour, word = step.groups()
            status = _STEP_STATUS.get(colour, Status.FAIL)
            told = f"{section}{title}" + ("" if status is Status.PASS else f": {word}")
            cases.append(Test(str(len(cases) + 1), status, told))
    return cases, ""


DIALECTS: dict[str, Callable[[Sequence[str]], tuple[list[Test], str]]] = {
    "tap": _tap,
    "testing": _testing,
    "steps": _steps,
    EXIT: lambda _: ([], ""),
}
