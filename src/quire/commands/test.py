# SPDX-License-Identifier: GPL-2.0
"""Run the guest's tests on the patched kernels (or the stock ones, or two sides of your own).

A pattern is a shell pattern on suite.case; without one all cases run. One CPU under -icount
repeats exactly; --smp 2 runs without -icount, so that races can happen.

  quire test                            all cases, both architectures
  quire test 'mremap.*' ARCH=arm64      one suite
  quire test --stock 'mremap.content*'  on the base
  quire test --all                      stock and patched, normal, debug, KASAN, 1 and 2 CPUs
  quire test --list                     list the cases

lines/NAME/expected lists the known failures of each kernel by name. For two sides of your own
(--series, --a and --b), B must pass what A passes.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire.arch import requirements
from quire.host.console import console
from quire.session import Session
from quire.source.side import Sides
from quire.source.tree import Tree
from quire.test import expected, matrix, suite
from quire.test.expected import Expected
from quire.test.matrix import Column
from quire.test.program import Program
from quire.test.suite import Boot

STYLE = {"pass": "green", "fail": "red", "skip": "yellow", "expected": "cyan"}
# For the table of all kernels, one column each.
LETTER = {
    "pass": ".",
    "skip": "s",
    "expected": "x",
    matrix.LEFT_OUT: "-",
    "fail": "F",
    "": " ",
}


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select cases, kernels and the machine."""
    part.add_argument("pattern", nargs="*", help="suite.case, with * and ? (default: all)")
    part.add_argument("--all", action="store_true", help="test all kernels, side by side")
    part.add_argument(
        "--resume",
        action="store_true",
        help="reuse the boots that an earlier run of the same kernel and guest completed",
    )
    part.add_argument("--stock", action="store_true", help="test the base, without the series")
    part.add_argument("--smp", type=int, default=1, metavar="N", help="virtual CPUs (default 1)")
    part.add_argument(
        "--timeout",
        type=float,
        default=suite.TIMEOUT,
        metavar="SECONDS",
        help="treat the guest as hung after this time (default %(default).0f)",
    )
    part.add_argument(
        "--program",
        type=Path,
        metavar="FILE",
        help="a test of your own that prints KTAP: a C file or a static binary; PATTERN then "
        "holds its arguments",
    )
    part.add_argument("--list", action="store_true", help="list suites, cases and workloads")
    part.add_argument("--json", action="store_true", help="print JSON")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 1 when a case failed, 4 when a guest was lost."""
    requirements.require(session.architectures)
    if arguments.program:
        session = replace(session, programs=(arguments.program,))
    options = suite.BootOptions(
        cpus=arguments.smp, timeout=arguments.timeout, resume=arguments.resume
    )
    sides = session.sides()
    lines = expected.read(sides.line.expected) if sides.ours else []
    if arguments.all:
        return _all(session, sides, arguments, options, lines)
    trees = _trees(sides, stock=arguments.stock)
    kernels = [session.kernel(arch, tree) for arch in session.architectures for tree in trees]
    if arguments.list:
        print("\n".join(suite.listing(session, kernels[0])))
        return 0
    orders = [suite.Job(kernel, options) for kernel in kernels]
    results = suite.several(session, orders, *_what(arguments))
    verdicts = suite.complete(results)
    if not sides.ours:
        lines = suite.inherited(verdicts, sides)
    if arguments.json:
        print(json.dumps([_as_json(verdict, lines) for verdict in verdicts], indent=1))
    else:
        for verdict in verdicts:
            _show(verdict, lines)
    error = suite.failures(verdicts, lines)
    if error:
        raise error
    return 0


def _what(arguments: argparse.Namespace) -> tuple[list[str], Boot | None]:
    """Patterns for our suites, or arguments and a program of the user's."""
    if arguments.program:
        return arguments.pattern, Program(arguments.program)
    return arguments.pattern or ["*"], None


def _trees(sides: Sides, *, stock: bool) -> list[Tree]:
    """The trees to boot: B, or A on request. With a series that is not ours, B must pass what A
    passes, so A runs as well."""
    if stock or sides.same:
        return [sides.a.tree]
    return [sides.b.tree] if sides.ours else [sides.a.tree, sides.b.tree]


def _all(
    session: Session,
    sides: Sides,
    arguments: argparse.Namespace,
    options: suite.BootOptions,
    lines: list[Expected],
) -> int:
    columns = matrix.run(session, sides, arguments.pattern or ["*"], options)
    if not sides.ours:
        lines = suite.inherited([one.verdict for one in columns if one.verdict], sides)
    directory = session.cache.root / "test"
    matrix.keep(directory, columns, lines)
    if arguments.json:
        print((directory / "matrix.json").read_text())
    else:
        show_all(columns, lines)
    error = matrix.verdict(columns, lines)
    if error:
        raise error
    return 0


def show_all(columns: list[Column], lines: list[Expected]) -> None:
    """A row for each case that does not pass on every kernel, then a count for each kernel."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("what is not `pass` everywhere", no_wrap=True)
    for number in range(len(columns)):
        table.add_column(str(number + 1), justify="right", no_wrap=True)
    for name, row in matrix.rows(columns, lines).items():
        table.add_row(name, *(Text(LETTER[status], STYLE.get(status, "")) for status in row))
    out = console()
    out.print(table)
    out.print("  ".join(f"{letter} {status}" for status, letter in LETTER.items() if status))
    for number, column in enumerate(columns, 1):
        found = list(column.statuses(lines).values())
        count = ", ".join(f"{found.count(status)} {status}" for status in sorted(set(found)))
        out.print(f"{number}: {column.name}: {'LOST' if column.lost else count}")


def _show(verdict: suite.Verdict, lines: list[Expected]) -> None:
    out = console()
    kernel = verdict.kernel
    count: dict[str, int] = {}
    for name, test in verdict.cases:
        status = test.outcome
        known = expected.why(lines, kernel, name) if test.failed else ""
        status = "expected" if known else status
        count[status] = count.get(status, 0) + 1
        why = f"  {known or test.reason}" if known or test.reason else ""
        out.print(Text.assemble((f"{status:<4}", STYLE[status]), f" {name}{why}"))
    summary = ", ".join(f"{number} {status}" for status, number in sorted(count.items()))
    out.print(f"{kernel.arch.name} {kernel.tree.label} {kernel.tree.base.version}: {summary}")


def _as_json(verdict: suite.Verdict, lines: list[Expected]) -> dict[str, Any]:
    kernel = verdict.kernel
    known = {name: expected.why(lines, kernel, name) for name, test in verdict.cases if test.failed}
    return {
        "architecture": kernel.arch.name,
        "tree": kernel.tree.label,
        "base": str(kernel.tree.base.version),
        "cases": [
            {
                "name": name,
                "status": "expected" if known.get(name) else test.outcome,
                "reason": known.get(name) or test.reason,
                "diagnostics": test.diagnostics,
            }
            for name, test in verdict.cases
        ],
    }
