# SPDX-License-Identifier: GPL-2.0
"""Run swap, lazyfree, mremap, fork, KSM and mprotect on the same memory at once.

Several multithreaded processes apply all operations to the same ranges under memory pressure, and
verify the contents of every page. Exit status 0 means that all operations completed without a
difference, a splat or a leak. On two virtual CPUs, a seed reproduces the operations but not their
order.

  quire soak ARCH=arm64                          a million operations, patched kernel
  quire soak ARCH=arm64 --operations 100000 --seed 7
  quire soak --seconds 36000 --stock
  quire soak --smp 1                             reproducible, under -icount
  quire soak --config configs/debug.config
  quire soak --bug lost-dirty ARCH=arm64         is this seeded bug detected, and how soon?
"""

import argparse
import json
from typing import Any

from quire.arch import requirements
from quire.commands import options
from quire.report import tests
from quire.session import Session
from quire.suites import soak
from quire.suites.soak import SoakOptions


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select the duration and the machine."""
    options.kernel(part)
    add, positive = part.add_argument, options.positive
    text = f"stop after N operations (default {soak.OPERATIONS}; no limit with --seconds)"
    add("--operations", type=positive, metavar="N", help=text)
    add("--seconds", type=positive, default=0, metavar="N", help="stop after N seconds")
    add("--seed", type=positive, default=1, metavar="N", help="default 1")
    options.cpus(part, 2)
    group = part.add_mutually_exclusive_group()
    options.stock(group)
    text = "add this seeded bug, which must be detected; may be repeated"
    group.add_argument("--bug", action="append", default=[], metavar="NAME", help=text)
    text = "treat the guest as hung after this time (default: scaled to the operations)"
    add("--timeout", type=float, default=0.0, metavar="SECONDS", help=text)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run the soak test. Difference for a violation (with --bug: for none), GuestLost for a lost
    guest."""
    options.require_series(arguments)
    requirements.require(session.architectures)
    sides = session.sides()
    default = soak.UNLIMITED if arguments.seconds else soak.OPERATIONS
    chosen = SoakOptions(
        operations=arguments.operations or default,
        seconds=arguments.seconds,
        seed=arguments.seed,
        cpus=arguments.smp,
        timeout=arguments.timeout,
    )
    rows: list[dict[str, Any]] = []
    if arguments.bug:
        found = []
        for bug, report in soak.on_bugs(session, sides, arguments.bug, chosen):
            found.append((bug, report))
            rows.append({"bug": bug.name, **report.as_json()})
            if not arguments.json:
                tests.show_soaked_bug(bug, report)
        error = soak.missed(found)
    else:
        reports = []
        tree = sides.a.tree if arguments.stock else sides.b.tree
        for arch in session.architectures:
            reports.append(soak.on_kernel(session, session.kernel(arch, tree), chosen))
            rows.append(reports[-1].as_json())
            if not arguments.json:
                tests.show_soak(reports[-1])
        error = soak.failures(reports)
    if arguments.json:
        print(json.dumps(rows, indent=1))
    if error:
        raise error
