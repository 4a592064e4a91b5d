# SPDX-License-Identifier: GPL-2.0
"""KTAP of several test boots as one report: a test per boot, its cases as subtests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire.test.outcome import EXPECTED, FAIL, SKIP, Case, Outcome


def text(outcomes: Sequence[Outcome]) -> str:
    """The report. An expected failure is `ok` with the directive XFAIL."""
    lines = ["KTAP version 1", f"1..{len(outcomes)}"]
    for number, outcome in enumerate(outcomes, 1):
        lines += _boot(number, outcome)
    return "\n".join(lines) + "\n"


def _boot(number: int, outcome: Outcome) -> Iterator[str]:
    name = outcome.name.replace("#", "-")
    if outcome.lost:
        yield from (f"# {line}" for line in outcome.lost.splitlines())
    else:
        yield "  KTAP version 1"
        yield f"  1..{len(outcome.cases)}"
        for at, case in enumerate(outcome.cases, 1):
            yield from (f"  {line}" for line in _case(at, case))
    bad = outcome.lost or outcome.count(FAIL)
    yield f"{'not ok' if bad else 'ok'} {number} {name}"


def _case(number: int, case: Case) -> Iterator[str]:
    if case.status in (FAIL, EXPECTED):
        yield from (f"# {line}" for line in case.diagnostics)
    words = [f"{'not ok' if case.status == FAIL else 'ok'} {number}"]
    words.append(case.name.replace("#", "-"))
    if case.status == SKIP:
        reason = case.reason.removeprefix("SKIP ")
        words.append(f"# SKIP {reason}".rstrip())
    elif case.status == EXPECTED:
        words.append(f"# XFAIL {case.reason}")
    yield " ".join(words)
