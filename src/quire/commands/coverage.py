# SPDX-License-Identifier: GPL-2.0
"""Show patch lines that no test has run.

The counting plugin sees every instruction that the guest's cases, the corpus programs and the
kernel's selftests execute; debug information maps it to a source line. The kernels are not
instrumented.

  quire coverage                       both architectures; takes hours
  quire coverage ARCH=arm64 --resume   reuse earlier boots of the same kernel and guest
  quire coverage 'mremap.*'            only what these cases run

lines/NAME/unreached.toml lists lines that cannot run, with reasons.
"""

import argparse
import json

from quire.arch import requirements
from quire.commands import options
from quire.coverage import added, reached, variants
from quire.coverage.reached import LEAST, Coverage
from quire.coverage.variants import Variant
from quire.host.console import columns, console, grid
from quire.host.errors import Difference, UserError
from quire.session import Session
from quire.suites import suite


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select kernels and cases."""
    options.kernel(part)
    add = part.add_argument
    add("pattern", nargs="*", help="run only these cases: suite.case, with * and ?")
    add("--resume", action="store_true", help="reuse boots that an earlier run completed")
    text = "only the first N variants of lines/coverage.toml; 4 need no additional kernel"
    add("--variants", type=options.positive, metavar="N", help=text)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Measure coverage. Difference if too few lines ran, or a reason no longer holds."""
    requirements.require(session.architectures)
    if arguments.variants:
        options.refuse(arguments, "pattern", "with --variants")
    sides = session.sides()
    if sides.same:
        raise UserError("there are no patches to cover", remedy="name a base with a series")
    lines = added.lines(sides.a.tree.path, sides.b.tree.path, sides.series.patches)
    entries = reached.read(sides.line.file("unreached")) if sides.ours else []
    known = variants.variants(session.project.root / "lines/coverage.toml")
    chosen = [Variant(tuple(arguments.pattern), sizes=suite.SIZES)] if arguments.pattern else known
    results = []
    for arch in session.architectures:
        covered = variants.run(
            session, arch, sides, lines, chosen[: arguments.variants], resume=arguments.resume
        )
        results.append(reached.judge(arch.name, lines, covered, entries))
        if not arguments.json:
            _show(results[-1], sides.title)
    if arguments.json:
        print(json.dumps([result.as_json() for result in results], indent=1))
    problems = [] if arguments.pattern else [line for result in results for line in _wrong(result)]
    if problems:
        remedy = "add a case, or correct lines/NAME/unreached.toml"
        raise Difference("the tests do not cover the patches", "\n".join(problems), remedy)


def _wrong(result: Coverage) -> list[str]:
    few = f"{result.arch}: {result.share:.1%} of the runnable lines ran; {LEAST:.0%} required"
    stale = [
        f"{result.arch}: in unreached.toml, but ran or not in the series: {text}"
        for text in result.stale
    ]
    return [few, *stale] if result.share < LEAST else stale


def _show(result: Coverage, title: str) -> None:
    table = grid(f"{result.arch} · {title}", pad_edge=True)
    columns(table, "patch")
    columns(table, "lines", "ran", "cannot", "left", right=True)
    for row in (*result.rows, result.total):
        table.add_row(row.patch, *map(str, (row.lines, row.ran, row.cannot, row.left)))
    out = console()
    out.print(table)
    for line, why in result.never:
        out.print(f"{line.file}:{line.number}: {line.function}(): {line.text}")
        if why:
            out.print(f"    {why}")
    out.print(f"{result.arch}: {result.share:.1%} of the runnable lines ran")
