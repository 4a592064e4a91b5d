# SPDX-License-Identifier: GPL-2.0
"""Test helpers of the series with KUnit, also with two-level page tables.

Small kernels without user space run the suites of lines/6.12/seeded/kunit.patch. The suites compare
contpte blocks with a plain loop (on stock, too), and batches with a page-by-page definition. i386
and arm64 with 64 KiB pages fold the PMD.

  quire kunit                  all kernels
  quire kunit i386 arm64-64k   two kernels
  quire kunit --list           list the kernels
"""

import argparse
import json

from quire.arch import requirements
from quire.commands import options
from quire.host import console
from quire.host.errors import Difference
from quire.session import Session
from quire.suites import kunit, seeded


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select kernels."""
    options.sides(part)
    options.emulated(part, "boots kernels without user space")
    part.add_argument("kernel", nargs="*", help="name of a kernel (default: all)")
    part.add_argument("--list", action="store_true", help="list the kernels and their suites")
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run the suites. Difference if one fails or is missing, GuestLost for a lost kernel."""
    if arguments.list:
        options.refuse(arguments, "json", "with --list")
    sides = session.sides()
    where = seeded.folder(sides)
    proofs = kunit.select(kunit.read(where / kunit.TABLE), arguments.kernel, session.architectures)
    if arguments.list:
        for proof in proofs:
            print(f"{proof.name}: {proof.tree}, {' '.join(proof.suites)}")
        return
    requirements.require([proof.arch for proof in proofs])
    outcomes = []
    for proof in proofs:
        kernel = kunit.build(session, sides, proof, where)
        with session.progress.stage(f"{proof.name} suites"):
            outcomes.append(kunit.boot(session, kernel, proof))
        if not arguments.json:
            word, style = ("FAIL", "red") if outcomes[-1].problem else ("ok  ", "green")
            suites, cases = " ".join(proof.suites), len(outcomes[-1].cases)
            console.show(word, style, f"{proof.name}: {suites} ({cases} cases)")
    if arguments.json:
        rows = []
        for boot in outcomes:
            named = {case.name: case.status for case in boot.cases}
            rows.append({"kernel": boot.name, "trouble": boot.problem, "cases": named})
        print(json.dumps(rows, indent=1))
    failed = [outcome for outcome in outcomes if outcome.problem]
    if failed:
        raise Difference(
            f"{len(failed)} of {len(outcomes)} kernels failed",
            "\n".join(f"{boot.name}: {boot.problem}\nwhole log: {boot.logs}" for boot in failed),
            "fix the series, or the definition in the suite",
        )
