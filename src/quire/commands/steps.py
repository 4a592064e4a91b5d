# SPDX-License-Identifier: GPL-2.0
"""Measure a series patch by patch, to see which patch changes which benchmark.

Patches are built in order in a shared directory, so each build compiles only what changed. A kernel
with the same code as an earlier one is not booted. Everything is cached by content: an interrupted
run resumes, and after a patch is changed, only that patch and later ones are rebuilt.

  quire steps mremap --only mremap ARCH=arm64    one of our topics, on top of what it needs
  quire steps --only ksm                         default: the topics' benchmarks
  quire steps --base 7.3 --series topic.mbox     default: benchmarks of the files it touches
  quire steps mremap --git ~/linux --a v7.3 --b topic   commits, along first parents
  quire steps --output DIR                       also DIR/steps.json and DIR/steps.svg, a waterfall

A step lists each benchmark whose instructions changed by more than 0.3 %, or whose counted events
changed at all. The exit status is 3 if a patch does not build.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from quire import lab
from quire.arch import requirements
from quire.commands import options
from quire.host.console import console
from quire.host.errors import BuildFailed, UserError
from quire.lab import Stepped
from quire.measure import concerns, cycles
from quire.measure.workloads import on_architecture
from quire.report import waterfall as report
from quire.session import Session
from quire.source import apply, side, tree
from quire.source.steps import KIND, OfGit, OfSeries, Step, Steps


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select benchmarks."""
    options.kernel(part)
    options.cluster(part)
    options.counting(part)
    add = part.add_argument
    text = "benchmarks, as for bench (default: those of the topics or of the touched files)"
    add("rows", nargs="*", metavar="benchmark", help=text)
    options.sizes(part, "all")
    cycles.add_option(part)
    options.as_json(part)
    add("--output", type=Path, metavar="DIR", help="write JSON and SVG to this directory")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Build, measure and report; then raise BuildFailed if a step did not build."""
    requirements.require(session.architectures)
    where, steps, rows = _steps(session)
    benchmarks = lab.workloads(session).benchmarks(arguments.rows or rows, arguments.size)
    benchmarks = cycles.added(benchmarks, arguments.cycles, session.architectures)
    if len(steps) == 1:
        raise UserError("there are no patches to measure", steps[0].subject, "name a series")
    title = f"Linux {steps[0].tree.base.version}, {steps[0].tree.base.origin}"
    results = []
    for arch in session.architectures:
        chosen = on_architecture(arch, benchmarks)
        results.append(Stepped(arch, title, steps))
        lab.measure_steps(session, results[-1], where, chosen)
        if not arguments.json:
            console().print(report.table(results[-1]))
    _write(arguments, results)
    for stepped in results:
        if broken := [stepped.notes[at] for at, it in enumerate(stepped.kernels) if not it]:
            what = "a patch does not build, which breaks git bisect"
            raise BuildFailed(what, "\n".join(broken), "fix the patch: quire tree, quire export")


def _steps(session: Session) -> tuple[Steps, list[Step], list[str]]:
    """The steps, and the benchmarks that they affect."""
    wanted, folder = session.side_options, session.project.guest / "workloads"
    if wanted.git and wanted.a and wanted.b:
        commits = OfGit.of(session.cache, wanted.git, wanted.a)
        concerned = concerns.by_files(folder, commits.files(wanted.b))
        return commits, commits.steps(wanted.b), [*concerned.rows]
    if wanted.b or (wanted.git and not wanted.series):
        remedy = "give --series, or --git DIR --a REVISION --b REVISION"
        raise UserError("there are no steps between two trees", wanted.b, remedy)
    base = session.base()
    line = session.line(base)
    series, _ = side.series_of(session.project.root, session.cache, wanted, line, base)
    # With --only, the topic's patches come after those that it needs.
    places = [at for at, patch in enumerate(series.patches) if patch.topic in wanted.only]
    # Make sure that all patches apply before building anything.
    tree.patched(session.cache, base, series)
    patches = OfSeries(base, series, session.cache.path(KIND, base.key))
    topics = wanted.only or series.topics
    rows = [w.name for w in lab.workloads(session).workloads if w.topic in topics]
    rows = rows or [*concerns.by_files(folder, apply.touched(series)).rows]
    return patches, patches.steps(min(places, default=0)), rows


def _write(arguments: argparse.Namespace, results: Sequence[Stepped]) -> None:
    """Print JSON and write the files, on request."""
    parts = [report.as_json(stepped) for stepped in results]
    document = {"command": shlex.join(sys.argv), "title": results[0].title, "architectures": parts}
    text = json.dumps(document, indent=1)
    if arguments.json:
        print(text)
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        (arguments.output / "steps.json").write_text(f"{text}\n", "utf-8")
        (arguments.output / "steps.svg").write_text(report.svg(results), "utf-8")
