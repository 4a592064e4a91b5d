# SPDX-License-Identifier: GPL-2.0
"""Test the tests: boot kernels with seeded bugs, and verify that each is caught.

One kernel per architecture contains all bugs; a boot argument selects one. First, with no bug
selected, the cases of all bugs must pass.

  quire seeded                         every bug, both architectures
  quire seeded ARCH=arm64 lost-dirty   one bug
  quire seeded lost-dirty --cases 'mremap.*'   do these cases catch it, too?
  quire seeded --proofs ARCH=arm64     does each case of proofs.toml fail with its bug?
  quire seeded --few --smp 2         a sample of bugs; the run without a bug includes races
  quire seeded --list                list the bugs
  quire seeded --config configs/debug.config   also bugs that need failing allocations
"""

import argparse
import json
from dataclasses import asdict, replace

from quire.arch import requirements
from quire.commands import options
from quire.host import console
from quire.session import Session
from quire.suites import expected, seeded
from quire.suites.seeded import SeededResult
from quire.suites.suite import BootOptions

# Cases that need several CPUs.
RACES = "*.race*-64k"


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select bugs."""
    options.kernel(part)
    options.cluster(part)
    options.shard(part, "bugs")
    add = part.add_argument
    add("bug", nargs="*", help="name of a bug, from --list (default: all)")
    text = "run these cases instead of the bug's own; may be repeated"
    add("--cases", action="append", default=[], metavar="PATTERN", help=text)
    text = "run the cases in the line's proofs.toml instead; each must fail"
    add("--proofs", action="store_true", help=text)
    options.cpus(part, 1)
    add("--few", action="store_true", help="run only the line's sample of bugs")
    text = "list the bugs and the cases that must catch them"
    add("--list", action="store_true", help=text)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run the bugs. Difference if one is missed, or a case fails with no bug selected."""
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
    # A case that also fails without a bug does not detect it.
    known = expected.read(sides.line.file("expected"))
    findings = []
    for arch in session.architectures:
        kernel = seeded.kernel(session, arch, tree)
        visible = [bug for bug in bugs if bug.shown_by(kernel, session.configs)]
        if arguments.proofs:
            visible = seeded.proved(visible, seeded.proofs(where), arch.guest, session.configs)
        races = BootOptions(arguments.smp, parameters=seeded.CLEAN)
        clean = [(races, [RACES])] if arguments.smp > 1 else []
        show = None if arguments.json else _show
        findings += seeded.look_for(session, kernel, visible, known, clean, show)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    seeded.require(findings, each=arguments.proofs)


def _show(finding: SeededResult) -> None:
    style, word = ("green", "caught") if finding.caught else ("red", "MISSED")
    by = f"  by {finding.by}" if finding.by else ""
    console.show(word, style, f"{finding.arch} {finding.bug.name}{by}")
