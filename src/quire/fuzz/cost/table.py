# SPDX-License-Identifier: GPL-2.0
"""Programs' costs, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.table import Table
from rich.text import Text

from quire.fuzz.cost import growth, regression
from quire.fuzz.cost.judge import CostJudge
from quire.fuzz.language.program import Program
from quire.host.console import console

# Functions that a row names.
NAMED = 3


def show(judge: CostJudge, programs: Mapping[int, Program]) -> None:
    """Run the programs a few times, and print what each of their operations costs on both sides."""
    costs = judge.repeat(programs)
    for number, program in programs.items():
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("operation", no_wrap=True)
        for name in (*judge.targets.labels, "more"):
            table.add_column(name, justify="right")
        table.add_column("what grew")
        for (origin, step), (left, right) in costs.items():
            if origin != number:
                continue
            a, b = growth.least(left), growth.least(right)
            op = regression.operation(program, step)
            grown = growth.between(a, b, judge.watch)
            names = [f"{name} +{more}" for name, more in growth.symbols(a, b)[:NAMED]]
            sums = [total.text() for total in grown if total.name != growth.INSNS]
            table.add_row(
                op.text() if op else f"{step[2:]} {regression.verb(op, step)}",
                f"{a.kernel}",
                f"{b.kernel}",
                f"{b.kernel - a.kernel:+}",
                Text("; ".join([*sums, ", ".join(names)]), "red" if grown else ""),
            )
        console().print(table)
