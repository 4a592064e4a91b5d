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
from quire.boot.ktap import Status
from quire.build import existing
from quire.build.kernel import Kernel
from quire.cluster import option
from quire.host import schema, shard
from quire.host.console import console
from quire.host.errors import UserError
from quire.session import Session
from quire.source.side import STOCK, Sides
from quire.source.tree import Tree
from quire.test import expected, export, matrix, outcome, suite
from quire.test.expected import Expected
from quire.test.outcome import STYLE, Outcome
from quire.test.suite import Job, Tests

# For the table of all kernels, one column each.
LETTER = {
    Status.PASS: ".",
    Status.SKIP: "s",
    Status.EXPECTED: "x",
    Status.LEFT_OUT: "-",
    Status.FAIL: "F",
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
    known = expected.read(sides.line.expected) if sides.ours else sides
    if arguments.all:
        return _report(session, arguments, matrix.jobs(session, sides, options), known)
    trees = _trees(sides, stock=arguments.stock)
    kernels = [session.kernel(arch, tree) for arch in session.architectures for tree in trees]
    return _boots(session, arguments, kernels, options, known)


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
    named = {(kernel.tree.label, kernel.image_sha256): kernel for kernel in kernels}
    kernels = list(named.values())
    requirements.require(list(dict.fromkeys(kernel.arch for kernel in kernels)))
    known = []
    if arguments.stock:
        for kernel in kernels:
            known += expected.read(session.line(kernel.tree.base).expected)
    return _boots(session, arguments, kernels, options, known)


def _boots(
    session: Session,
    arguments: argparse.Namespace,
    kernels: Sequence[Kernel],
    options: suite.BootOptions,
    known: list[Expected] | Sides,
) -> int:
    """List the cases of the first kernel, or boot each kernel and report."""
    if arguments.list:
        print("\n".join(suite.listing(session, kernels[0])))
        return 0
    return _report(session, arguments, [Job(kernel, options) for kernel in kernels], known)


def _report(
    session: Session,
    arguments: argparse.Namespace,
    jobs: Sequence[Job],
    known: list[Expected] | Sides,
) -> int:
    """Run the boots and report. `known`: the expected failures; for two sides without a list, the
    sides."""
    outcomes = suite.several(session, jobs, *_what(arguments))
    if isinstance(known, Sides):
        known = expected.inherited(outcomes, known)
    outcomes = expected.resolve(outcomes, known)
    if arguments.all:
        matrix.keep(session.cache.root / "test", outcomes)
    # The files for other people's CI; also when a guest was lost.
    if arguments.junit:
        arguments.junit.write_text(export.junit(outcomes), "utf-8")
    if arguments.ktap:
        arguments.ktap.write_text(export.ktap(outcomes), "utf-8")
    if arguments.json:
        print(json.dumps(_as_json(outcomes), indent=1))
    elif arguments.all:
        show_all(outcomes)
    else:
        for found in outcomes:
            _show(found)
    if error := outcome.failures(outcomes):
        raise error
    return 0


def _what(arguments: argparse.Namespace) -> tuple[list[str], Tests]:
    """Patterns for our suites, or arguments and a program of the user's."""
    if arguments.program:
        return arguments.pattern, suite.of_program(arguments.program)
    return arguments.pattern or ["*"], suite.OURS


def _trees(sides: Sides, *, stock: bool) -> list[Tree]:
    """The trees to boot: B, or A on request. With a series that is not ours, B must pass what A
    passes, so A runs as well."""
    if stock or sides.same:
        return [sides.a.tree]
    return [sides.b.tree] if sides.ours else [sides.a.tree, sides.b.tree]


def show_all(outcomes: Sequence[Outcome]) -> None:
    """A row for each case that does not pass on every kernel, then a count for each kernel."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("what is not `pass` everywhere", no_wrap=True)
    for number in range(len(outcomes)):
        table.add_column(str(number + 1), justify="right", no_wrap=True)
    for name, row in matrix.rows(outcomes).items():
        cells = [Text(LETTER[status], STYLE.get(status, "")) if status else "" for status in row]
        table.add_row(name, *cells)
    out = console()
    out.print(table)
    out.print("  ".join(f"{letter} {status}" for status, letter in LETTER.items()))
    for number, found in enumerate(outcomes, 1):
        out.print(f"{number}: {found.name}: {'LOST' if found.lost else found.counts()}")


def _show(found: Outcome) -> None:
    out = console()
    for case in found.cases:
        why = f"  {case.reason}" if case.reason and case.status is not Status.FAIL else ""
        out.print(Text.assemble((f"{case.status:<4}", STYLE[case.status]), f" {case.name}{why}"))
    tree = found.kernel.tree
    counts = "LOST" if found.lost else found.counts()
    out.print(f"{found.kernel.arch.name} {tree.label} {tree.base.version}: {counts}")


def _as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The document of docs/schema/test.json."""
    return schema.head("test") | {"kernels": [outcome.as_json(found) for found in outcomes]}
