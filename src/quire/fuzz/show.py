# SPDX-License-Identifier: GPL-2.0
"""Print the results of a hunt or of a search for seeded bugs, as text and as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from quire.arch import Architecture
from quire.fuzz.cost import growth
from quire.fuzz.cost.costs import LAST, CostJudge
from quire.fuzz.detect import Detection
from quire.fuzz.hunt import Hunt, answer
from quire.fuzz.judge import Judge
from quire.fuzz.language.program import Numbered
from quire.fuzz.runner import Targets
from quire.host.console import columns, console, grid

NAMED = 3  # functions that a row of a program's costs names
WIDTH = 90  # characters of a fault in the table of bugs


def show(hunt: Hunt, *, as_json: bool) -> None:
    """Print the results of a hunt, and what its programs reached."""
    if as_json:
        print(json.dumps(figures(hunt), indent=1))
    else:
        for judge in hunt.judges:
            _show(hunt, judge)
    if hunt.guide:
        hunt.guide.report(quiet=as_json)


def _show(hunt: Hunt, judge: Judge[Any]) -> None:
    """Print the totals, what is excused, and the findings."""
    out, tally, summary = console(), judge.tally, judge.summary(hunt.targets, hunt.seconds)
    out.print(Text.assemble(summary, (f"{len(tally.findings)} findings", "bold")))
    for note in judge.notes():
        out.print(Text(note))
    for finding in tally.findings:
        name = f"{judge.finding} {finding.number}"
        times = f" ×{tally.kinds[finding.kind]}" if finding.kind else ""
        out.print(Text.assemble((name, "red"), f"{times} {finding.fault.text}"))
        if finding.fault.about:
            out.print(Text(f"  {finding.fault.about}"))
        out.print("\n".join(f"  {op.text()}" for op in finding.program))


def figures(hunt: Hunt) -> dict[str, Any]:
    """Return the results of a hunt for JSON."""
    figures = []
    for judge in hunt.judges:
        rows = []
        for finding in judge.tally.findings:
            operations = [op.text() for op in finding.program]
            row = {"number": finding.number, "program": operations, **finding.fault.details}
            if finding.fault.kind:
                row["programs"] = judge.tally.kinds[finding.kind]
            rows.append(row)
        figures.append({**judge.figures(hunt.targets), "findings": rows})
    head = {"architecture": hunt.targets.arch.name, "seconds": hunt.seconds}
    cost = {"cost": figures[1]} if len(figures) > 1 else {}
    return {**head, "boots": hunt.targets.boots, **figures[0], **cost}


def show_bugs(
    arch: Architecture, judge: Judge[Any], results: Sequence[Detection], *, as_json: bool
) -> None:
    """Print a row per bug."""
    if as_json:
        rows = []
        for result in results:
            size = len(result.finding.program) if result.finding else None
            row = judge.row(result.finding and result.finding.fault)
            head = {judge.bug: result.bug.name, "programs": result.programs, "operations": size}
            tail = {"seconds": round(result.seconds, 1), "reason": result.bug.no_program}
            rows.append({**head, **row, **tail})
        print(json.dumps({"architecture": arch.name, f"{judge.bug}s": rows}, indent=1))
        return
    title = f"{arch.name} · {judge.bugs}"
    table = grid(title, pad_edge=True)
    columns(table, judge.bug, no_wrap=True)
    columns(table, "programs", "seconds", "operations", right=True)
    columns(table, f"{judge.shows}, or why it is not searched for")
    for result in results:
        finding, cells = result.finding, ("–", "–", "–", result.bug.no_program)
        seconds = f"{result.seconds:.1f}"
        if finding:
            length = str(len(finding.program)) if finding.program != finding.original else ""
            cells = str(result.programs), seconds, length, finding.fault.text[:WIDTH]
        elif result.missed:
            cells = str(result.programs), seconds, "missed", ""
        table.add_row(result.bug.name, *(Text(cell) for cell in cells))
    console().print(table)


def show_costs(targets: Targets, judge: CostJudge, programs: Numbered) -> None:
    """Run the programs a few times, and print what each of their operations costs on both sides."""
    costs, _ = answer(targets, judge.measure(programs, LAST, LAST, symbols=True))
    for number, program in programs.items():
        table = grid(pad_edge=True)
        columns(table, "operation", no_wrap=True)
        columns(table, *targets.labels, "more", right=True)
        columns(table, "what grew")
        for (origin, step), (left, right) in costs.items():
            if origin != number:
                continue
            a, b = growth.least(left), growth.least(right)
            grown = growth.between(a, b, judge.watch)
            row = growth.Regression(step, program, a, b, tuple(grown))
            sums = [total.text() for total in grown if total.name != growth.INSNS]
            table.add_row(
                row.op.text() if row.op else f"{step[2:]} {row.verb}",
                f"{a.kernel}",
                f"{b.kernel}",
                f"{b.kernel - a.kernel:+}",
                Text("; ".join([*sums, ", ".join(row.functions[:NAMED])]), "red" if grown else ""),
            )
        console().print(table)
