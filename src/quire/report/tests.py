# SPDX-License-Identifier: GPL-2.0
"""Print test outcomes as tables on the terminal."""

from collections.abc import Sequence

from rich.text import Text

from quire.boot.ktap import Status
from quire.host import console as stdout
from quire.host.console import columns, console, grid
from quire.kselftest import changes
from quire.kselftest.changes import SelftestResult
from quire.suites import matrix
from quire.suites.outcome import STYLE, Outcome
from quire.suites.seeded import Bug
from quire.suites.soak import Report

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
    table = grid()
    columns(table, "cases that do not pass on all kernels", no_wrap=True)
    columns(table, *(str(at + 1) for at in range(len(outcomes))), right=True, no_wrap=True)
    for name, row in matrix.rows(outcomes).items():
        cells = [Text(LETTER[status], STYLE[status]) if status else "" for status in row]
        table.add_row(name, *cells)
    out = console()
    out.print(table)
    out.print("  ".join(f"{letter} {status}" for status, letter in LETTER.items()))
    for number, boot in enumerate(outcomes, 1):
        out.print(f"{number}: {boot.name}: {'LOST' if boot.lost else boot.counts()}")


def show(boot: Outcome) -> None:
    """Print each case of a kernel, then counts."""
    out, kernel = console(), boot.kernel
    for case in boot.cases:
        why = f"  {case.reason}" if case.reason and case.status is not Status.FAIL else ""
        out.print(Text.assemble((f"{case.status:<4}", STYLE[case.status]), f" {case.name}{why}"))
    counts = "LOST" if boot.lost else boot.counts()
    out.print(f"{kernel.arch.label} {kernel.tree.label} {kernel.tree.base.version}: {counts}")


def show_soak(report: Report) -> None:
    """Print the operations and events of a soak test, and whether it passed."""
    kernel, pace = report.outcome.kernel, report.pace
    table = grid(pad_edge=True)
    columns(table, "operation")
    columns(table, "times", "seconds", right=True)
    for kind in report.kinds:
        table.add_row(kind.name, str(kind.count), f"{kind.milliseconds / 1000:.1f}")
    for name, count in report.events:
        table.add_row(name, str(count), "", style="dim")
    if report.kinds:
        console().print(table)
    word, style = ("fail", "red") if report.failed else ("pass", "green")
    tree, done = kernel.tree, f"{pace.operations} operations in {pace.seconds} s"
    stdout.show(word, style, f"{kernel.arch.name} {tree.label} {tree.base.version}: {done}")


def show_soaked_bug(bug: Bug, report: Report) -> None:
    """Print whether a soak test detected a bug, and how soon."""
    style, word = ("green", "seen") if report.noticed else ("red", "MISSED")
    trouble = report.trouble() if report.noticed else []
    by = next((line.lstrip("| ") for line in trouble if "after " in line), "".join(trouble[:1]))
    arch = report.outcome.kernel.arch.name
    stdout.show(word, style, f"{arch} {bug.name} in {report.pace.operations} operations  {by}")


def show_selftests(result: SelftestResult, sides: str) -> None:
    """Print the cases that do not pass on both sides, counts, and what was not compared."""
    out, arch = console(), result.arch.name
    table = grid(f"{arch} · {sides}\ncases that do not pass on both", pad_edge=True)
    columns(table, "case", *result.labels, "message")
    for name, case in changes.grouped(result.cases):
        told = " · ".join(text for text in (case.remark(result.labels), case.told) if text)
        statuses = [Text(status, STYLE[status]) for status in (case.a, case.b)]
        table.add_row(name, *statuses, Text(told))
    out.print(table)
    for label, count in zip(result.labels, result.counts, strict=True):
        text = ", ".join(f"{number} {status}" for status, number in count.items())
        out.print(f"{arch} {label}: {text}")
    for name, why in result.choice.left_out.items():
        out.print(f"{arch}: left out: {name}: {why}")
    if idle := ", ".join(changes.idle(result.cases)):
        what = f"no case passes on {result.labels[0]}, so nothing was compared"
        out.print(f"{arch}: {what}: {idle}")
