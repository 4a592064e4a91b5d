# SPDX-License-Identifier: GPL-2.0
"""Run the behaviour tests on the patched kernels, the stock ones, or two sides of your own.

A pattern is a shell pattern for suite.case; without one, all cases run. One CPU under -icount is
exactly reproducible; --smp 2 runs without -icount, so that races can happen.

  quire test                            all cases, both architectures
  quire test 'mremap.*' ARCH=arm64      one suite
  quire test --size 64 --size 2048      cases of these folio sizes, and cases without a size
  quire test --stock 'mremap.content*'  on the base
  quire test --all                      stock and patched, normal, debug, KASAN, 1 and 2 CPUs
  quire test --list                     list the cases, without a kernel
  quire test --kernel ~/linux/build     an existing kernel, stock or patched
  quire test --junit results.xml        for CI: JUnit XML (--ktap FILE: KTAP)

lines/NAME/expected.toml lists the expected failures of each kernel, lines/skips.toml the expected
skips. Any other skip is a failure, and so is an expected failure that passes with one CPU. For two
sides of your own (--series, --a and --b), B must pass what A passes.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from quire.arch import requirements
from quire.commands import options
from quire.host.console import head
from quire.kernels import existing
from quire.kernels.kernel import Kernel
from quire.report import tests
from quire.session import Session
from quire.source.side import STOCK, Sides
from quire.suites import expected, formats, matrix, outcome, suite
from quire.suites.expected import Expected
from quire.suites.outcome import Outcome
from quire.suites.suite import Job


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select cases, kernels and the machine."""
    options.kernel(part)
    options.cluster(part)
    options.shard(part, "cases")
    add = part.add_argument
    add("pattern", nargs="*", help="suite.case, with * and ? (default: all)")
    text = "only cases of this folio size in KiB, and cases without a size; may be repeated"
    add("--size", type=int, action="append", choices=suite.SIZES, default=[], help=text)
    add("--all", action="store_true", help="test all kernels, in parallel")
    text = "reuse boots of the same kernel and guest that an earlier run completed"
    add("--resume", action="store_true", help=text)
    options.stock(part)
    options.cpus(part, 1)
    options.timeout(part)
    text = "run your own KTAP test instead of ours, a C file or a static binary; the patterns "
    text += "become its arguments"
    add("--program", type=Path, metavar="FILE", help=text)
    text = "test this built kernel, an O= directory, and build nothing; may be repeated. With "
    text += "--stock, use the failures expected of stock"
    add("--kernel", type=Path, action="append", default=[], metavar="DIR", help=text)
    text = "list the cases: suite.case, with @fixes if stock fails it"
    add("--list", action="store_true", help=text)
    options.as_json(part, "print JSON (docs/ci.md)")
    add("--junit", type=Path, metavar="FILE", help="also write JUnit XML to this file")
    add("--ktap", type=Path, metavar="FILE", help="also write KTAP to this file")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run the tests. Difference if a case fails, GuestLost if a guest is lost."""
    _refuse(arguments)
    if arguments.list:
        print("\n".join(suite.listing(session.project.guest / "tests")))
        return
    # The guest chooses the cases.
    parameters = [f"{suite.SHARD}={arguments.shard}"] if arguments.shard != options.WHOLE else []
    if arguments.size:
        parameters.append(suite.of_sizes(arguments.size))
    boot = suite.BootOptions(
        arguments.smp, arguments.timeout, resume=arguments.resume, parameters=tuple(parameters)
    )
    known: list[Expected] | Sides
    if arguments.kernel:
        kernels, known = _given(session, arguments)
    else:
        requirements.require(session.architectures)
        sides = session.sides()
        known = expected.read(sides.line.file("expected")) if sides.ours else sides
        if arguments.all:
            _report(session, arguments, matrix.jobs(session, sides, boot), known)
            return
        # For another series, B must pass what A passes.
        both = [side.tree for side in sides.both]
        trees = both[:1] if arguments.stock or sides.same else both[1:] if sides.ours else both
        kernels = [session.kernel(arch, tree) for arch in session.architectures for tree in trees]
    _report(session, arguments, [Job(kernel, boot) for kernel in kernels], known)


def _refuse(arguments: argparse.Namespace) -> None:
    """Refuse options that have no effect in combination: UserError."""
    if arguments.list:
        names = "pattern size all resume smp cpu timeout program json junit ktap shard"
        options.refuse(arguments, names, "with --list")
    if arguments.kernel:
        names = "all base source config only series a b git cpu ARCH"
        names += "" if arguments.stock else " line"
        options.refuse(arguments, names, "with --kernel, which names built kernels")
    if arguments.all:
        options.refuse(arguments, "size stock smp cpu timeout program", "with --all")
    if arguments.program:
        names = "shard size"
        options.refuse(arguments, names, "with --program, whose cases are unknown before it runs")
    options.require_series(arguments)


def _given(session: Session, arguments: argparse.Namespace) -> tuple[list[Kernel], list[Expected]]:
    """The existing kernels, and their expected failures."""
    label = STOCK if arguments.stock else ""
    kernels = [
        existing.read(path, label or path.resolve().name, session.cross_compile)
        for path in arguments.kernel
    ]
    # One image with one name is one boot.
    named = {(kernel.tree.label, kernel.image_sha256): kernel for kernel in kernels}
    kernels = list(named.values())
    requirements.require(list(dict.fromkeys(kernel.arch for kernel in kernels)))
    known = []
    for kernel in kernels if arguments.stock else ():
        known += expected.read(session.line(kernel.tree.base).file("expected"))
    return kernels, known


def _report(
    session: Session,
    arguments: argparse.Namespace,
    jobs: Sequence[Job],
    known: list[Expected] | Sides,
) -> None:
    """Run the boots and report. `known`: the expected failures; for two sides without a list, the
    sides."""
    patterns, chosen = arguments.pattern or ["*"], suite.OURS
    if arguments.program:
        session = replace(session, programs=(arguments.program,))
        patterns, chosen = arguments.pattern, suite.of_program(arguments.program)
    outcomes = suite.several(session, jobs, patterns, chosen)
    # The lists of skips cover only our own kernels and tests.
    listed = not arguments.kernel and not arguments.program
    skips = expected.skips(session.project.root / "lines/skips.toml") if listed else None
    whole = patterns == ["*"] and arguments.shard == options.WHOLE
    outcomes = expected.judge(outcomes, known, skips, whole=whole)
    _print(session, arguments, outcomes)
    if error := outcome.failures(outcomes):
        raise error


def _print(session: Session, arguments: argparse.Namespace, outcomes: Sequence[Outcome]) -> None:
    if arguments.all:
        matrix.keep(session.cache.root / "test", outcomes)
    # Files for CI, written even if a guest was lost.
    if arguments.junit:
        arguments.junit.write_text(formats.junit(outcomes), "utf-8")
    if arguments.ktap:
        arguments.ktap.write_text(formats.ktap(outcomes), "utf-8")
    if arguments.json:
        # The schema is docs/schema/test.json.
        kernels = [outcome.as_json(boot) for boot in outcomes]
        print(json.dumps(head("test") | {"kernels": kernels}, indent=1))
    elif arguments.all:
        tests.show_all(outcomes)
    else:
        for boot in outcomes:
            tests.show(boot)
