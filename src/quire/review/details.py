# SPDX-License-Identifier: GPL-2.0
"""Details that a reply omits: all patches, benchmarks, cases and programs, and log paths."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from quire.boot.ktap import Status
from quire.fuzz.hunt import Hunt
from quire.host.cache import sha256
from quire.measure.bench import Provenance
from quire.measure.comparison import Comparison, Move, grown
from quire.report.table import number
from quire.report.waterfall import events
from quire.review.found import Found, Tested
from quire.review.verdict import plural, wrap
from quire.suites.outcome import SKIPPED

# Maximum lines of a program or of a case's output.
LINES = 12


def text(found: Found) -> str:
    """Return all details."""
    a, b = found.sides.both
    lines = [f"Side A: {a.about}", f"Side B: {b.about}"]
    lines += [f"  {patch.subject()}" for patch in found.sides.series.patches]
    for rows, provenance in found.parts.values():
        lines += ["", *_rows(rows, provenance)]
    for (arch, benchmark), one in found.culprits.items():
        change = f"{number(one.before)} → {number(one.after)}"
        lines += [f"  {arch}, {benchmark.heading}: {change} by {one.name}: {one.subject}"]
    for tested in found.tests:
        lines += ["", *_tests(tested)]
    for hunt in found.hunts:
        lines += ["", *_programs(hunt)]
    for loss in found.losses:
        lines += ["", loss.text()]
        lost = next(lost for lost in (*loss.b, *loss.a) if lost)
        lines += [f"  {line}" for line in lost.text().splitlines()]
    lines += ["", "Left out:", *(f"  {note}" for note in found.notes)] if found.notes else []
    return "\n".join(lines)


def _rows(rows: Comparison, provenance: Provenance) -> Iterator[str]:
    """How benchmarks were counted, and all results."""
    kernel, names = provenance.b.kernel, ", ".join(path.name for path in provenance.fragments)
    yield f"{rows.arch.title}: one virtual CPU of QEMU {provenance.b.plugin.qemu}"
    yield f"  {kernel.toolchain.version}; allnoconfig with {names}"
    yield f"  (.config: sha256 {sha256(kernel.config)[:16]})"
    yield "  Each line is a benchmark, guest/workloads/NAME.c, with its folio size."
    for row in rows.rows:
        move = Move(0, row.a, row.b)
        figures = (number(row.a.insns), number(row.b.insns), f"{move.share:+.1%}")
        yield f"  {row.benchmark.heading:<36}" + "".join(f"{text:>10}" for text in figures)
        if move.events:
            yield f"    {'; '.join(events(move))}"
        if row.null:
            yield f"    {row.null.text}"
        if said := [f"{g.symbol} {number(g.a.insns)} → {number(g.b.insns)}" for g in grown(row)]:
            yield f"    more in: {', '.join(said[:LINES])}"


def _tests(tested: Tested) -> Iterator[str]:
    """Case counts, reasons for skips, and the output of failed cases."""
    for outcome, words in ((tested.a, "without"), (tested.b, "with")):
        yield f"{outcome.kernel.arch.title}, tests {words} the series: {outcome.counts()}"
    skips = (case for case in tested.b.cases if case.status in SKIPPED)
    yield from (f"  skipped: {reason}" for reason in dict.fromkeys(case.reason for case in skips))
    both = [case.name for case in tested.b.cases if case.status is Status.EXPECTED]
    yield from wrap(f"  fail on both sides: {', '.join(both)}") if both else ()
    for case in tested.b.failed:
        yield f"  FAIL {case.name} {case.reason}".rstrip()
        yield from (f"    {line}" for line in case.diagnostics[-LINES:])
    yield f"  whole log: {tested.b.logs}"


def _programs(hunt: Hunt) -> Iterator[str]:
    """Findings of generated programs, each with its minimised program."""
    for judge in hunt.judges:
        summary = judge.summary(hunt.targets, hunt.seconds)
        findings = judge.tally.findings
        yield from wrap(f"Generated programs, {summary}{plural(len(findings), 'finding')}")
        for found in findings:
            yield f"  {judge.finding} {found.number}: {found.fault.text}"
            yield from (f"    {op.text()}" for op in found.program)
    yield from itertools.chain(f"  {line}" for line in hunt.problems)
