# SPDX-License-Identifier: GPL-2.0
"""Print test outcomes as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from quire.boot.ktap import Status
from quire.host.console import console
from quire.suites import matrix
from quire.suites.outcome import STYLE, Outcome

# Abbreviations for the table of all kernels, one column each.
LETTER = {
    Status.PASS: ".",
    Status.SKIP: "s",
    Status.EXPECTED: "x",
    Status.LEFT_OUT: "-",
    Status.FAIL: "F",
}


def show_all(outcomes: Sequence[Outcome]) -> None:
    """Print each case that does not pass on every kernel, then counts for each kernel."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cases that do not pass on all kernels", no_wrap=True)
    for number in range(len(outcomes)):
        table.add_column(str(number + 1), justify="right", no_wrap=True)
    for name, row in matrix.rows(outcomes).items():
        cells = [Text(LETTER[status], STYLE[status]) if status else "" for status in row]
        table.add_row(name, *cells)
    out = console()
    out.print(table)
    out.print("  ".join(f"{letter} {status}" for status, letter in LETTER.items()))
    for number, boot in enumerate(outcomes, 1):
        out.print(f"{number}: {boot.name}: {'LOST' if boot.lost else boot.counts()}")


def show(boot: Outcome) -> None:
    out, kernel = console(), boot.kernel
    for case in boot.cases:
        why = f"  {case.reason}" if case.reason and case.status is not Status.FAIL else ""
        out.print(Text.assemble((f"{case.status:<4}", STYLE[case.status]), f" {case.name}{why}"))
    counts = "LOST" if boot.lost else boot.counts()
    out.print(f"{kernel.arch.label} {kernel.tree.label} {kernel.tree.base.version}: {counts}")
