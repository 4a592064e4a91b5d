# SPDX-License-Identifier: GPL-2.0
"""Parse the programs' output: TAP, a dialect, or only an exit status."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from quire.boot import ktap
from quire.boot.ktap import Status, Test

# Prefix of a program's line; the harness's own remarks are indented.
PRINTED, REMARK = "# ", "  # "
# The only remark that is not a reason.
TOOK = "took "
# The case of every run: the program's exit status.
EXIT = "exit"

HEADER = "KTAP version 1"
# An expected failure.
EXPECTED = "XFAIL"

_NUMBERED = re.compile(r"(?:not )?ok (\d+)\b")
_RESULT = re.compile(r"^(?:not )?ok \d+ (\S+)")
_VERDICT = re.compile(r"(?:^|\.\.\. )(done|failed|skipped)(?: \[reason: (.*)\])?$")
_STEP = re.compile(r"^(.*?)[ .]*\x1b\[(\d+)m(.*?)\x1b\[0m$")
_SECTION = re.compile(r"^Run test: (.*)$")
_STEP_STATUS = {"32": Status.PASS, "31": Status.FAIL, "33": Status.SKIP}
_VERDICT_STATUS = {"done": Status.PASS, "failed": Status.FAIL, "skipped": Status.SKIP}


def expand(report: Test, lines: Sequence[str], dialects: Mapping[str, str]) -> None:
    """Add the cases of each run to the report. `dialects` maps run names to dialects.

    The run's own result becomes its case `exit`; an unfulfilled plan fails that case.
    """
    outputs = split(lines)
    for run in report.subtests:
        printed, remarks = outputs.get(run.name, ([], []))
        cases, problem = DIALECTS[dialects.get(run.name, EXIT)](printed)
        why = "; ".join(remark for remark in remarks if not remark.startswith(TOOK))
        end = Test(EXIT, run.status, why, run.problem)
        if problem and end.status is Status.PASS:
            end.status, end.reason = Status.FAIL, problem
        run.subtests = [*cases, end]


def split(lines: Iterable[str]) -> dict[str, tuple[list[str], list[str]]]:
    """Return each run's output and the harness's remarks, by the run's name, which follows both."""
    outputs = {}
    printed: list[str] = []
    remarks: list[str] = []
    for line in lines:
        if line.startswith(PRINTED):
            printed.append(line.removeprefix(PRINTED))
        elif line.startswith(REMARK):
            remarks.append(line.removeprefix(REMARK))
        elif result := _RESULT.match(line):
            outputs[result[1]] = (printed, remarks)
            printed, remarks = [], []
    return outputs


def _tap(lines: Sequence[str]) -> tuple[list[Test], str]:
    """One case per result, by number: descriptions may be ambiguous or vary between runs.

    A repeated number comes from a child that continued where it should have exited.
    """
    seen: set[str] = set()
    first, repeated = [HEADER], []
    for line in lines:
        result = _NUMBERED.match(line)
        if result and result[1] in seen:
            repeated.append((result[1], line))
        else:
            first.append(line)
            seen |= {result[1]} if result else set()
    root = ktap.parse(first)
    cases = [_case(str(number), test) for number, test in enumerate(root.subtests, 1)]
    for number, line in repeated:
        (test,) = ktap.parse([HEADER, line]).subtests
        cases.append(_case(f"{number}-again", test, ""))
    return cases, root.problem


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
