# SPDX-License-Identifier: GPL-2.0
"""The reply to a posted series: plain text for the list, and the same as outcomes of boots."""

from __future__ import annotations

import itertools
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from quire.boot.ktap import Status
from quire.fuzz.hunt import Hunt
from quire.host.cache import sha256
from quire.measure.comparison import Comparison, Row
from quire.measure.moves import Move, grown
from quire.report.data import Provenance
from quire.report.steps import events
from quire.report.table import number
from quire.source.side import Sides
from quire.test.outcome import Case, Outcome

# Of a program, or of a case's output, so many lines; so many cases that fail with their output.
LINES, CASES = 12, 3
# Columns of a mail.
WIDTH = 76
ROWS = "Each row is a program, guest/workloads/NAME.c, with the size of its folios."
SAME = "within 0.3 %, with as many atomics, barriers, locks and TLB invalidations"
WORDS = {Status.SKIP: "skipped", Status.EXPECTED: "fail without the series, too"}


@dataclass
class Reply:
    """What was found so far; `limit` is the share by which a row may cost more."""

    sides: Sides
    limit: float
    command: Sequence[str]
    # By architecture.
    parts: dict[str, tuple[Comparison, Provenance]] = field(default_factory=dict)
    # And what else lost a guest.
    tests: list[Outcome] = field(default_factory=list)
    hunts: list[Hunt] = field(default_factory=list)
    # What the time did not allow.
    left: list[str] = field(default_factory=list)

    def outcomes(self) -> list[Outcome]:
        """Everything as boots with cases: what fails is what the series has to answer for."""
        found = list(self.tests)
        for rows, made in self.parts.values():
            cases = [Case(f"bench.{row.title}", *self._verdict(row)) for row in rows.rows]
            found.append(Outcome(f"{rows.arch.name}-rows", made.b.kernel, tuple(cases)))
        for hunt in self.hunts:
            cases = [Case(f"fuzz.{line}", Status.FAIL) for line in hunt.problems]
            kernel = hunt.targets.tried.kernel
            found.append(Outcome(f"{kernel.arch.name}-fuzz", kernel, tuple(cases)))
        return found

    def _verdict(self, row: Row) -> tuple[Status, str]:
        move = Move(0, row.a, row.b)
        if move.share <= self.limit and not row.excess:
            return Status.PASS, ""
        return Status.FAIL, f"{number(row.a.insns)} → {number(row.b.insns)} ({move.share:+.1%})"

    def text(self) -> str:
        """The reply."""
        a, b = self.sides.both
        lines = [f"Base: {a.about}", f"Series: {b.about.removeprefix(f'{a.about}, ')}"]
        lines += [f"  {patch.subject()}" for patch in self.sides.series.patches]
        for rows, made in self.parts.values():
            lines += ["", *self._rows(rows, made)]
        lines += ["", *itertools.chain(*map(self._tests, self.tests))] if self.tests else []
        for hunt in self.hunts:
            lines += ["", *_programs(hunt)]
        lines += ["", "Not done:", *(f"  {name}" for name in self.left)] if self.left else []
        words = shlex.join(word for word in self.command if not word.startswith("O="))
        lines += ["", "To repeat this:", f"  quire {words}"]
        return "\n".join(lines)

    def _tests(self, outcome: Outcome) -> Iterator[str]:
        """The cases of a boot: their numbers, and those that only the series fails."""
        arch, stock = outcome.kernel.arch.title, outcome.kernel.tree.label == self.sides.a.label
        if outcome.lost:
            yield f"LOST: {outcome.name}"
            yield from (f"  {line}" for line in outcome.lost.text().splitlines())
            return
        words = WORDS | ({Status.EXPECTED: "fail"} if stock else {})
        statuses = sorted({case.status for case in outcome.cases})
        counts = (f"{outcome.count(status)} {words.get(status, status)}" for status in statuses)
        what = "rows" if all(case.name.startswith("bench.") for case in outcome.cases) else "tests"
        yield f"{arch}, {what} {'without' if stock else 'with'} the series: {', '.join(counts)}"
        why = dict.fromkeys(case.reason for case in outcome.cases if case.status is Status.SKIP)
        yield from (f"  skipped: {reason}" for reason in why)
        for case in outcome.failed[:CASES]:
            yield f"  FAIL {case.name} {case.reason}".rstrip()
            yield from (f"    {line}" for line in case.diagnostics[-LINES:])
        if further := outcome.failed[CASES:]:
            yield from _wrap(f"  FAIL {', '.join(case.name for case in further)}")

    def _rows(self, rows: Comparison, made: Provenance) -> Iterator[str]:
        """A table of the rows that moved, and the names of the others."""
        kernel, still = made.b.kernel, []
        qemu = made.b.plugin.qemu
        yield f"{rows.arch.title}: instructions per 4 KiB page, on one virtual CPU of QEMU {qemu}"
        names = ", ".join(path.name for path in made.fragments)
        yield f"  {kernel.toolchain.version}; allnoconfig with {names}"
        yield f"  (.config: sha256 {sha256(kernel.config)[:16]})"
        yield f"  {ROWS}"
        yield f"  {'row':<36}{'before':>10}{'after':>10}{'change':>10}"
        for row in rows.rows:
            move, unit = Move(0, row.a, row.b), row.cell.workload.unit
            if not move.moved and not row.excess:
                still.append(row.title)
                continue
            name = row.title if unit == "page" else f"{row.title} (a {unit})"
            figures = (number(row.a.insns), number(row.b.insns), f"{move.share:+.1%}")
            yield f"  {name:<36}" + "".join(f"{text:>10}" for text in figures)
            if move.events:
                yield f"    {'; '.join(events(move))}"
            if move.share > self.limit:
                said = (
                    f"{g.symbol} {number(g.a.insns)} → {number(g.b.insns)}" for g in grown(row)[:3]
                )
                yield f"    COSTS MORE: {', '.join(said)}"
            yield from (f"    MORE CALLS: {calls.what}" for calls in row.excess)
        if still:
            yield from _wrap(f"  {SAME}: {', '.join(still)}")


def _programs(hunt: Hunt) -> Iterator[str]:
    """What generated programs showed; each finding with its shrunk program."""
    for judge in hunt.judges:
        summary = judge.account(hunt.seconds).summary
        count = len(judge.tally.findings)
        findings = f"{count} finding{'s' if count != 1 else ''}"
        yield from _wrap(f"Generated programs, {summary}{findings}")
        for found in judge.tally.findings:
            yield f"  {judge.words.finding} {found.number}: {found.fault.text}"
            yield from (f"    {op.text()}" for op in found.program[:LINES])


def _wrap(text: str) -> list[str]:
    """A sentence in lines that fit a mail."""
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, WIDTH, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
