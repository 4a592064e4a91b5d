# SPDX-License-Identifier: GPL-2.0
"""Show a benchmark's instructions per kernel symbol, for both sides.

The largest changes come first: in instructions, or in what --sort names. Counts are per function
and exclude callees; an inlined function counts towards the function that contains it.

  quire profile mremap --size 64 ARCH=arm64
  quire profile swapout,data=distinct --size 64 --lines 40
  quire profile lazyfree --sort atomics              calls, barriers, lines-read, locks, …
  quire profile mremap --size 64 --collapsed DIR     for flamegraph.pl, speedscope, …
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from quire import lab
from quire.arch import requirements
from quire.commands import options
from quire.host.console import console
from quire.measure import cost, profile
from quire.measure.bench import Sample
from quire.measure.profile import as_json
from quire.measure.workloads import on_architecture
from quire.report.table import build_profile
from quire.session import Session

NAMES = {profile.INSNS: "instructions"}
# User-visible names.
KINDS = {kind.replace(" ", "-"): kind for kind in profile.KINDS}


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select benchmarks and limit the output."""
    options.kernel(part)
    options.counting(part)
    add = part.add_argument
    add("workload", help="a benchmark, as for bench")
    options.sizes(part, "64")
    text = f"sort by change in: {', '.join(KINDS)} (a prefix is enough; lines and table words "
    text += "need a slower boot)"
    add("--sort", type=_kind, default=profile.INSNS, metavar="KIND", help=text)
    add("--lines", type=int, default=25, metavar="N", help="number of symbols to show")
    text = "write collapsed stacks to DIR, one frame deep: benchmark;symbol count"
    add("--collapsed", type=Path, metavar="DIR", help=text)
    options.as_json(part, "print JSON with all symbols")


def _kind(text: str) -> str:
    """The kind of event that the user's text selects."""
    meant = [kind for name, kind in KINDS.items() if text and name.startswith(text)]
    if not meant:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of: {', '.join(KINDS)}")
    return meant[0]


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Measure what is not cached, and show the profile."""
    if arguments.json:
        options.refuse(arguments, "lines", "with --json, which prints all symbols")
    requirements.require(session.architectures)
    benchmarks = lab.workloads(session).benchmarks([arguments.workload], arguments.size or [64])
    kind = arguments.sort
    benchmarks = [replace(benchmark, lines=kind in cost.WITH_LINES) for benchmark in benchmarks]
    sides, classes = session.sides(), lab.locks(session)
    labels = (sides.a.label, sides.b.label)
    document = []
    for arch in session.architectures:
        both = lab.setups(session, arch, sides)
        chosen = on_architecture(arch, benchmarks)
        samples = lab.measure(session, both, chosen)
        for benchmark in chosen:
            a, b = (samples[setup.kernel.image_sha256, benchmark][0] for setup in both)
            lines = profile.lines(a, b, classes, kind)
            unit = benchmark.workload.unit
            title = f"{arch.name} · {benchmark.heading}"
            document.append({"title": title, "unit": unit, "lines": [*map(as_json, lines)]})
            if not arguments.json:
                shown, counted = lines[: arguments.lines], profile.counted(a, kind)
                grid = build_profile(shown, labels, kind, unit, counted=counted)
                name = NAMES.get(kind, kind)
                share = f"{profile.share_shown(shown, lines, kind):.0%} of {labels[0]}'s {name}"
                grid.title = f"{title} · {name} per {unit}"
                grid.caption = f"{len(shown)} of {len(lines)} symbols, {share}"
                console().print(grid)
            if arguments.collapsed:
                _write(arguments.collapsed, title, dict(zip(labels, (a, b), strict=True)))
    if arguments.json:
        print(json.dumps(document, indent=1))


def _write(directory: Path, title: str, samples: dict[str, Sample]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    root = title.replace(" · ", " ")
    for label, sample in samples.items():
        path = directory / f"{root.replace(' ', '-')}-{label}.collapsed"
        path.write_text("\n".join(profile.collapsed(sample, f"{root} {label}")) + "\n")
        print(f"wrote {path}", file=sys.stderr)
