# SPDX-License-Identifier: GPL-2.0
"""Expected failures: cases that a kernel is known to fail, named in lines/NAME/expected.toml."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from quire.boot.ktap import Status
from quire.build.kernel import Kernel
from quire.host import data
from quire.source.side import Sides
from quire.test.outcome import Case, Outcome


@dataclass(frozen=True)
class Expected:
    """An entry: the cases (patterns on suite.case) that fail on this tree, stock or patched."""

    tree: str
    architectures: tuple[str, ...]
    cases: tuple[str, ...]
    why: str

    def covers(self, kernel: Kernel, case: str) -> bool:
        """Whether the entry covers this case on this kernel."""
        return (
            self.tree == kernel.tree.label
            and kernel.arch.name in self.architectures
            and any(fnmatchcase(case, pattern) for pattern in self.cases)
        )


@dataclass(frozen=True)
class _File:
    expected: tuple[Expected, ...] = ()


def read(file: Path) -> list[Expected]:
    """The entries of a file; none if it does not exist. UserError names a wrong one."""
    remedy = "give each [[expected]] a tree, architectures, cases and why"
    entries = list(data.optional(file, _File, remedy).expected)
    data.require_complete(file, "expected", entries, remedy)
    return entries


def inherited(outcomes: Sequence[Outcome], sides: Sides) -> list[Expected]:
    """Expected failures for two sides without a list: A may fail the cases that it fails, and B may
    fail these, too, on the same architecture."""
    a, b = sides.a.label, sides.b.label
    entries = []
    for outcome in outcomes:
        if outcome.kernel.tree.label == a:
            arch = (outcome.kernel.arch.name,)
            cases = tuple(case.name for case in outcome.failed)
            entries.append(Expected(a, arch, cases, f"{a}'s own failure"))
            entries.append(Expected(b, arch, cases, f"fails on {a}, too"))
    return entries


def resolve(outcomes: Sequence[Outcome], entries: Sequence[Expected]) -> list[Outcome]:
    """The outcomes, with each failure that an entry covers as EXPECTED, for the entry's reason."""

    def resolved(case: Case, kernel: Kernel) -> Case:
        if case.status is Status.FAIL:
            for entry in entries:
                if entry.covers(kernel, case.name):
                    return replace(case, status=Status.EXPECTED, reason=entry.why)
        return case

    return [
        replace(outcome, cases=tuple(resolved(case, outcome.kernel) for case in outcome.cases))
        for outcome in outcomes
    ]
