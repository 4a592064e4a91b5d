# SPDX-License-Identifier: GPL-2.0
"""Count the cost of workloads on the stock and the patched kernel, and compare.

Each workload, variant and folio size is one boot of each kernel under QEMU, with one virtual
CPU; the plugin counts every instruction and TLB invalidation between two markers. The counts of
a build are cached, and the next run measures only what is missing.

  quire bench                                  everything, both architectures
  quire bench mremap ARCH=arm64 --size 64      one row
  quire bench swapout,data=zero --repeat 3     three boots each, with their spread
  quire bench mremap --fresh                   boot again, ignoring cached counts
  quire bench mremap --cost                    and a table of atomics, cache lines, locks, …
  quire bench mremap --output DIR              table, and DIR/bench.json, .html, .svg
  quire bench --workload ./mine.c              your own (guest/README.md)
  quire bench mremap --cpu neoverse-n1         on another CPU; without a workload, its default rows
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from quire import arch, demo, lab
from quire.arch import Architecture, Cpu, requirements
from quire.cluster import option
from quire.host import parallel, shard
from quire.host.errors import UserError
from quire.measure import comparison, workloads
from quire.measure.bench import Sampling
from quire.measure.comparison import Comparison
from quire.measure.workloads import Catalogue, Cell
from quire.report import data, dots, page, table
from quire.report.data import Provenance
from quire.session import Session

# Core-seconds of a cell's two boots, to estimate the remaining time.
SECONDS = 12


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select cells and repetitions."""
    option.add(part)
    shard.add(part, "rows")
    part.add_argument(
        "workload",
        nargs="*",
        help="name or pattern, parameters after commas (default: all; see --list)",
    )
    part.add_argument(
        "--size",
        type=int,
        action="append",
        default=[],
        metavar="KIB",
        help="folio size in KiB, 4 for none; may be repeated (default: all)",
    )
    part.add_argument(
        "--repeat",
        type=int,
        default=1,
        metavar="N",
        help="at least N boots of each cell; the table shows their spread",
    )
    part.add_argument(
        "--cpu",
        metavar="NAME",
        help="emulate a CPU other than the architecture's default: "
        + ", ".join(cpu.name for one in arch.ARCHITECTURES.values() for cpu in one.further_cpus),
    )
    part.add_argument(
        "--workload",
        type=Path,
        action="append",
        default=[],
        dest="programs",
        metavar="FILE",
        help="a workload of your own: a C file or a static binary, with FILE.toml beside it",
    )
    part.add_argument("--list", action="store_true", help="list the workloads")
    part.add_argument(
        "--fresh", action="store_true", help="boot N times again, ignoring cached counts"
    )
    part.add_argument(
        "--cost",
        action="store_true",
        help="a second table: atomics, barriers, locks, cache lines, table words, TLB "
        "invalidations by kind; counting lines takes a slower boot of its own",
    )
    part.add_argument("--json", action="store_true", help="print JSON in place of the tables")
    part.add_argument("--output", type=Path, metavar="DIR", help="write JSON, HTML and SVG there")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Measure and report. Difference if a row has calls that are not allowed."""
    with option.using(session, arguments) as (there, _):
        return _run(there, arguments)


def _run(session: Session, arguments: argparse.Namespace) -> int:
    if arguments.list:
        for cell in arguments.shard.some(lab.workloads(session).cells()):
            print(f"{cell.label}{f' {cell.size} KiB' if cell.size else ''}")
        return 0
    session = replace(session, programs=tuple(arguments.programs))
    plan = _plan(session, arguments)
    requirements.require([architecture for architecture, _ in plan])
    cells = [replace(cell, lines=arguments.cost) for cell in _cells(session, arguments, plan)]
    cells = arguments.shard.some(cells)
    options = Sampling(arguments.repeat, arguments.fresh, session.place)
    machines = [one.on(cpu) if cpu else one for one, cpu in plan]
    sides = demo.plan(session, machines, SECONDS * len(cells))

    def measure(step: tuple[Architecture, Cpu | None]) -> tuple[Comparison, Provenance]:
        architecture, cpu = step
        both = lab.rigs(session, architecture, sides)
        if cpu:
            both = lab.on(both, cpu)
        rows, made, _ = lab.compare(session, sides, both, cells, options)
        if not arguments.json:
            table.show(rows, sides.title)
            if arguments.cost:
                table.show_costs(rows, sides.title)
        return rows, made

    parts = parallel.in_turn(plan, measure)
    report = data.report(sys.argv, sides, parts)
    if arguments.json:
        print(json.dumps(report, indent=1))
    comparisons = [rows for rows, _ in parts]
    if arguments.output:
        write(arguments.output, "bench", report)
    comparison.require(comparisons)
    return 0


def _plan(session: Session, arguments: argparse.Namespace) -> list[tuple[Architecture, Cpu | None]]:
    """The architectures, each with the CPU of --cpu; UserError if none of them has that CPU."""
    if not arguments.cpu:
        return [(architecture, None) for architecture in session.architectures]
    known = arch.further_cpu(arguments.cpu)
    plan = [(one, cpu) for one, cpu in known if one in session.architectures]
    if not plan:
        names = ", ".join(one.name for one, _ in known)
        raise UserError(
            f"{arguments.cpu} is no CPU of {', '.join(one.name for one in session.architectures)}",
            remedy=f"use ARCH={names}",
        )
    return list(plan)


def _cells(
    session: Session, arguments: argparse.Namespace, plan: Sequence[tuple[Architecture, Cpu | None]]
) -> list[Cell]:
    """The named cells; for a CPU without named cells, its default rows."""
    cpu = plan[0][1]
    if cpu and not arguments.workload and not arguments.size:
        return lab.workloads(session).rows(cpu.rows)
    if arguments.programs:
        own = Catalogue(tuple(workloads.of_program(source) for source in arguments.programs))
        return own.cells(arguments.workload, arguments.size)
    return lab.workloads(session).cells(arguments.workload, arguments.size)


def write(directory: Path, stem: str, report: dict[str, Any], page_name: str = "") -> None:
    """Write JSON, page (`page_name`, or as the others) and plot; print their paths on stderr."""
    directory.mkdir(parents=True, exist_ok=True)
    texts = {
        f"{stem}.json": json.dumps(report, indent=1) + "\n",
        f"{page_name or stem}.html": page.render(report),
        f"{stem}.svg": dots.of_report(report, full=True),
    }
    for name, text in texts.items():
        (directory / name).write_text(text, "utf-8")
        print(f"wrote {directory / name}", file=sys.stderr)
