# SPDX-License-Identifier: GPL-2.0
"""Run the kernel's own mm selftests on both sides, and compare the results by case.

The programs come from the base's tools/testing/selftests/mm; guest/selftests/runs.toml lists them
with their arguments. Runs that differ are repeated once on both sides. See docs/dev/selftests.md.

  quire selftests                        all runs, both architectures
  quire selftests 'ksm*' ARCH=arm64      some runs
  quire selftests --smp 3                with races and page migration (which needs three CPUs)
  quire selftests --config configs/debug.config   also runs that need CONFIG_GUP_TEST
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
from quire.commands import options
from quire.host.console import console
from quire.host.errors import Difference, QuireError
from quire.kselftest import binaries, changes, runs
from quire.kselftest.changes import Labels, Pair
from quire.kselftest.runs import RunChoice
from quire.session import Session
from quire.source.side import Sides
from quire.source.tree import Tree
from quire.suites import seeded, suite
from quire.suites.outcome import STYLE, Outcome
from quire.suites.suite import BootOptions, Job

# The kernel's command line has no room for more patterns.
AT_ONCE = 20
# Only a name, so that logs of repeated boots do not overwrite the first ones.
AGAIN = "quire_again=1"
# Fields of a case in JSON.
CASE = ("name", "a", "b", "again", "regressed", "told")


@dataclass(frozen=True)
class SelftestResult:
    """The selftests' results on one architecture's two kernels."""

    arch: Architecture
    choice: RunChoice
    cases: list[Pair]
    labels: Labels
    # From the first run: A, B.
    outcomes: tuple[Outcome, Outcome]


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select runs and the machine."""
    options.kernel(part)
    add = part.add_argument
    add("pattern", nargs="*", help="name of a run, with * and ? (see --list; default: all)")
    options.cpus(part, 1)
    options.timeout(part)
    text = "use the kernel with this seeded bug as side B"
    add("--bug", metavar="NAME", help=text)
    add("--list", action="store_true", help="list the runs, and those that are left out")
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run and compare. Difference if B fails what A passes, GuestLost for a lost guest."""
    if arguments.list:
        _list(session, arguments)
        return
    requirements.require(session.architectures)
    sides, patterns = session.sides(), arguments.pattern or ["*"]
    tree, parameters = _other(session, sides, arguments.bug)
    labels = (sides.a.label, arguments.bug or sides.b.label)
    boot = BootOptions(arguments.smp, arguments.timeout)
    table = runs.read(session.project.guest / runs.TABLE)
    results = []
    for arch in session.architectures:
        choice = runs.choose(table, sides.base.path, arch)
        runs.matching(choice.runs, patterns)
        jobs = (
            Job(session.kernel(arch, sides.a.tree), boot),
            Job(session.kernel(arch, tree), replace(boot, parameters=parameters)),
        )
        outcomes = _boot(session, choice, jobs, patterns)
        cases = _compare(session, choice, jobs, outcomes)
        results.append(SelftestResult(arch, choice, cases, labels, outcomes))
        if not arguments.json:
            _show(results[-1], sides.title)
    if arguments.json:
        print(json.dumps([_as_json(result) for result in results], indent=1))
    if error := _failure(results):
        raise error


def _list(session: Session, arguments: argparse.Namespace) -> None:
    options.allow(arguments, "list base source a b series git line", "with --list")
    table, base = runs.read(session.project.guest / runs.TABLE), session.base()
    for arch in session.architectures:
        choice = runs.choose(table, base.path, arch)
        for listed in choice.runs:
            print(f"{arch.name}: {listed.name}")
        for name, why in choice.left_out.items():
            print(f"{arch.name}: left out: {name}: {why}")


def _other(session: Session, sides: Sides, bug: str | None) -> tuple[Tree, tuple[str, ...]]:
    """The tree to compare with A, and the boot parameter that selects its seeded bug."""
    if not bug:
        return sides.b.tree, ()
    where = seeded.folder(sides)
    seeded.select(seeded.read(where), [bug])
    return seeded.tree_with_bugs(session.cache, sides, where), (f"{seeded.PARAMETER}={bug}",)


def _boot(
    session: Session, choice: RunChoice, jobs: Sequence[Job], patterns: Sequence[str]
) -> tuple[Outcome, Outcome]:
    """Run the same programs on both kernels. A lost guest aborts the comparison."""
    # Build once, not in both boots in parallel.
    binaries.build(session, jobs[0].kernel, choice)
    a, b = suite.several(session, jobs, patterns, binaries.tests(choice))
    if lost := a.lost or b.lost:
        raise lost
    return a, b


def _compare(
    session: Session, choice: RunChoice, jobs: Sequence[Job], outcomes: tuple[Outcome, Outcome]
) -> list[Pair]:
    def rerun(names: Sequence[str]) -> tuple[Outcome, Outcome]:
        session.progress.say(f"repeated on both: {', '.join(names)}")
        repeated = [
            replace(job, options=replace(job.options, parameters=(*job.options.parameters, AGAIN)))
            for job in jobs
        ]
        return _boot(session, choice, repeated, names if len(names) <= AT_ONCE else ["*"])

    return changes.confirm(changes.compare(*outcomes), rerun)


def _show(result: SelftestResult, sides: str) -> None:
    out = console()
    title = f"{result.arch.name} · {sides}\ncases that do not pass on both"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("case", *result.labels, "message"):
        table.add_column(column)
    for name, case in changes.grouped(result.cases):
        told = " · ".join(text for text in (case.remark(result.labels), case.told) if text)
        statuses = [Text(status, STYLE[status]) for status in (case.a, case.b)]
        table.add_row(name, *statuses, Text(told))
    out.print(table)
    for label, count in zip(result.labels, _counts(result), strict=True):
        text = ", ".join(f"{number} {status}" for status, number in count.items())
        out.print(f"{result.arch.name} {label}: {text}")
    for name, why in result.choice.left_out.items():
        out.print(f"{result.arch.name}: left out: {name}: {why}")
    if idle := ", ".join(changes.idle(result.cases)):
        what = f"no case passes on {result.labels[0]}, so nothing was compared"
        out.print(f"{result.arch.name}: {what}: {idle}")


def _counts(result: SelftestResult) -> tuple[dict[str, int], dict[str, int]]:
    """The number of cases per status, on A and on B."""
    cases = result.cases
    return changes.counts(case.a for case in cases), changes.counts(case.b for case in cases)


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
        "cases": [{key: getattr(case, key) for key in CASE} for case in result.cases],
    }


def _failure(results: Sequence[SelftestResult]) -> QuireError | None:
    """The cases that pass on A but not on B, or a message if no case passes on A."""
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
    return Difference(f"{b} fails cases that {a} passes", "\n".join(lines), "read both logs")
