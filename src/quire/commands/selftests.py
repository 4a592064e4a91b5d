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
from dataclasses import replace

from quire.arch import requirements
from quire.commands import options
from quire.kselftest import changes, runs
from quire.report import tests
from quire.session import Session
from quire.source.side import Sides
from quire.source.tree import Tree
from quire.suites import seeded
from quire.suites.suite import BootOptions, Job


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
        results.append(changes.run(session, choice, jobs, patterns, labels))
        if not arguments.json:
            tests.show_selftests(results[-1], sides.title)
    if arguments.json:
        print(json.dumps([result.as_json() for result in results], indent=1))
    if error := changes.failure(results):
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
