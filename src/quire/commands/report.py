# SPDX-License-Identifier: GPL-2.0
"""Review a posted series: its costs, regressions and behavioural differences.

Applies the series, builds both sides, counts the benchmarks that exercise the touched files, runs
the corresponding tests on both sides, and fuzzes both, comparing state and costs. The result is a
plain-text reply for the list. guest/workloads/concerns.toml maps files to benchmarks and tests.

  quire report topic.mbox --base 7.3                 a mailbox, a patch, a quilt series, a folder
  quire report t.mbox.gz --base 7.3                  a thread from a list's archive (needs b4)
  quire report 20260501-topic-v2-0@example.org       the same by Message-ID (needs a network)
  quire report topic --git ~/linux --a v7.3          a branch
  quire report topic.mbox --budget 30                30 minutes; the most informative parts first
  quire report topic.mbox --null 3                   also the spread from code placement alone
  quire report topic.mbox --details                  all figures, and the paths of the logs
  quire report topic.mbox --junit report.xml --json  for CI (docs/ci.md)

Exit status: 1 if a benchmark's cost grows by more than --limit, a test fails that passes without
the series, or a program's state differs or its cost grows; 2 if the series does not apply; 3 if it
does not build; 4 if its guest is lost in both of two runs and the base's guest in neither.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from quire.arch import requirements
from quire.commands import options
from quire.host.errors import Difference, UserError
from quire.measure import concerns, cycles
from quire.review import reply, tasks
from quire.review.found import Found
from quire.session import Session
from quire.source import apply
from quire.suites import formats, outcome


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the series, its base, and limits."""
    options.cluster(part)
    options.counting(part)
    add = part.add_argument
    text = "the series: a file, a folder, a Message-ID, or a branch of --git"
    add("what", metavar="MBOX|DIR|ID|BRANCH", help=text)
    options.thread(part)
    options.base(part)
    part.set_defaults(base="")
    add("--source", type=Path, metavar="DIR", help="a kernel tree to use instead of Debian's")
    text = "the repository with the branch, or with the blobs for a three-way merge"
    add("--git", type=Path, metavar="DIR", help=text)
    add("--a", default="", metavar="REV", help="the revision to compare the branch with")
    options.configuration(part)
    text = "stop after this many minutes, and reply (default: no limit)"
    add("--budget", type=float, default=float("inf"), metavar="MINUTES", help=text)
    text = "time to fuzz each architecture (default %(default)g)"
    add("--fuzz", type=float, default=10.0, metavar="MINUTES", help=text)
    text = "largest acceptable cost increase of a benchmark (default %(default)g)"
    add("--limit", type=float, default=1.0, metavar="PERCENT", help=text)
    options.null(part)
    cycles.add_option(part)
    add("--details", action="store_true", help="print all figures after the reply")
    options.as_json(part, "print JSON instead of the reply")
    add("--junit", type=Path, metavar="FILE", help="also write JUnit XML to this file")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Check what the time allows, then reply; finally raise the worst finding."""
    end = time.monotonic() + 60 * arguments.budget
    session = tasks.with_series(session, arguments.what)
    given = bool(arguments.base or arguments.source or arguments.a)
    chosen = tasks.base_of(session, given=given)
    session = replace(session, side_options=chosen.options) if chosen else session
    requirements.require(session.architectures)
    sides = session.sides()
    if sides.same:
        raise UserError("the series changes nothing", arguments.what, "name another series")
    folder = session.project.guest / "workloads"
    concerned = concerns.by_files(folder, apply.touched(sides.series))
    more = (arguments.null, arguments.cycles)
    found = Found(sides, concerned, arguments.limit / 100, *more, chosen)
    tasks.run(session, found, end, arguments.fuzz)
    if arguments.junit:
        arguments.junit.write_text(formats.junit(found.outcomes()), "utf-8")
    if arguments.json:
        print(json.dumps(reply.document(found, sys.argv), indent=1))
    else:
        text = reply.text(found, sys.argv[1:])
        print(f"{text}\n\n{reply.details(found)}" if arguments.details else text)
    worst = outcome.failures(found.outcomes())
    if isinstance(worst, Difference):
        what = "the series has regressions or behavioural differences"
        raise Difference(what, worst.where, "read the reply")
    if worst:
        raise worst
