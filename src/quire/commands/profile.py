# SPDX-License-Identifier: GPL-2.0
"""Show a workload's instructions per kernel symbol, for both sides.

The largest changes come first. Counts are per function and do not include the caller; an inlined
function counts as part of the function that inlines it.

  quire profile mremap --size 64 ARCH=arm64
  quire profile swapout,data=distinct --size 64 --lines 40
  quire profile mremap --size 64 --collapsed DIR     for flamegraph.pl, speedscope, …
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from quire import lab
from quire.arch import Architecture, requirements
from quire.host import parallel
from quire.host.console import console
from quire.measure import profile
from quire.measure.bench import Sample, Sampling
from quire.measure.workloads import Cell
from quire.report.table import number
from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select cells and the extent of the output."""
    part.add_argument("workload", help="a workload, as for bench")
    part.add_argument(
        "--size",
        type=int,
        action="append",
        default=[],
        metavar="KIB",
        help="folio size in KiB (default: 64)",
    )
    part.add_argument("--lines", type=int, default=25, metavar="N", help="symbols to show")
    part.add_argument(
        "--collapsed",
        type=Path,
        metavar="DIR",
        help="write collapsed stacks to DIR, one frame deep: workload;symbol count",
    )
    part.add_argument("--json", action="store_true", help="print JSON, all symbols")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Measure what is not cached, and show the profile."""
    requirements.require(session.architectures)
    cells = lab.workloads(session).cells([arguments.workload], arguments.size or [64])
    sides = session.sides()
    labels = (sides.a.label, sides.b.label)
    document = []

    def profile_of(arch: Architecture) -> None:
        both = lab.rigs(session, arch, sides)
        _, made, samples = lab.compare(session, sides, both, cells, Sampling(machines=session.jobs))
        for cell in cells:
            a, b = (samples[rig.kernel.image_sha256, cell][0] for rig in (made.a, made.b))
            lines = profile.lines(a, b)
            title = f"{arch.name} · {cell.label}" + (f" {cell.size} KiB" if cell.size else "")
            document.append({"title": title, "unit": cell.workload.unit, "lines": _json(lines)})
            if not arguments.json:
                _show(title, cell, labels, lines, arguments.lines)
            if arguments.collapsed:
                _write(arguments.collapsed, title, dict(zip(labels, (a, b), strict=True)))

    parallel.in_turn(session.architectures, profile_of)
    if arguments.json:
        print(json.dumps(document, indent=1))
    return 0


def _show(
    title: str, cell: Cell, labels: tuple[str, str], lines: list[profile.ProfileLine], limit: int
) -> None:
    unit = cell.workload.unit
    shown = lines[:limit]
    share = profile.share_shown(shown, lines)
    table = Table(
        title=f"{title} · instructions per {unit}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        caption=f"{len(shown)} of {len(lines)} symbols, {share:.0%} of {labels[0]}'s instructions",
        caption_justify="left",
        pad_edge=False,
    )
    table.add_column("symbol", no_wrap=True)
    a, b = labels
    for name in (a, b, "change", f"calls\n{a}", f"per {unit}\n{b}"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in shown:
        table.add_row(
            line.symbol,
            number(line.a),
            number(line.b),
            f"{'−' if line.change < 0 else '+' if line.change > 0 else ''}"
            f"{number(abs(line.change))}",
            number(line.a_calls),
            number(line.b_calls),
        )
    console().print(table)


def _json(lines: list[profile.ProfileLine]) -> list[dict[str, Any]]:
    return [
        {
            "symbol": line.symbol,
            "a": line.a,
            "b": line.b,
            "change": line.change,
            "a_calls": line.a_calls,
            "b_calls": line.b_calls,
        }
        for line in lines
    ]


def _write(directory: Path, title: str, samples: dict[str, Sample]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    root = title.replace(" · ", " ")
    for label, sample in samples.items():
        path = directory / f"{root.replace(' ', '-')}-{label}.collapsed"
        path.write_text("\n".join(profile.collapsed(sample, f"{root} {label}")) + "\n")
        print(f"wrote {path}", file=sys.stderr)
