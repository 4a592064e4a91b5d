# SPDX-License-Identifier: GPL-2.0
"""Count what workloads cost on the stock and the patched kernel, and compare.

Each workload, variant and folio size is one boot of each kernel under QEMU, with one virtual
CPU; the plugin counts every instruction and TLB invalidation between two markers. Counts of a
build are kept, and the next run only makes what is missing.

  quire bench                                  everything, both architectures
  quire bench mremap ARCH=arm64 --size 64      one row
  quire bench swapout,data=zero --repeat 3     three boots each, with their spread
  quire bench mremap --fresh                   once more, even if the counts are known
  quire bench mremap --output DIR              table, and DIR/bench.json, .svg, .png
"""

import argparse
import json
import sys
from pathlib import Path

from quire import host, lab, workloads
from quire.bench import Options
from quire.comparison import Comparison
from quire.report import data, plot, table
from quire.session import Session

NAME = "bench"


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Which cells, how often."""
    part.add_argument(
        "workload",
        nargs="*",
        help="name or pattern, parameters after commas (default: all): "
        + ", ".join(workload.name for workload in workloads.CATALOGUE),
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
        help="at least N boots of each; the table shows their spread",
    )
    part.add_argument("--fresh", action="store_true", help="boot again, N times, whatever is known")
    part.add_argument("--json", action="store_true", help="print JSON in place of the tables")
    part.add_argument("--output", type=Path, metavar="DIR", help="write JSON, SVG and PNG there")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Measure and report."""
    host.require(session.architectures)
    cells = workloads.cells(arguments.workload, arguments.size)
    options = Options(arguments.repeat, arguments.fresh, session.jobs)
    prepared = lab.prepare(session)
    parts = []
    for arch in session.architectures:
        both = lab.rigs(session, arch, prepared)
        rows, made, _ = lab.compare(session, both, cells, options)
        parts.append((rows, made))
        if not arguments.json and rows.rows:
            table.show(rows, prepared.title)
    if arguments.dry_run:
        return 0
    report = data.report(sys.argv, prepared.base, prepared.series, parts)
    if arguments.json:
        print(json.dumps(report, indent=1))
    if arguments.output:
        write(arguments.output, "bench", report, [rows for rows, _ in parts], prepared.title)
    return 0


def write(
    directory: Path, stem: str, report: object, comparisons: list[Comparison], title: str
) -> list[Path]:
    """JSON and pictures; their paths, also said on stderr."""
    directory.mkdir(parents=True, exist_ok=True)
    document = directory / f"{stem}.json"
    document.write_text(json.dumps(report, indent=1) + "\n")
    paths = [document, *plot.draw(comparisons, title, directory / stem)]
    for path in paths:
        print(f"wrote {path}", file=sys.stderr)
    return paths
