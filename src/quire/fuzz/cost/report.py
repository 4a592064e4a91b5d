# SPDX-License-Identifier: GPL-2.0
"""What a hunt came to, and a program's costs operation by operation: as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire.arch import Architecture
from quire.fuzz.cost import finding, growth
from quire.fuzz.cost.detection import Detection
from quire.fuzz.cost.finding import SHOWN, Finding
from quire.fuzz.cost.hunt import LAST, Hunt
from quire.fuzz.language.program import Program
from quire.host.console import console

# Functions that the table of a program names in each row.
NAMED = 3


def show(hunt: Hunt) -> None:
    """The totals, what the series means, and the findings."""
    out, tally = console(), hunt.tally
    text = (
        f"costs: {tally.operations} operations compared, in {tally.suspects} programs one was "
        f"dearer at first, {tally.confirmed} operations again and again; "
    )
    out.print(Text.assemble(text, (f"{len(hunt.findings)} findings", "bold")))
    for each in hunt.allowed:
        number = tally.allowed[each.name]
        word = f"meant in {number} operations" if number else "no operation needed the entry"
        out.print(Text(f"  {word}: {each.name} ({each.reason})"))
    for name in hunt.meter.watch.left_out:
        out.print(Text(f"  not watched, as not both kernels have it: {name}"))
    for found in hunt.findings:
        programs = hunt.tally.signatures[found.signature]
        out.print(Text.assemble((f"dearer {found.number}", "red"), f" ×{programs} {found.title}"))
        out.print(Text(f"  {', '.join(found.functions)}"))
        out.print("\n".join(f"  {op.text()}" for op in found.program))


def as_json(hunt: Hunt) -> dict[str, Any]:
    """The same, with more functions."""
    tally = hunt.tally
    return {
        "operations": tally.operations,
        "suspects": tally.suspects,
        "confirmed": tally.confirmed,
        "allowed": {each.name: tally.allowed[each.name] for each in hunt.allowed},
        "not watched": list(hunt.meter.watch.left_out),
        "findings": [_finding(hunt, found) for found in hunt.findings],
    }


def _finding(hunt: Hunt, found: Finding) -> dict[str, Any]:
    return {
        "number": found.number,
        "program": [op.text() for op in found.program],
        "step": found.dearer.step,
        "operation": found.kind,
        "programs": hunt.tally.signatures[found.signature],
        "grown": {each.name: [each.a, each.b] for each in found.dearer.grown},
        "functions": dict(found.dearer.symbols[: 3 * SHOWN]),
    }


def show_regressions(arch: Architecture, results: Sequence[Detection], *, as_json: bool) -> None:
    """Print a row per seeded regression."""
    if as_json:
        rows = [_regression(result) for result in results]
        print(json.dumps({"architecture": arch.name, "regressions": rows}, indent=1))
        return
    table = Table(title=f"{arch.name} · seeded costs", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("regression", no_wrap=True)
    table.add_column("programs", justify="right")
    table.add_column("operations", justify="right")
    table.add_column("what grew")
    for result in results:
        found = result.finding
        size = str(len(found.program)) if found else "missed"
        title = found.title if found else ""
        table.add_row(result.bug.name, str(result.programs), size, Text(title))
    console().print(table)


def _regression(result: Detection) -> dict[str, Any]:
    found = result.finding
    return {
        "regression": result.bug.name,
        "programs": result.programs,
        "operations": len(found.program) if found else None,
        "grown": found.title if found else None,
        "functions": dict(found.dearer.symbols[:SHOWN]) if found else {},
    }


def show_programs(hunt: Hunt, programs: Mapping[int, Program]) -> None:
    """Run the programs a few times, and print what each of their operations costs on both sides."""
    costs = hunt.repeat(programs, LAST, seed=LAST)
    a, b = hunt.meter.pair.labels
    for number, program in programs.items():
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("operation", no_wrap=True)
        for name in (f"{a}", f"{b}", "more"):
            table.add_column(name, justify="right")
        table.add_column("what grew")
        for (of, step), (left, right) in costs.items():
            if of != number:
                continue
            one, other = growth.least(left), growth.least(right)
            op = finding.operation(program, step)
            grown = growth.between(one, other, hunt.meter.watch)
            names = [f"{name} +{more}" for name, more in growth.symbols(one, other)[:NAMED]]
            sums = [each.text() for each in grown if each.name != growth.INSNS]
            table.add_row(
                op.text() if op else f"{step[2:]} {finding.kind(program, step)}",
                f"{one.kernel}",
                f"{other.kernel}",
                f"{other.kernel - one.kernel:+}",
                Text("; ".join([*sums, ", ".join(names)]), "red" if grown else ""),
            )
        console().print(table)
