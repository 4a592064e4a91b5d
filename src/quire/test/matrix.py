# SPDX-License-Identifier: GPL-2.0
"""All kernels in parallel: both sides, normal and debug, one and two virtual CPUs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.boot import machine
from quire.boot.ktap import Test
from quire.build.kernel import Kernel
from quire.host.errors import Difference, GuestLost, QuireError
from quire.session import Session
from quire.source.side import Sides
from quire.test import expected, junit, outcome, suite
from quire.test.expected import Expected
from quire.test.outcome import Outcome
from quire.test.suite import BootOptions, Job, Verdict


@dataclass(frozen=True)
class Flavour:
    """Additions to the common configuration, the sides that use it, and the numbers of CPUs."""

    name: str
    fragments: tuple[str, ...] = ()
    sides: str = "ab"
    cpus: tuple[int, ...] = (1, 2)
    # For the kernel's command line.
    parameters: tuple[str, ...] = ()


# On a debug kernel a case takes four times as long. It runs the folio sizes 4 KiB, 64 KiB and
# 2 MiB; the sizes between take the same paths. 2 MiB takes two thirds of the time, and two CPUs
# take twice as long as one.
FEWER = ("quire_without_sizes=16,256,1024",)
FEWEST = ("quire_without_sizes=16,256,1024,2048",)
# The guest's wording.
LEFT_OUT = "left out"

DEBUG = ("debug.config",)
# KASAN is the slowest, and what it finds in the stock kernel is outside the scope of the series.
CONFIGURATIONS = (
    Flavour("normal"),
    Flavour("debug", DEBUG, cpus=(1,), parameters=FEWER),
    Flavour("debug", DEBUG, cpus=(2,), parameters=FEWEST),
    Flavour("kasan", ("kasan.config",), "b", (2,), FEWER),
)
# Seconds. A debug kernel is several times as slow, and shares the host.
PATIENCE = 5400.0


@dataclass(frozen=True)
class Column:
    """One boot of the matrix and its result."""

    kernel: Kernel
    configuration: Flavour
    cpus: int
    verdict: Verdict | None = None
    lost: GuestLost | None = None

    @property
    def name(self) -> str:
        """The name in the table's header and in file names."""
        kernel = self.kernel
        words = (kernel.arch.name, kernel.tree.label, self.configuration.name, f"smp{self.cpus}")
        return "-".join(words)

    @property
    def cases(self) -> list[tuple[str, Test]]:
        """Every case with its full name; none if the guest was lost."""
        return self.verdict.cases if self.verdict else []

    def statuses(self, lines: Sequence[Expected]) -> dict[str, str]:
        """Per case: pass, fail, skip, left out, or `expected` (a failure listed by name)."""
        found = {}
        for name, test in self.cases:
            status = test.outcome
            if status == "fail" and expected.why(lines, self.kernel, name):
                status = "expected"
            if status == "skip" and LEFT_OUT in test.reason:
                status = LEFT_OUT
            found[name] = status
        return found


def run(
    session: Session, sides: Sides, patterns: Sequence[str], options: BootOptions
) -> list[Column]:
    """Build every kernel, then boot each with its numbers of CPUs.

    A lost guest also gets a column.
    """
    columns = [
        Column(kernel, configuration, cpus)
        for configuration in CONFIGURATIONS
        for kernel in _kernels(session, sides, configuration)
        for cpus in configuration.cpus
    ]
    found = suite.several(session, [_order(column, options) for column in columns], patterns)
    return [
        replace(column, lost=one) if isinstance(one, GuestLost) else replace(column, verdict=one)
        for column, one in zip(columns, found, strict=True)
    ]


def _order(column: Column, options: BootOptions) -> Job:
    parameters = (*options.parameters, *column.configuration.parameters)
    asked = replace(options, cpus=column.cpus, timeout=PATIENCE, parameters=parameters)
    return Job(column.kernel, asked)


def _kernels(session: Session, sides: Sides, configuration: Flavour) -> Iterator[Kernel]:
    fragments = [session.project.configs / name for name in configuration.fragments]
    chosen = replace(session, configs=(*session.configs, *fragments))
    for arch in session.architectures:
        for role, side in zip("ab", sides.both, strict=True):
            # If both sides are the same, there is one kernel.
            if role in configuration.sides and not (role == "b" and sides.same):
                yield chosen.kernel(arch, side.tree)


def rows(columns: Sequence[Column], lines: Sequence[Expected]) -> dict[str, list[str]]:
    """The cases that do not pass in every column that contains them, with each status."""
    statuses = [column.statuses(lines) for column in columns]
    names = dict.fromkeys(name for found in statuses for name in found)
    table = {name: [found.get(name, "") for found in statuses] for name in names}
    return {name: row for name, row in table.items() if set(row) - {"pass", LEFT_OUT}}


def keep(directory: Path, columns: Sequence[Column], lines: Sequence[Expected]) -> None:
    """Write the KTAP of every boot, JUnit XML of all, and one JSON file of all statuses."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    report = {}
    for column in columns:
        if column.verdict:
            ktap = (Path(column.verdict.logs) / machine.RESULTS).read_text()
            (directory / f"{column.name}.ktap").write_text(ktap)
        lost = column.lost.text() if column.lost else ""
        report[column.name] = {"lost": lost, "cases": column.statuses(lines)}
    (directory / "junit.xml").write_text(junit.text(outcomes(columns, lines)), "utf-8")
    (directory / "matrix.json").write_text(json.dumps(report, indent=1) + "\n")


def outcomes(columns: Sequence[Column], lines: Sequence[Expected]) -> list[Outcome]:
    """What each boot came to, for reports."""
    return [
        outcome.of(column.name, column.kernel, column.lost or column.cases, lines)
        for column in columns
    ]


def verdict(columns: Sequence[Column], lines: Sequence[Expected]) -> QuireError | None:
    """The unexpected failures as one error; a lost guest takes precedence. None if all passed."""
    lost = [column for column in columns if column.lost]
    if lost:
        first = lost[0].lost
        assert first is not None
        names = ", ".join(column.name for column in lost)
        return GuestLost(f"{first.what}: {names}", first.where, first.remedy)
    failed = [
        f"{column.name}: {name}"
        for column in columns
        for name, status in column.statuses(lines).items()
        if status == "fail"
    ]
    if failed:
        return Difference("tests failed", "\n".join(failed), "read the KTAP in build/test/")
    return None
