# SPDX-License-Identifier: GPL-2.0
"""Run swap, lazyfree, mremap, fork, KSM and mprotect on the same memory at once.

Several multithreaded processes apply all operations to the same ranges under memory pressure, and
verify the contents of every page. Exit status 0 means that all operations completed without a
difference, a splat or a leak. On two virtual CPUs, a seed reproduces the operations but not their
order.

  quire soak ARCH=arm64                          a million operations, patched kernel
  quire soak ARCH=arm64 --operations 100000 --seed 7
  quire soak --seconds 36000 --stock
  quire soak --smp 1                             reproducible, under -icount
  quire soak --config configs/debug.config
  quire soak --bug lost-dirty ARCH=arm64         is this seeded bug detected, and how soon?
"""

import argparse
import json
from dataclasses import replace
from typing import Any

from rich import box
from rich.table import Table

from quire.arch import requirements
from quire.commands import options
from quire.host.console import console, show
from quire.host.errors import Difference, QuireError
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.source.side import Sides
from quire.suites import seeded, soak
from quire.suites.seeded import Bug
from quire.suites.soak import Pace, Report, SoakOptions


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select the duration and the machine."""
    options.kernel(part)
    add, positive = part.add_argument, options.positive
    text = f"stop after N operations (default {soak.OPERATIONS}; no limit with --seconds)"
    add("--operations", type=positive, metavar="N", help=text)
    add("--seconds", type=positive, default=0, metavar="N", help="stop after N seconds")
    add("--seed", type=positive, default=1, metavar="N", help="default 1")
    options.cpus(part, 2)
    group = part.add_mutually_exclusive_group()
    options.stock(group)
    text = "add this seeded bug, which must be detected; may be repeated"
    group.add_argument("--bug", action="append", default=[], metavar="NAME", help=text)
    text = "treat the guest as hung after this time (default: scaled to the operations)"
    add("--timeout", type=float, default=0.0, metavar="SECONDS", help=text)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run the soak test. Difference for a violation (with --bug: for none), GuestLost for a lost
    guest."""
    options.require_series(arguments)
    requirements.require(session.architectures)
    sides = session.sides()
    if arguments.bug:
        _bugs(session, arguments, sides)
        return
    tree = sides.a.tree if arguments.stock else sides.b.tree
    reports = []
    for arch in session.architectures:
        reports.append(_soak(session, session.kernel(arch, tree), _options(arguments)))
        if not arguments.json:
            _show(reports[-1])
    if arguments.json:
        print(json.dumps([_as_json(report) for report in reports], indent=1))
    if error := _error(reports):
        raise error


def _options(arguments: argparse.Namespace) -> SoakOptions:
    default = soak.UNLIMITED if arguments.seconds else soak.OPERATIONS
    return SoakOptions(
        operations=arguments.operations or default,
        seconds=arguments.seconds,
        seed=arguments.seed,
        cpus=arguments.smp,
        timeout=arguments.timeout,
    )


def _soak(session: Session, kernel: Kernel, chosen: SoakOptions, bug: str = "") -> Report:
    if bug:
        chosen = replace(chosen, parameters=(f"{seeded.PARAMETER}={bug}",))
    name = f"{kernel.arch.name} {bug or kernel.tree.label} soak"
    total = None if chosen.operations == soak.UNLIMITED else chosen.operations

    def seen(pace: Pace) -> None:
        session.progress.at(pace.operations, pace.left(chosen.operations) or f"{pace.seconds} s")

    with session.progress.stage(name, total):
        return soak.run(session, kernel, chosen, seen)


def _bugs(session: Session, arguments: argparse.Namespace, sides: Sides) -> None:
    where = seeded.folder(sides)
    bugs = seeded.select(seeded.read(where), arguments.bug)
    tree = seeded.tree_with_bugs(session.cache, sides, where)
    reports: list[tuple[Bug, Report]] = []
    for kernel in [session.kernel(arch, tree) for arch in session.architectures]:
        for bug in bugs:
            if bug.shown_by(kernel, session.configs):
                report = _soak(session, kernel, _options(arguments), bug.name)
                reports.append((bug, report))
                if not arguments.json:
                    _show_bug(bug, report)
    if arguments.json:
        rows = [{"bug": bug.name, **_as_json(report)} for bug, report in reports]
        print(json.dumps(rows, indent=1))
    missed = [f"{r.outcome.kernel.arch.name}: {bug.name}" for bug, r in reports if not r.noticed]
    if missed:
        raise Difference(
            f"{len(missed)} of {len(reports)} seeded bugs were not detected",
            "\n".join(missed),
            "use more --operations, or another --seed; docs/dev/soak.md lists exceptions",
        )


def _show_bug(bug: Bug, report: Report) -> None:
    style, word = ("green", "seen") if report.noticed else ("red", "MISSED")
    trouble = report.trouble() if report.noticed else []
    by = next((line.lstrip("| ") for line in trouble if "after " in line), "".join(trouble[:1]))
    arch = report.outcome.kernel.arch.name
    show(word, style, f"{arch} {bug.name} in {report.pace.operations} operations  {by}")


def _show(report: Report) -> None:
    kernel, pace = report.outcome.kernel, report.pace
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("operation")
    table.add_column("times", justify="right")
    table.add_column("seconds", justify="right")
    for kind in report.kinds:
        table.add_row(kind.name, str(kind.count), f"{kind.milliseconds / 1000:.1f}")
    for name, count in report.events:
        table.add_row(name, str(count), "", style="dim")
    if report.kinds:
        console().print(table)
    word, style = ("fail", "red") if report.failed else ("pass", "green")
    tree, done = kernel.tree, f"{pace.operations} operations in {pace.seconds} s"
    show(word, style, f"{kernel.arch.name} {tree.label} {tree.base.version}: {done}")


def _error(reports: list[Report]) -> QuireError | None:
    if lost := [report.outcome.lost for report in reports if report.outcome.lost]:
        return lost[0]
    lines = []
    for report in reports:
        if report.failed:
            kernel = report.outcome.kernel
            lines += [f"{kernel.arch.name} {kernel.tree.label}:", *report.trouble()]
            lines.append(f"whole log: {report.outcome.logs}")
    if not lines:
        return None
    return Difference(
        "the soak test failed", "\n".join(lines), "read the log, which includes the seed"
    )


def _as_json(report: Report) -> dict[str, Any]:
    kernel = report.outcome.kernel
    return {
        "architecture": kernel.arch.name,
        "tree": kernel.tree.label,
        "base": str(kernel.tree.base.version),
        "failed": report.failed,
        "noticed": report.noticed,
        "operations": report.pace.operations,
        "seconds": report.pace.seconds,
        "kinds": {kind.name: kind.count for kind in report.kinds},
        "events": dict(report.events),
        "trouble": report.trouble(),
    }
