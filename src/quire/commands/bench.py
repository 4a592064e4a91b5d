# SPDX-License-Identifier: GPL-2.0
"""Count the cost of benchmarks on two kernels, and compare.

Each benchmark and folio size is one boot of each kernel under QEMU, with one virtual CPU unless
--smp says otherwise. The plugin counts every instruction and TLB invalidation between two markers.
The counts of a build are cached; the next run measures only what is missing.

  quire bench                                  everything, both architectures
  quire bench mremap ARCH=arm64 --size 64      all mremap benchmarks at 64 KiB
  quire bench 'swapout zero 64'                one benchmark, by its name in tables and --list
  quire bench swapout,data=zero --repeat 3     three boots each, with their spread
  quire bench mremap --fresh                   boot again; ignore cached counts
  quire bench mremap --cost                    also a table of atomics, cache lines, locks, …
  quire bench mremap --output DIR              also write DIR/bench.json, .html, .svg
  quire bench mremap --smp 2                   two virtual CPUs, which both run the process
  quire bench mremap,others=idle --smp 2       the same, but the second CPU is idle
  quire bench mremap --cycles                  also estimated cycles
  quire bench mremap --null 3                  also the spread due to code placement
  quire bench --workload ./mine.c              your own (guest/README.md)
  quire bench mremap --cpu neoverse-n1         on another CPU (default: its benchmarks)
  quire bench --program redis                  a whole program (docs/dev/programs.md)
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from quire import lab
from quire.arch import requirements
from quire.commands import options
from quire.commands import rootfs as images
from quire.host.console import console
from quire.host.errors import Difference
from quire.measure import comparison, cycles, workloads
from quire.measure.bench import Provenance, Sampling
from quire.measure.comparison import Comparison
from quire.measure.workloads import Benchmark, Catalogue, on_architecture
from quire.programs import costs, recipe, rootfs
from quire.report import counted, dots, page, programs, table, timing
from quire.session import Session
from quire.source.side import Sides
from quire.timing import compare

# Core-seconds for a benchmark's two boots, to estimate the remaining time.
SECONDS = 12


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select benchmarks and repetitions."""
    options.kernel(part)
    options.counting(part)
    options.cluster(part)
    options.shard(part, "benchmarks")
    add = part.add_argument
    text = "a name from --list, or a pattern with parameters after commas (default: all)"
    add("rows", nargs="*", metavar="benchmark", help=text)
    options.sizes(part, "all")
    text = "boot each benchmark at least N times; the table shows the spread"
    add("--repeat", type=options.positive, default=1, metavar="N", help=text)
    text = "a benchmark of your own: a C file or a static binary, with FILE.toml beside it"
    add("--workload", type=Path, action="append", default=[], metavar="FILE", help=text)
    text = "list the benchmarks: name, folio sizes, what is measured"
    add("--list", action="store_true", help=text)
    text = "boot N times, ignoring cached counts"
    add("--fresh", action="store_true", help=text)
    text = "a second table: atomics, barriers, locks, cache lines, table words, TLB "
    text += "invalidations by kind; counting lines takes another, slower boot"
    add("--cost", action="store_true", help=text)
    text = "a whole program in Debian's userland, by recipe (docs/dev/programs.md); may be repeated"
    add("--program", action="append", default=[], metavar="NAME", help=text)
    images.suite(part)
    options.cpus(part, 1)
    cycles.add_option(part)
    options.null(part)
    options.as_json(part, "print JSON in place of the tables")
    add("--output", type=Path, metavar="DIR", help="write JSON, HTML and SVG there")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Measure and report. Difference if a benchmark makes forbidden calls."""
    if arguments.program:
        _programs(session, arguments)
        return
    options.refuse(arguments, "suite", "without --program")
    session = replace(session, programs=tuple(arguments.workload))
    architectures = session.architectures
    benchmarks = arguments.shard.some(_benchmarks(session, arguments))
    if arguments.list:
        options.allow(arguments, "list rows size cpu workload shard", "with --list")
        _list(benchmarks, workloads.summaries(session.project.guest / "workloads"))
        return
    requirements.require(architectures)
    if arguments.smp > 1:
        options.refuse(arguments, "cost", "with --smp, which shows separate costs")
        benchmarks = Catalogue.on_cpus(benchmarks, arguments.smp)
    benchmarks = [replace(benchmark, lines=arguments.cost) for benchmark in benchmarks]
    benchmarks = cycles.added(benchmarks, arguments.cycles, architectures)
    sampling = Sampling(arguments.repeat, arguments.fresh)
    sides = lab.plan(session, architectures, SECONDS * len(benchmarks))
    parts = []
    for architecture in architectures:
        both = lab.setups(session, architecture, sides)
        chosen = on_architecture(architecture, benchmarks)
        rows, provenance = lab.compare(session, sides, both, chosen, sampling)
        if arguments.null:
            rows = lab.with_null(session, both[0], rows, arguments.null, sampling)
        parts.append((rows, provenance))
        if not arguments.json:
            console().print(table.build(rows, sides.title))
            if arguments.cost or arguments.smp > 1:
                console().print(table.build_costs(rows, sides.title))
    finish(arguments, sides, parts, arguments.output)


def _programs(session: Session, arguments: argparse.Namespace) -> None:
    """Count whole programs, or time them under user-mode Linux. Difference for a loss."""
    options.refuse(
        arguments, "rows size workload list cost smp null json output shard", "with --program"
    )
    requirements.require(session.architectures, rootfs.NEEDS)
    known = [(name, recipe.read(session.project.guest, name)) for name in arguments.program]
    lost = []
    for arch in session.architectures:
        own = rootfs.with_disk(session, arch)
        sides = own.sides()
        for name, one in known:
            if not arch.qemu:
                timings = costs.time(own, arch, sides, one, (arguments.suite, arguments.repeat))
                timing.show_verdicts(*timings, compare.compare(*timings))
                continue
            sampling = Sampling(arguments.repeat, arguments.fresh)
            rows = costs.count(own, arch, sides, one, (arguments.suite, sampling))
            programs.show(rows, f"{name} · {sides.title}", one.topics)
            lost += [
                f"{arch.name} {row.benchmark.heading}: {programs.saved(row):+.2%}"
                for row in rows.rows
                if programs.saved(row) < -programs.LOSS
            ]
    if lost:
        what, remedy = "programs take more kernel instructions on side B", "see the symbols above"
        raise Difference(what, "\n".join(lost), remedy)


def _list(benchmarks: Sequence[Benchmark], summaries: Mapping[str, str]) -> None:
    """Return a line for each benchmark: its name, the folio sizes in KiB, what is measured."""
    sizes: dict[str, list[str]] = {}
    for one in benchmarks:
        sizes.setdefault(one.label, []).append(str(one.size or "-"))
    width = max(map(len, sizes), default=0)
    sized = max((len(" ".join(some)) for some in sizes.values()), default=0)
    for one in {one.label: one for one in benchmarks}.values():
        what = [summaries.get(one.workload.name, ""), *map("=".join, one.parameters)]
        some = " ".join(sizes[one.label])
        print(f"{one.label:{width}}  {some:{sized}}  {', '.join(filter(None, what))}".rstrip())


def _benchmarks(session: Session, arguments: argparse.Namespace) -> Sequence[Benchmark]:
    """The named benchmarks; without names, the default benchmarks of the CPU of --cpu."""
    catalogue, cpu = lab.workloads(session), session.architectures[0].cpu
    if arguments.workload:
        catalogue = Catalogue(tuple(workloads.of_program(file) for file in arguments.workload))
    elif cpu and cpu.rows and not arguments.rows and not arguments.size:
        return catalogue.rows(cpu.rows)
    return catalogue.benchmarks(arguments.rows, arguments.size)


def finish(
    arguments: argparse.Namespace,
    sides: Sides,
    parts: Sequence[tuple[Comparison, Provenance]],
    output: Path | None,
    names: tuple[str, str, str] = ("bench.json", "bench.html", "bench.svg"),
) -> None:
    """Print the report as JSON, and write it, the page and the plot to a folder, on request.
    Difference if a benchmark makes forbidden calls."""
    report = counted.report(sys.argv, sides, parts)
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
