# SPDX-License-Identifier: GPL-2.0
"""Answer a posted series: what it costs, what it breaks, what differs in state.

Applies the series, builds both sides, counts the rows that the touched files concern, runs their
tests on both sides, and fuzzes with state and costs. The result is plain text, as a reply to the
list. The table of files, rows and cases is guest/workloads/concerns.toml.

  quire report topic.mbox --base 7.3                 a mailbox, a patch, a quilt series, a folder
  quire report t.mbox.gz --base 7.3                  a thread, as a list's archive has it (needs b4)
  quire report 20260501-topic-v2-0@example.org       the same by Message-ID, with a network
  quire report topic --git ~/linux --a v7.3          a branch
  quire report topic.mbox --budget 30                half an hour: the most telling things first
  quire report topic.mbox --junit report.xml --json  and for a CI (docs/ci.md)

Exit status 1 if a row costs more than --limit, a test fails that passes without the series, or a
program shows another state or higher costs; 2 if the series does not apply; 3 if it does not
build; 4 if a guest is lost.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from quire import lab
from quire.arch import Architecture, requirements
from quire.boot.ktap import Status
from quire.commands import options
from quire.fuzz import report as fuzz_report
from quire.fuzz import runner
from quire.fuzz.cost import allowed, watch
from quire.fuzz.cost.judge import CostJudge
from quire.fuzz.difference import excuses
from quire.fuzz.difference.judge import DifferenceJudge
from quire.fuzz.hunt import Hunt
from quire.fuzz.judge import Judge
from quire.fuzz.programs import Programs
from quire.host import process
from quire.host.errors import Difference, GuestLost, UserError
from quire.measure import bench, concerns
from quire.measure.bench import Rig, Sampling
from quire.measure.workloads import Cell, on_architecture
from quire.report import data
from quire.report.reply import Reply
from quire.report.steps import name as row_name
from quire.session import Session
from quire.source import apply, mail
from quire.test import expected, export, outcome, suite
from quire.test.outcome import Case
from quire.test.suite import BootOptions, Job

# Folio sizes in KiB, the most telling first; rows without a size come with the first.
SIZES = ((64,), (4, 2048))
# Counted if no entry of the table names a touched file.
CONTROLS = ("mremap", "munmap", "mprotect", "fork", "swapout")
Task = tuple[str, Callable[[], None]]
# Programs a boot of the fuzzer; findings after which it stops.
PROGRAMS, FINDINGS = 100, 3


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the series, its base, and how much to do."""
    options.cluster(part)
    options.counting(part)
    add = part.add_argument
    text = "the series: a file, a folder, a Message-ID; a branch is one of --git"
    add("what", metavar="MBOX|DIR|ID|BRANCH", help=text)
    options.thread(part)
    options.base(part)
    add("--source", type=Path, metavar="DIR", help="any kernel tree in place of Debian's")
    add("--git", type=Path, metavar="DIR", help="the repository of the branch")
    add("--a", default="", metavar="REV", help="what the branch is compared with")
    options.configuration(part)
    text = "begin nothing after so many minutes (default: no limit)"
    add("--budget", type=float, default=float("inf"), metavar="MINUTES", help=text)
    text = "fuzz each architecture for so long (default %(default)g)"
    add("--fuzz", type=float, default=10.0, metavar="MINUTES", help=text)
    text = "a row that costs more by this share fails (default %(default)g)"
    add("--limit", type=float, default=1.0, metavar="PERCENT", help=text)
    options.as_json(part, "print JSON in place of the reply")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML there, too")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Do what the time allows, then reply. The worst of what was found is raised at the end."""
    wanted, path = session.side_options, Path(arguments.what)
    if not wanted.git and mail.is_message_id(arguments.what):
        path = mail.fetch(session.cache, arguments.what)
    branch = wanted.git and not path.exists()
    wanted = replace(wanted, b=arguments.what) if branch else replace(wanted, series=path)
    session = replace(session, side_options=wanted)
    requirements.require(session.architectures)
    sides, started = session.sides(), time.monotonic()
    if sides.same:
        raise UserError("the series changes nothing", arguments.what, "name another one")
    reply = Reply(sides, arguments.limit / 100, sys.argv[1:])
    for name, task in _tasks(session, arguments.fuzz, reply):
        if time.monotonic() - started > 60 * arguments.budget:
            reply.left.append(name)
            continue
        try:
            task()
        except GuestLost as lost:
            process.go_on()
            kernel = session.kernel(session.architectures[0], sides.b.tree)
            reply.tests.append(outcome.Outcome(name, kernel, lost=lost))
    outcomes, text = reply.outcomes(), reply.text()
    if arguments.junit:
        arguments.junit.write_text(export.junit(outcomes), "utf-8")
    if arguments.json:
        counts = data.report(sys.argv, sides, [*reply.parts.values()])
        tests = [outcome.as_json(boot) for boot in reply.tests]
        fuzz = [fuzz_report.figures(hunt) for hunt in reply.hunts]
        document = {"bench": counts, "tests": tests, "fuzz": fuzz, "reply": text}
        print(json.dumps(document, indent=1))
    else:
        print(text)
    worst = outcome.failures(outcomes)
    if isinstance(worst, Difference):
        what = "a row costs more, a test fails, or a program differs"
        raise Difference(what, worst.where, "read the reply")
    if worst:
        raise worst


