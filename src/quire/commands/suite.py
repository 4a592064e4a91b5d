# SPDX-License-Identifier: GPL-2.0
"""Run another project's test suite in Debian's userland on both sides, and compare the results.

B must pass what A passes. A run that loses its guest (panic, hang, splat) fails with the reason.
Runs that differ are repeated once on both sides. See docs/dev/programs.md.

  quire suite stress-ng ARCH=um                   stressors of the class vm, 64 KiB folios
  quire suite stress-ng 'mmap*' --size 16 --size 2048 ARCH=arm64
  quire suite stress-ng --shard 1/4 --resume      a part; continue where it was interrupted
  quire suite stress-ng --list                    list the runs
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text

from quire.arch import Architecture, requirements
from quire.boot.ktap import Status
from quire.boot.machine import Disk
from quire.commands import options
from quire.commands import rootfs as images
from quire.host.console import columns, console, grid
from quire.host.errors import Difference
from quire.kselftest import changes
from quire.kselftest.changes import Labels, Pair
from quire.programs import rootfs, stress, suites
from quire.programs.suites import Run, Suite
from quire.session import Session
from quire.source.side import Sides
from quire.suites.outcome import STYLE, Outcome
from quire.suites.suite import BootOptions, Job

# Only a name, so that logs of repeated boots do not overwrite the first ones.
AGAIN = "quire_again=1"
CASE = ("name", "a", "b", "again", "regressed", "told")
# Seconds for each run: a stressor does nothing new after that.
SECONDS = 3


@dataclass(frozen=True)
class Compared:
    """A suite's results on one architecture's two kernels."""

    arch: Architecture
    labels: Labels
    cases: list[Pair]


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select runs, the image and the machine."""
    options.kernel(part)
    options.shard(part, "runs")
    add = part.add_argument
    add("name", choices=[stress.NAME], help="the suite")
    add("pattern", nargs="*", help="name of a run, with * and ? (default: all)")
    images.suite(part)
    options.sizes(part, "64")
    text = "seconds for each run (default %(default)s)"
    add("--seconds", type=options.positive, default=SECONDS, metavar="N", help=text)
    options.cpus(part, 1)
    options.timeout(part)
    add("--resume", action="store_true", help="reuse boots that an earlier run completed")
    add("--list", action="store_true", help="list the runs")
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run and compare. Difference if B fails what A passes."""
    of = stress.suite(session.project.guest, arguments.size or [64], arguments.seconds)
    runs = arguments.shard.some(of.matching(arguments.pattern or ["*"]))
    if arguments.list:
        options.allow(arguments, "list name pattern size shard", "with --list")
        print("\n".join(one.name for one in runs))
        return
    requirements.require(session.architectures, rootfs.NEEDS)
    results = []
    for arch in session.architectures:
        own = rootfs.with_disk(session, arch)
        sides = own.sides()
        results.append(_compare(own, arguments, arch, sides, of, runs))
        if not arguments.json:
            _show(results[-1], f"{of.name} · {sides.title}")
    if arguments.json:
        print(json.dumps([_as_json(result) for result in results], indent=1))
    _require(results)


def _compare(
    session: Session,
    arguments: argparse.Namespace,
    arch: Architecture,
    sides: Sides,
    of: Suite,
    runs: Sequence[Run],
) -> Compared:
    a, b = (session.kernel(arch, side.tree) for side in sides.both)
    image = rootfs.build(session, a, arguments.suite, of.packages)
    boot = BootOptions(
        arguments.smp, arguments.timeout, resume=arguments.resume, disk=Disk(image.file)
    )
    jobs = (Job(a, boot), Job(b, boot))
    outcomes = suites.compare(session, of, jobs, runs)

    def rerun(names: Sequence[str]) -> tuple[Outcome, Outcome]:
        session.progress.say(f"repeated on both: {', '.join(names)}")
        again = replace(boot, parameters=(AGAIN,))
        chosen = [one for one in runs if one.name in names]
        return suites.compare(session, of, (Job(a, again), Job(b, again)), chosen)

    cases = changes.confirm(changes.compare(*outcomes), rerun)
    return Compared(arch, (sides.a.label, sides.b.label), cases)


def _show(result: Compared, title: str) -> None:
    out = console()
    title = f"{result.arch.name} · {title}\nruns that do not pass on both"
    table = grid(title, pad_edge=True)
    columns(table, "run", *result.labels, "message")
    for name, case in changes.grouped(result.cases):
        told = " · ".join(filter(None, (case.remark(result.labels), case.told)))
        statuses = [Text(status, STYLE[status]) for status in (case.a, case.b)]
        table.add_row(name, *statuses, Text(told))
    out.print(table)
    for label, of in zip(
        result.labels, zip(*((p.a, p.b) for p in result.cases), strict=True), strict=True
    ):
        counts = changes.counts(of)
        out.print(
            f"{result.arch.name} {label}: " + ", ".join(f"{n} {s}" for s, n in counts.items())
        )


def _as_json(result: Compared) -> dict[str, Any]:
    return {
        "architecture": result.arch.name,
        "labels": dict(zip("ab", result.labels, strict=True)),
        "cases": [{key: getattr(case, key) for key in CASE} for case in result.cases],
    }


def _require(results: Sequence[Compared]) -> None:
    """Difference for runs that pass on A but not on B, or if no run passes on A."""
    lines = []
    for result in results:
        worse = [case for case in result.cases if case.regressed]
        lines += [f"{result.arch.name}: {case.name}: {case.b}: {case.told}" for case in worse]
        if not any(case.a is Status.PASS for case in result.cases):
            lines.append(f"{result.arch.name}: no run passes on {result.labels[0]}")
    if lines:
        a, b = results[0].labels
        raise Difference(f"{b} fails runs that {a} passes", "\n".join(lines), "read the logs")
