# SPDX-License-Identifier: GPL-2.0
"""The outcome of one boot of tests, as reports give it: a status and a reason for each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from quire.boot.ktap import Test
from quire.build.kernel import Kernel
from quire.host.errors import GuestLost
from quire.test import expected
from quire.test.expected import Expected

PASS, FAIL, SKIP, EXPECTED = "pass", "fail", "skip", "expected"


@dataclass(frozen=True)
class Case:
    """One case. `expected` is a failure that is listed by name, with its reason."""

    name: str
    status: str
    reason: str
    diagnostics: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """One boot. `lost` says why there are no cases, or is empty."""

    name: str
    kernel: Kernel
    cases: tuple[Case, ...]
    lost: str = ""

    def count(self, *statuses: str) -> int:
        """The number of cases with one of these statuses."""
        return sum(case.status in statuses for case in self.cases)


def of(
    name: str,
    kernel: Kernel,
    result: Sequence[tuple[str, Test]] | GuestLost,
    lines: Sequence[Expected],
) -> Outcome:
    """The outcome of a boot: its cases by full name, or the lost guest."""
    if isinstance(result, GuestLost):
        return Outcome(name, kernel, (), result.text())
    return Outcome(name, kernel, tuple(_case(kernel, *each, lines) for each in result))


def _case(kernel: Kernel, name: str, test: Test, lines: Sequence[Expected]) -> Case:
    known = expected.why(lines, kernel, name) if test.failed else ""
    status = EXPECTED if known else test.outcome
    reason = known or test.reason or test.problem
    return Case(name, status, reason, tuple(test.diagnostics))


def as_json(outcome: Outcome) -> dict[str, Any]:
    """A kernel of docs/schema/test.json."""
    kernel = outcome.kernel
    return {
        "name": outcome.name,
        "architecture": kernel.arch.name,
        "tree": kernel.tree.label,
        "base": str(kernel.tree.base.version),
        "image_sha256": kernel.image_sha256,
        "lost": outcome.lost,
        "cases": [asdict(case) for case in outcome.cases],
    }
