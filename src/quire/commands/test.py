# SPDX-License-Identifier: GPL-2.0
"""Run the guest's tests on the patched kernels (or the stock ones, or two sides of your own).

A pattern is a shell pattern on suite.case; without one all cases run. One CPU under -icount
repeats exactly; --smp 2 runs without -icount, so that races can happen.

  quire test                            all cases, both architectures
  quire test 'mremap.*' ARCH=arm64      one suite
  quire test --stock 'mremap.content*'  on the base
  quire test --all                      stock and patched, normal, debug, KASAN, 1 and 2 CPUs
  quire test --list                     list the cases
  quire test --kernel ~/linux/build     a kernel that is built already, stock or not
  quire test --junit results.xml        and for the CI of others: JUnit XML (--ktap FILE: KTAP)

lines/NAME/expected.toml lists the known failures of each kernel by name. For two sides of your own
(--series, --a and --b), B must pass what A passes.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire.arch import requirements
from quire.build import existing
from quire.build.kernel import Kernel
from quire.cluster import option
from quire.host import schema, shard
from quire.host.console import console
from quire.host.errors import UserError
from quire.session import Session
from quire.source.side import STOCK, Sides
from quire.source.tree import Tree
from quire.test import expected, junit, ktap, matrix, outcome, suite
from quire.test.expected import Expected
from quire.test.matrix import Column
from quire.test.outcome import Outcome
from quire.test.program import Program
from quire.test.suite import Boot, Verdict

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
    option.add(part)
    shard.add(part, "cases")
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
    part.add_argument(
        "--kernel",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="test this built kernel, an O= directory, and build none; may be repeated. With "
        "--stock, failures expected of stock are expected of it",
    )
    part.add_argument("--list", action="store_true", help="list suites, cases and workloads")
    part.add_argument("--json", action="store_true", help="print JSON (docs/ci.md)")
    part.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML there, too")
    part.add_argument("--ktap", type=Path, metavar="FILE", help="write KTAP there, too")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 1 when a case failed, 4 when a guest was lost."""
    with option.using(session, arguments) as (there, _):
        return _run(there, arguments)


def _run(session: Session, arguments: argparse.Namespace) -> int:
    if arguments.program:
        session = replace(session, programs=(arguments.program,))
    if arguments.shard != shard.ALL and (arguments.program or arguments.list):
        what = "--shard is for the cases that run, not for --program or --list"
        raise UserError(what, "", "leave one of them out")
    options = suite.BootOptions(
        arguments.smp, arguments.timeout, resume=arguments.resume, parameters=_part(arguments)
    )
    if arguments.kernel:
        return _given(session, arguments, options)
    requirements.require(session.architectures)
    sides = session.sides()
    lines = expected.read(sides.line.expected) if sides.ours else []
    if arguments.all:
        return _all(session, sides, arguments, options, lines)
    trees = _trees(sides, stock=arguments.stock)
    kernels = [session.kernel(arch, tree) for arch in session.architectures for tree in trees]
    return _boots(session, arguments, kernels, options, lines if sides.ours else sides)


def _part(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The parameter by which the guest runs only some of its cases."""
    return (f"{suite.SHARD}={arguments.shard}",) if arguments.shard != shard.ALL else ()


def _given(session: Session, arguments: argparse.Namespace, options: suite.BootOptions) -> int:
    """Test kernels that are built already."""
    if arguments.all:
        raise UserError("--all builds its kernels", "--kernel names built ones", "give only one")
    label = STOCK if arguments.stock else ""
    kernels = [
        existing.read(path, label or path.resolve().name, session.cross_compile)
        for path in arguments.kernel
    ]
    # One image with one name is one boot.
    kernels = list({(one.tree.label, one.image_sha256): one for one in kernels}.values())
    requirements.require(list(dict.fromkeys(kernel.arch for kernel in kernels)))
    lines = []
    if arguments.stock:
        for kernel in kernels:
            lines += expected.read(session.line(kernel.tree.base).expected)
    return _boots(session, arguments, kernels, options, lines)


def _boots(
    session: Session,
    arguments: argparse.Namespace,
    kernels: Sequence[Kernel],
    options: suite.BootOptions,
    known: list[Expected] | Sides,
) -> int:
    """Boot each kernel and report. `known`: the expected failures; for two sides without a list,
    the sides."""
    if arguments.list:
        print("\n".join(suite.listing(session, kernels[0])))
        return 0
    orders = [suite.Job(kernel, options) for kernel in kernels]
    results = suite.several(session, orders, *_what(arguments))
    lines = known
    if isinstance(lines, Sides):
        lines = suite.inherited([one for one in results if isinstance(one, Verdict)], lines)
    outcomes = [
        outcome.of(
            f"{kernel.arch.name}-{kernel.tree.label}",
            kernel,
            result.cases if isinstance(result, Verdict) else result,
            lines,
        )
        for kernel, result in zip(kernels, results, strict=True)
    ]
    _write(arguments, outcomes)
    verdicts = suite.complete(results)
    if arguments.json:
        print(json.dumps(_as_json(outcomes), indent=1))
    else:
        for one in outcomes:
            _show(one)
    error = suite.failures(verdicts, lines)
    if error:
        raise error
    return 0


def _write(arguments: argparse.Namespace, outcomes: Sequence[Outcome]) -> None:
    """The files for other people's CI; also when a guest was lost."""
    if arguments.junit:
        arguments.junit.write_text(junit.text(outcomes), "utf-8")
    if arguments.ktap:
        arguments.ktap.write_text(ktap.text(outcomes), "utf-8")


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
    outcomes = matrix.outcomes(columns, lines)
    _write(arguments, outcomes)
    if arguments.json:
        print(json.dumps(_as_json(outcomes), indent=1))
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


def _show(of: Outcome) -> None:
    out = console()
    count: dict[str, int] = {}
    for case in of.cases:
        count[case.status] = count.get(case.status, 0) + 1
        why = f"  {case.reason}" if case.reason and case.status != outcome.FAIL else ""
        out.print(Text.assemble((f"{case.status:<4}", STYLE[case.status]), f" {case.name}{why}"))
    summary = ", ".join(f"{number} {status}" for status, number in sorted(count.items()))
    tree = of.kernel.tree
    out.print(f"{of.kernel.arch.name} {tree.label} {tree.base.version}: {summary}")


def _as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The document of docs/schema/test.json."""
    return schema.head("test") | {"kernels": [outcome.as_json(one) for one in outcomes]}