def _tasks(session: Session, minutes: float, reply: Reply) -> Iterator[Task]:
    """The most telling first; each with a name for what is left out."""
    folder = session.project.guest / "workloads"
    rows, cases = concerns.by_files(folder, apply.touched(reply.sides.series))
    catalogue, architectures = lab.workloads(session), session.architectures
    for sizes in SIZES:
        cells = catalogue.cells(rows or CONTROLS, sizes)
        some = [cell for cell in cells if cell.size is not None or sizes == SIZES[0]]
        for arch in architectures:
            name = f"{arch.name}: rows of {', '.join(map(str, sizes))} KiB"
            yield name, partial(_count, session, arch, reply, some)
        for arch in architectures if sizes == SIZES[0] else ():
            yield f"{arch.name}: tests", partial(_test, session, arch, reply, cases or ["*"])
        for arch in architectures if sizes == SIZES[0] else ():
            yield f"{arch.name}: programs", partial(_fuzz, session, arch, reply, minutes)


def _count(session: Session, arch: Architecture, reply: Reply, cells: Sequence[Cell]) -> None:
    both, sampling = lab.rigs(session, arch, reply.sides), Sampling(place=session.place)
    cells = on_architecture(arch, cells)
    for each in both:
        cells, gone = bench.countable(cells, each.kernel)
        if gone:
            reply.left.append(f"{arch.name}: calls: {each.kernel.tree.label} has {gone}")
    try:
        bench.measure(session.cache, both, cells, session.progress, sampling)
    except (Difference, GuestLost):
        process.go_on()
        cells = [cell for cell in cells if _counts(session, both, cell, reply)]
    rows, made, _ = lab.compare(session, reply.sides, both, cells, sampling)
    before = reply.parts[arch.name][0].rows if arch.name in reply.parts else ()
    reply.parts[arch.name] = (replace(rows, rows=(*before, *rows.rows)), made)


def _counts(session: Session, both: Sequence[Rig], cell: Cell, reply: Reply) -> bool:
    """Whether a row can be counted on both sides. If not, the reply says why."""
    row, sampling = row_name(cell), Sampling(place=session.place)
    for rig, stock in zip(both, (True, False), strict=True):
        arch = rig.kernel.arch.name
        try:
            bench.measure(session.cache, [rig], [cell], session.progress, sampling)
        except GuestLost as lost:
            process.go_on()
            reply.tests.append(outcome.Outcome(f"{arch}-{row}", rig.kernel, lost=lost))
            return False
        except Difference as wrong:
            process.go_on()
            if stock:
                reply.left.append(f"{arch}: {row}: without the series: {wrong.what}")
            else:
                case = Case(f"bench.{row}", Status.FAIL, wrong.what)
                reply.tests.append(outcome.Outcome(f"{arch}-{row}", rig.kernel, (case,)))
            return False
    return True


def _test(session: Session, arch: Architecture, reply: Reply, cases: Sequence[str]) -> None:
    """Run cases on both sides; B must pass what A passes."""
    kernels = [session.kernel(arch, side.tree) for side in reply.sides.both]
    jobs = [Job(kernel, BootOptions()) for kernel in kernels]
    outcomes = suite.several(session, jobs, cases)
    reply.tests += expected.resolve(outcomes, expected.inherited(outcomes, reply.sides))


def _fuzz(session: Session, arch: Architecture, reply: Reply, minutes: float) -> None:
    """Hunt for so many minutes, for differences in state and costs."""
    sides = reply.sides
    targets = runner.prepare(session, arch, sides, alone=False, noise=False, swap=runner.ZRAM)
    judges: list[Judge[Any]] = [DifferenceJudge(targets, excuses.applying(sides.series))]
    try:
        functions = watch.functions(targets.tried.kernel)
        meant = allowed.applying(sides.series, sides.a.tree.series, functions)
        judges.append(CostJudge(targets, watch.prepare(session, targets), meant))
    except UserError as error:
        # The series renames or inlines a function that is watched.
        reply.left.append(f"{arch.name}: costs of programs: {error.what}")
    hunt = Hunt(judges, session.cache.root / "report" / "fuzz" / arch.name)
    reply.hunts.append(hunt)
    seed, started = 1, time.monotonic()
    while time.monotonic() - started < 60 * minutes and len(hunt.findings) < FINDINGS:
        hunt.run(Programs(PROGRAMS, seed), FINDINGS, session.progress)
        seed += PROGRAMS
    hunt.seconds = time.monotonic() - started
