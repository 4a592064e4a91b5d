# SPDX-License-Identifier: GPL-2.0
"""Count the cost of workloads on the stock and the patched kernel, and compare.

Each workload, variant and folio size is one boot of each kernel under QEMU, with one virtual
CPU unless --smp says otherwise; the plugin counts every instruction and TLB invalidation between
two markers. The counts of a build are cached, and the next run measures only what is missing.

  quire bench                                  everything, both architectures
  quire bench mremap ARCH=arm64 --size 64      one row
  quire bench swapout,data=zero --repeat 3     three boots each, with their spread
  quire bench mremap --fresh                   boot again, ignoring cached counts
  quire bench mremap --cost                    and a table of atomics, cache lines, locks, …
  quire bench mremap --output DIR              table, and DIR/bench.json, .html, .svg
  quire bench mremap --smp 2                   several virtual CPUs, which run the process, too
  quire bench mremap,others=idle --smp 2       and which have run it and sleep
  quire bench mremap --cycles                  estimated cycles beside the instructions
  quire bench mremap --null 3                  what code placement alone changes, beside each row
  quire bench --workload ./mine.c              your own (guest/README.md)
  quire bench mremap --cpu neoverse-n1         on another CPU; without a workload, its default rows
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from quire import lab
from quire.arch import requirements
from quire.commands import options
from quire.host import shard
from quire.measure import comparison, cycles, workloads
from quire.measure.bench import Sampling
from quire.measure.comparison import Comparison
from quire.measure.workloads import Catalogue, Cell, on_architecture
from quire.report import data, dots, page, table
from quire.report.data import Provenance
from quire.session import Session
from quire.source.side import Sides

# Core-seconds of a cell's two boots, to estimate the remaining time.
SECONDS = 12


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select cells and repetitions."""
    options.kernel(part)
    options.counting(part)
    options.cluster(part)
    shard.add(part, "rows")
    add = part.add_argument
    text = "name or pattern, parameters after commas (default: all; see --list)"
    add("rows", nargs="*", metavar="workload", help=text)
    options.sizes(part, "all")
    text = "at least N boots of each cell; the table shows their spread"
    add("--repeat", type=options.positive, default=1, metavar="N", help=text)
    text = "a workload of your own: a C file or a static binary, with FILE.toml beside it"
    add("--workload", type=Path, action="append", default=[], metavar="FILE", help=text)
    add("--list", action="store_true", help="list the chosen rows")
    text = "boot N times again, ignoring cached counts"
    add("--fresh", action="store_true", help=text)
    text = "a second table: atomics, barriers, locks, cache lines, table words, TLB "
    text += "invalidations by kind; counting lines takes a slower boot of its own"
    add("--cost", action="store_true", help=text)
    options.cpus(part, 1)
    cycles.add_option(part)
    options.null(part)
    options.as_json(part, "print JSON in place of the tables")
    add("--output", type=Path, metavar="DIR", help="write JSON, HTML and SVG there")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Measure and report. Difference if a row has calls that are not allowed."""
    session = replace(session, programs=tuple(arguments.workload))
    architectures = session.architectures
    cells = arguments.shard.some(_cells(session, arguments))
    if arguments.list:
        options.allow(arguments, "list rows size cpu workload shard", "with --list")
        for cell in cells:
            print(f"{cell.label}{f' {cell.size} KiB' if cell.size else ''}")
        return
    requirements.require(architectures)
    if arguments.smp > 1:
        options.refuse(arguments, "cost", "with --smp, which shows its own costs")
        cells = Catalogue.on_cpus(cells, arguments.smp)
    cells = [replace(cell, lines=arguments.cost) for cell in cells]
    cells = cycles.added(cells, arguments.cycles, architectures)
    sampling = Sampling(arguments.repeat, arguments.fresh, session.place)
    sides = lab.plan(session, architectures, SECONDS * len(cells))
    parts = []
    for architecture in architectures:
        both = lab.rigs(session, architecture, sides)
        chosen = on_architecture(architecture, cells)
        rows, made, _ = lab.compare(session, sides, both, chosen, sampling)
        if arguments.null:
            rows = lab.with_null(session, both[0], rows, arguments.null, sampling)
        parts.append((rows, made))
        if not arguments.json:
            table.show(rows, sides.title)
            if arguments.cost or arguments.smp > 1:
                table.show_costs(rows, sides.title)
    finish(arguments, sides, parts, arguments.output)


def _cells(session: Session, arguments: argparse.Namespace) -> Sequence[Cell]:
    """The named cells; if none are named, the default rows of the CPU of --cpu."""
    catalogue, cpu = lab.workloads(session), session.architectures[0].cpu
    if arguments.workload:
        catalogue = Catalogue(tuple(workloads.of_program(file) for file in arguments.workload))
    elif cpu and cpu.rows and not arguments.rows and not arguments.size:
        return catalogue.rows(cpu.rows)
    return catalogue.cells(arguments.rows, arguments.size)


def finish(
    arguments: argparse.Namespace,
    sides: Sides,
    parts: Sequence[tuple[Comparison, Provenance]],
    output: Path | None,
    names: tuple[str, str, str] = ("bench.json", "bench.html", "bench.svg"),
) -> None:
    """Print the report as JSON, and write it, the page and the plot to a folder, if asked for;
    Difference if a row has calls that are not allowed."""
    report = data.report(sys.argv, sides, parts)
    text = json.dumps(report, indent=1)
    if arguments.json:
        print(text)
    if output:
        output.mkdir(parents=True, exist_ok=True)
        texts = (f"{text}\n", page.render(report), dots.of_report(report, full=True))
        for name, content in zip(names, texts, strict=True):
            (output / name).write_text(content, "utf-8")
            print(f"wrote {output / name}", file=sys.stderr)
    comparison.require([rows for rows, _ in parts])
