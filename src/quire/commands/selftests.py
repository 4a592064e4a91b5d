# SPDX-License-Identifier: GPL-2.0
"""Run the kernel's own selftests of mm on both sides, and compare case by case.

The programs come from the base's tools/testing/selftests/mm; guest/selftests/runs.toml lists them
with their arguments. Runs that differ are repeated once on both sides. See docs/selftests.md.

  quire selftests                        all, both architectures
  quire selftests 'ksm*' ARCH=arm64      some
  quire selftests --smp 3                with races, and page migration (which needs three CPUs)
  quire selftests --config configs/debug.config   also what needs CONFIG_GUP_TEST
  quire selftests --bug skip-writable cow         is this seeded bug detected?
  quire selftests --list                 list the runs
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire.arch import Architecture, requirements
from quire.boot.ktap import Status
from quire.host import parallel
from quire.host.console import console
from quire.host.errors import Difference, QuireError
from quire.kselftest import build, changes, runs
from quire.kselftest.changes import Labels, Pair
from quire.kselftest.runs import Choice
from quire.session import Session
from quire.source.side import Sides
from quire.source.tree import Tree
from quire.test import seeded, suite
from quire.test.outcome import STYLE, Outcome
from quire.test.suite import BootOptions, Job

# The kernel's command line has no room for more patterns.
AT_ONCE = 20
# Only a name: the logs of the second boots are stored beside those of the first.
AGAIN = "quire_again=1"


@dataclass(frozen=True)
class SelftestResult:
    """The selftests' results on one architecture's two kernels."""

    arch: Architecture
    choice: Choice
    cases: list[Pair]
    labels: Labels
    # The first run's: A, B.
    outcomes: tuple[Outcome, Outcome]


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select runs and the machine."""
    part.add_argument(
        "pattern", nargs="*", help="name of a run, with * and ? (see --list; default: all)"
    )
    part.add_argument("--smp", type=int, default=1, metavar="N", help="virtual CPUs (default 1)")
    part.add_argument(
        "--timeout",
        type=float,
        default=suite.TIMEOUT,
        metavar="SECONDS",
        help="treat the guest as hung after this time (default %(default).0f)",
    )
    part.add_argument(
        "--bug", metavar="NAME", help="replace side B with the kernel that has this seeded bug"
    )
    part.add_argument("--list", action="store_true", help="list the runs, and what is left out")
    part.add_argument("--json", action="store_true", help="print JSON")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 1 when B does not pass what A passes, 4 when a guest was lost."""
    requirements.require(session.architectures)
    sides = session.sides()
    tree, parameters = _other(session, sides, arguments.bug)
    labels = (sides.a.label, arguments.bug or sides.b.label)
    options = BootOptions(arguments.smp, arguments.timeout)
    table = runs.read(session.project.guest / runs.TABLE)
    if arguments.list:
        for arch in session.architectures:
            _list(arch, runs.choose(table, sides.base.path, arch))
        return 0

    def compare(arch: Architecture) -> SelftestResult:
        choice = runs.choose(table, sides.base.path, arch)
        runs.matching(choice.runs, arguments.pattern or ["*"])
        jobs = (
            Job(session.kernel(arch, sides.a.tree), options),
            Job(session.kernel(arch, tree), replace(options, parameters=parameters)),
        )
        outcomes = _boot(session, choice, jobs, arguments.pattern or ["*"])
        cases = _compare(session, choice, jobs, outcomes)
        result = SelftestResult(arch, choice, cases, labels, outcomes)
        if not arguments.json:
            _show(result, sides.title)
        return result

    results = parallel.in_turn(session.architectures, compare)
    if arguments.json:
        print(json.dumps([_as_json(result) for result in results], indent=1))
    error = _failure(results)
    if error:
        raise error
    return 0


def _other(session: Session, sides: Sides, bug: str | None) -> tuple[Tree, tuple[str, ...]]:
    """The tree to compare with A, and the parameter that selects a seeded bug in it."""
    if not bug:
        return sides.b.tree, ()
    where = seeded.folder(sides)
    seeded.select(seeded.read(where), [bug])
    return seeded.tree_with_bugs(session.cache, sides, where), (f"{seeded.PARAMETER}={bug}",)


def _boot(
    session: Session, choice: Choice, jobs: Sequence[Job], patterns: Sequence[str]
) -> tuple[Outcome, Outcome]:
    """Run the same programs on both kernels. A lost guest ends the comparison."""
    # Build once, not in both boots in parallel.
    build.build(session, jobs[0].kernel, choice)
    a, b = suite.several(session, jobs, patterns, build.tests(choice))
    if lost := a.lost or b.lost:
        raise lost
    return a, b


def _compare(
    session: Session, choice: Choice, jobs: Sequence[Job], outcomes: tuple[Outcome, Outcome]
) -> list[Pair]:
    def rerun(names: Sequence[str]) -> tuple[Outcome, Outcome]:
        session.progress.say(f"once more on both: {', '.join(names)}")
        again = [
            replace(job, options=replace(job.options, parameters=(*job.options.parameters, AGAIN)))
            for job in jobs
        ]
        return _boot(session, choice, again, names if len(names) <= AT_ONCE else ["*"])

    return changes.confirm(changes.compare(*outcomes), rerun)


def _list(arch: Architecture, choice: Choice) -> None:
    for run in choice.runs:
        print(f"{arch.name}: {run.name}")
    for name, why in choice.left_out.items():
        print(f"{arch.name}: left out: {name}: {why}")


def _show(result: SelftestResult, sides: str) -> None:
    out = console()
    table = Table(
        title=f"{result.arch.name} · {sides}\nwhat is not `pass` on both",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for column in ("case", *result.labels, "what it tells"):
        table.add_column(column)
    for name, case in changes.grouped(result.cases):
        told = " · ".join(text for text in (case.remark(result.labels), case.told) if text)
        table.add_row(name, _styled(case.a), _styled(case.b), Text(told))
    out.print(table)
    for label, count in zip(result.labels, _counts(result), strict=True):
        text = ", ".join(f"{number} {status}" for status, number in count.items())
        out.print(f"{result.arch.name} {label}: {text}")
    for name, why in result.choice.left_out.items():
        out.print(f"{result.arch.name}: left out: {name}: {why}")
    idle = changes.idle(result.cases)
    if idle:
        out.print(
            f"{result.arch.name}: no case passes on {result.labels[0]}, so nothing was compared: "
            f"{', '.join(idle)}"
        )


def _counts(result: SelftestResult) -> tuple[dict[str, int], dict[str, int]]:
    """The number of cases per status, on A and on B."""
    cases = result.cases
    return changes.counts(case.a for case in cases), changes.counts(case.b for case in cases)


def _styled(status: Status) -> Text:
    return Text(status, STYLE[status])


def _as_json(result: SelftestResult) -> dict[str, Any]:
    a, b = result.outcomes
    counts = _counts(result)
    return {
        "architecture": result.arch.name,
        "base": str(a.kernel.tree.base.version),
        "labels": dict(zip("ab", result.labels, strict=True)),
        "logs": {"a": a.logs, "b": b.logs},
        "left out": result.choice.left_out,
        "counts": dict(zip("ab", counts, strict=True)),
        "compared nothing": changes.idle(result.cases),
        "cases": [
            {
                "name": case.name,
                "a": case.a,
                "b": case.b,
                "again": case.again,
                "regressed": case.regressed,
                "told": case.told,
            }
            for case in result.cases
        ],
    }


def _failure(results: Sequence[SelftestResult]) -> QuireError | None:
    """The cases that A passes and B does not, or the fact that A passes no case."""
    lines: list[str] = []
    for result in results:
        worse = [case for case in result.cases if case.regressed]
        name = result.arch.name
        lines += [f"{name}: {case.name}: {case.b}: {case.told}" for case in worse]
        if not any(case.a is Status.PASS for case in result.cases):
            lines.append(f"{name}: no case passes on {result.labels[0]}, so nothing was compared")
        if lines:
            lines += [f"whole log: {outcome.logs}" for outcome in result.outcomes]
    if not lines:
        return None
    a, b = results[0].labels
    return Difference(f"{b} does not pass what {a} passes", "\n".join(lines), "read both logs")
