# SPDX-License-Identifier: GPL-2.0
"""Prove the tests: boot kernels with seeded bugs, and verify that each is caught.

One kernel per architecture contains all bugs; a boot argument selects one. First, with no bug
selected, the cases of all bugs must pass.

  quire seeded                         every bug, both architectures
  quire seeded ARCH=arm64 lost-dirty   one
  quire seeded lost-dirty --cases 'mremap.*'   which other cases catch it
  quire seeded --proofs ARCH=arm64     does each case of proofs.toml fail with its bug?
  quire seeded --few --smp 2         a sample; with no bug selected, also races on two CPUs
  quire seeded --list                list the bugs
  quire seeded --config configs/debug.config   also bugs that need failing allocations
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial

from quire.arch import requirements
from quire.build.kernel import Kernel
from quire.commands import options
from quire.host import console, parallel, shard
from quire.host.errors import Difference
from quire.session import Session
from quire.test import expected, outcome, seeded, suite
from quire.test.expected import Expected
from quire.test.seeded import Bug, SeededResult
from quire.test.suite import BootOptions, Job

# What several CPUs run.
RACES = "*.race*-64k"
# With no bug selected.
CLEAN = (f"{seeded.PARAMETER}={seeded.LATE}",)


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select bugs."""
    options.kernel(part)
    options.cluster(part)
    shard.add(part, "bugs")
    add = part.add_argument
    add("bug", nargs="*", help="name of a bug (default: all)")
    text = "run these cases instead of those listed for the bug; may be repeated"
    add("--cases", action="append", default=[], metavar="PATTERN", help=text)
    text = "run the cases of the line's proofs.toml instead; each must fail"
    add("--proofs", action="store_true", help=text)
    options.cpus(part, 1)
    add("--few", action="store_true", help="only the line's sample of bugs")
    text = "list the bugs and the cases that must catch them"
    add("--list", action="store_true", help=text)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Difference when a bug is missed, or a case fails with no bug selected."""
    if arguments.list:
        options.refuse(arguments, "cases proofs smp cpu json config cluster", "with --list")
    if arguments.cases:
        options.refuse(arguments, "proofs", "with --cases")
    sides = session.sides()
    where = seeded.folder(sides)
    known_bugs = seeded.read(where)
    names = [*arguments.bug, *(bug.name for bug in known_bugs if arguments.few and bug.sample)]
    bugs = arguments.shard.some(seeded.select(known_bugs, names))
    if arguments.cases:
        bugs = [replace(bug, cases=tuple(arguments.cases)) for bug in bugs]
    if arguments.list:
        for bug in bugs:
            print(f"{bug.name}: {bug.about} ({' '.join(bug.architectures)})")
        return
    requirements.require(session.architectures)
    tree = seeded.tree_with_bugs(session.cache, sides, where)
    # What fails without a bug, too, says nothing about one.
    known = expected.read(sides.line.expected)
    findings = []
    for arch in session.architectures:
        kernel = seeded.kernel(session, arch, tree)
        visible = [bug for bug in bugs if bug.shown_by(kernel, session.configs)]
        if arguments.proofs:
            visible = seeded.proved(visible, seeded.proofs(where), arch.guest, session.configs)
        races = BootOptions(arguments.smp, parameters=CLEAN)
        clean = [(races, [RACES])] if arguments.smp > 1 else []
        findings += _look_for(session, kernel, visible, known, clean, quiet=arguments.json)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    _require(findings, each=arguments.proofs)


def _require(findings: Sequence[SeededResult], *, each: bool) -> None:
    """Difference if a bug was missed; with `each`, if a case of a bug passed."""
    passed = [line for finding in findings for line in finding.passed]
    if each and passed:
        what, remedy = "cases pass with their bug", "correct the case, or proofs.toml"
        raise Difference(f"{len(passed)} {what}", "\n".join(passed), remedy)
    missed = [finding for finding in findings if not finding.caught]
    if missed:
        raise Difference(
            f"{len(missed)} of {len(findings)} seeded bugs were not caught",
            "\n".join(f"{finding.arch}: {finding.bug.name}" for finding in missed),
            "write a case that fails with the bug: quire_bug=NAME on the kernel command line",
        )


def _look_for(
    session: Session,
    kernel: Kernel,
    bugs: list[Bug],
    known: list[Expected],
    clean: list[tuple[BootOptions, list[str]]],
    *,
    quiet: bool,
) -> list[SeededResult]:
    """`clean`: boots with no bug selected, besides those of the bugs' cases."""
    boot = BootOptions()
    for cpus in sorted({bug.cpus for bug in bugs}):
        late = BootOptions(cpus, parameters=CLEAN)
        cases = (case for bug in bugs if bug.cpus == cpus for case in bug.cases)
        clean += [(late, some) for some in seeded.batches(cases)]
    progress, machines = session.progress, session.place.machines

    def caught(done: int, _: Bug, finding: SeededResult) -> None:
        progress.at(len(clean) + done, finding.bug.name)
        if not quiet:
            style, word = ("green", "caught") if finding.caught else ("red", "MISSED")
            by = f"  by {finding.by}" if finding.by else ""
            console.show(word, style, f"{finding.arch} {finding.bug.name}{by}")

    with progress.stage(f"{kernel.arch.name} seeded bugs", len(clean) + len(bugs)):
        passed = parallel.side_by_side(
            range(len(clean)),
            lambda number: suite.run(session, Job(kernel, clean[number][0]), clean[number][1]),
            lambda done, *_: progress.at(done, "none selected"),
            machines,
        )
        if error := outcome.failures(expected.resolve(passed, known)):
            raise error
        hunt = partial(seeded.hunt, session, kernel, options=boot, known=known)
        return parallel.side_by_side(bugs, hunt, caught, machines)
