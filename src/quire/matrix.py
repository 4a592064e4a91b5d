# SPDX-License-Identifier: GPL-2.0
"""All kernels side by side: stock and patched, normal and debug, one and two virtual CPUs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire import expected, machine, suite
from quire.errors import Difference, GuestLost, QuireError
from quire.expected import Expected
from quire.kernel import Kernel
from quire.lab import Prepared
from quire.session import Session
from quire.suite import Options, Verdict

DEBUG = "debug.config"


@dataclass(frozen=True)
class Column:
    """One boot of the matrix and what became of it."""

    kernel: Kernel
    config: str
    cpus: int
    verdict: Verdict | None
    lost: GuestLost | None = None

    @property
    def name(self) -> str:
        """For the table's head and the names of files."""
        words = [self.kernel.arch.name, self.kernel.tree.label, self.config, f"smp{self.cpus}"]
        return "-".join(words)

    def statuses(self, lines: Sequence[Expected]) -> dict[str, str]:
        """pass, fail, skip or `expected` (a failure known by name) of every case."""
        found = {}
        for name, test in self.verdict.cases if self.verdict else []:
            status = test.outcome
            if status == "fail" and expected.why(lines, self.kernel, name):
                status = "expected"
            found[name] = status
        return found


def run(
    session: Session, prepared: Prepared, patterns: Sequence[str], options: Options
) -> Iterator[Column]:
    """Every column, one after the other. A lost guest is a column too."""
    debug = replace(session, configs=(*session.configs, session.project.configs / DEBUG))
    for arch in session.architectures:
        for config, chosen in (("normal", session), ("debug", debug)):
            for tree in (prepared.stock, prepared.patched):
                kernel = chosen.kernel(arch, tree)
                for cpus in (1, 2):
                    yield _column(session, kernel, config, patterns, replace(options, cpus=cpus))


def _column(
    session: Session, kernel: Kernel, config: str, patterns: Sequence[str], options: Options
) -> Column:
    column = Column(kernel, config, options.cpus, None)
    with session.progress.stage(f"{column.name} tests"):
        try:
            return replace(column, verdict=suite.run(session, kernel, patterns, options))
        except GuestLost as lost:
            return replace(column, lost=lost)


def rows(columns: Sequence[Column], lines: Sequence[Expected]) -> dict[str, list[str]]:
    """The cases that are not `pass` in every column, with their status in each."""
    statuses = [column.statuses(lines) for column in columns]
    names = dict.fromkeys(name for found in statuses for name in found)
    table = {name: [found.get(name, "") for found in statuses] for name in names}
    return {name: row for name, row in table.items() if set(row) - {"pass"}}


def keep(directory: Path, columns: Sequence[Column], lines: Sequence[Expected]) -> None:
    """KTAP of every boot and one JSON of all statuses."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    report = {}
    for column in columns:
        if column.verdict:
            ktap = (Path(column.verdict.logs) / machine.RESULTS).read_text()
            (directory / f"{column.name}.ktap").write_text(ktap)
        lost = column.lost.text() if column.lost else ""
        report[column.name] = {"lost": lost, "cases": column.statuses(lines)}
    (directory / "matrix.json").write_text(json.dumps(report, indent=1) + "\n")


def verdict(columns: Sequence[Column], lines: Sequence[Expected]) -> QuireError | None:
    """What failed unexpectedly; a lost guest weighs most. None if nothing did."""
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
        if status in ("fail", "missing")
    ]
    if failed:
        return Difference("tests failed", "\n".join(failed), "read the KTAP in build/test/")
    return None
