# SPDX-License-Identifier: GPL-2.0
"""The reply to a posted series: plain text for the list, and the same as outcomes of boots."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from quire.boot.ktap import Status
from quire.fuzz.hunt import Hunt
from quire.host.cache import sha256
from quire.measure.comparison import Comparison, Row
from quire.measure.moves import Move
from quire.report.data import Provenance
from quire.report.steps import events
from quire.report.table import number
from quire.source.side import Sides
from quire.test.outcome import Case, Outcome

# Of a program, or of a case's output, so many lines.
LINES = 12


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

    def text(self, seconds: float) -> str:
        """The reply."""
        lines = [self.sides.title]
        lines += [f"  {patch.subject()}" for patch in self.sides.series.patches]
        for rows, made in self.parts.values():
            lines += ["", *self._rows(rows, made)]
        for outcome in self.tests:
            lines += ["", f"Tests, {outcome.name}: {'LOST' if outcome.lost else outcome.counts()}"]
            lines += [outcome.lost.text()] if outcome.lost else []
            for case in outcome.failed:
                lines += [f"  FAIL {case.name} {case.reason}", *case.diagnostics[-LINES:]]
        for hunt in self.hunts:
            lines += ["", *_programs(hunt)]
        lines += ["", "Not done:", *(f"  {name}" for name in self.left)] if self.left else []
        words = shlex.join(word for word in self.command if not word.startswith("O="))
        lines += ["", f"To repeat this ({seconds / 60:.0f} minutes):", f"  quire {words}"]
        return "\n".join(lines)

    def _rows(self, rows: Comparison, made: Provenance) -> Iterator[str]:
        """A table of the rows that moved, and the names of the others."""
        kernel, still = made.b.kernel, []
        qemu = made.b.plugin.qemu
        yield f"{rows.arch.title}: instructions per page on one virtual CPU, QEMU {qemu}"
        names = ", ".join(path.name for path in made.fragments)
        yield f"  {kernel.toolchain.version}; allnoconfig and {names}"
        yield f"  (.config: sha256 {sha256(kernel.config)[:16]})"
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
                grown = [line for line in row.symbols if line.change() > 0][:3]
                said = (f"{g.symbol} {number(g.a.insns)} → {number(g.b.insns)}" for g in grown)
                yield f"    COSTS MORE: {', '.join(said)}"
            yield from (f"    MORE CALLS: {calls.what}" for calls in row.excess)
        yield f"  within 0.3 %, with the same events: {', '.join(still) or 'none'}"


def _programs(hunt: Hunt) -> Iterator[str]:
    """What generated programs showed; each finding with its shrunk program."""
    for judge in hunt.judges:
        summary = judge.account(hunt.seconds).summary
        yield f"Programs, {summary}{len(judge.tally.findings)} findings"
        for found in judge.tally.findings:
            yield f"  {judge.words.finding} {found.number}: {found.fault.text}"
            yield from (f"    {op.text()}" for op in found.program[:LINES])
