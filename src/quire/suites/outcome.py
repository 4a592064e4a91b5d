# SPDX-License-Identifier: GPL-2.0
"""The outcome of a test boot: a status and reason per case, or why the guest was lost."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quire.boot.ktap import Status, Test
from quire.host.errors import Difference, GuestLost, QuireError
from quire.kernels.kernel import Kernel

# Colours on a terminal.
STYLE = {
    Status.PASS: "green",
    Status.FAIL: "red",
    Status.MISSING: "red",
    Status.SKIP: "yellow",
    Status.LEFT_OUT: "",
    Status.EXPECTED: "cyan",
    Status.XFAIL: "cyan",
}
SKIPPED = (Status.SKIP, Status.LEFT_OUT)
# The guest's wording.
_LEFT_OUT = "left out: "


@dataclass(frozen=True)
class Case:
    """One case by its full name: suite.case."""

    name: str
    status: Status
    reason: str = ""
    diagnostics: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """One boot. If the guest was lost, there are no cases."""

    name: str
    kernel: Kernel
    cases: tuple[Case, ...] = ()
    # The directory, or the file.
    logs: str = ""
    # Why the boot failed, if none of its cases says so.
    problem: str = ""
    lost: GuestLost | None = None
    cpus: int = 1

    @property
    def failed(self) -> list[Case]:
        """Return the failed cases, without expected failures."""
        return [case for case in self.cases if case.status is Status.FAIL]

    def count(self, *statuses: Status) -> int:
        """Count the cases with one of these statuses."""
        return sum(case.status in statuses for case in self.cases)

    def counts(self) -> str:
        """Return the number of cases of each status, as text."""
        present = sorted({case.status for case in self.cases})
        return ", ".join(f"{self.count(status)} {status}" for status in present)


def read(name: str, kernel: Kernel, report: Test, logs: Path, cpus: int = 1) -> Outcome:
    """Return the outcome of a boot that ended with this report."""
    cases = tuple(
        _case(full.lstrip("."), test) for full, test in report.leaves() if full.lstrip(".")
    )
    problem = ""
    if report.failed and not any(case.status is Status.FAIL for case in cases):
        problem = report.problem or "a suite failed, but none of its cases"
    return Outcome(name, kernel, cases, str(logs), problem, cpus=cpus)


def _case(name: str, test: Test) -> Case:
    status = test.outcome
    if status is Status.SKIP and _LEFT_OUT in test.reason:
        status = Status.LEFT_OUT
    reason = "; ".join(filter(None, (test.reason, test.problem)))
    return Case(name, status, reason, tuple(test.diagnostics))


def failures(outcomes: Sequence[Outcome]) -> QuireError | None:
    """Return one error for all lost guests, or for all failures; None without either."""
    lost = [(outcome, outcome.lost) for outcome in outcomes if outcome.lost]
    if lost:
        first = lost[0][1]
        names = f": {', '.join(outcome.name for outcome, _ in lost)}" if len(outcomes) > 1 else ""
        return GuestLost(f"{first.what}{names}", first.where, first.remedy)
    lines = []
    for outcome in outcomes:
        for case in outcome.failed:
            lines.append(f"{outcome.name}: {case.name} {case.reason}".rstrip())
            lines += [f"| {text}" for text in case.diagnostics[-8:]]
        lines += [f"{outcome.name}: {outcome.problem}"] if outcome.problem else []
        if outcome.logs and (outcome.failed or outcome.problem):
            lines.append(f"whole log: {outcome.logs}")
    if not lines:
        return None
    return Difference("tests failed", "\n".join(lines), "read the log and the patch")


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Describe a kernel for docs/schema/test.json, which has one word for all skips."""
    kernel = outcome.kernel
    skipped = {"status": Status.SKIP}
    return {
        "name": outcome.name,
        "architecture": kernel.arch.name,
        "tree": kernel.tree.label,
        "base": str(kernel.tree.base.version),
        "image_sha256": kernel.image_sha256,
        "lost": outcome.lost.text() if outcome.lost else "",
        "cases": [
            asdict(case) | (skipped if case.status in SKIPPED else {}) for case in outcome.cases
        ],
    }
