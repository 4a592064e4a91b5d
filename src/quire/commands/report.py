# SPDX-License-Identifier: GPL-2.0
"""Reply to a posted series: what it costs, what it breaks, what behaves differently.

Applies the series, builds both sides, counts the benchmarks that the touched files concern, runs
their tests on both sides, and fuzzes with state and costs. The result is plain text, as a reply to
the list. The table of files, benchmarks and cases is guest/workloads/concerns.toml.

  quire report topic.mbox --base 7.3                 a mailbox, a patch, a quilt series, a folder
  quire report t.mbox.gz --base 7.3                  a thread, as a list's archive has it (needs b4)
  quire report 20260501-topic-v2-0@example.org       the same by Message-ID, with a network
  quire report topic --git ~/linux --a v7.3          a branch
  quire report topic.mbox --budget 30                half an hour: the most telling things first
  quire report topic.mbox --null 3                   what code placement alone changes, beside it
  quire report topic.mbox --details                  all figures, and where the logs are
  quire report topic.mbox --junit report.xml --json  and for a CI (docs/ci.md)

Exit status 1 if a benchmark costs more than --limit, a test fails that passes without the series,
or a program shows another state or higher costs; 2 if the series does not apply; 3 if it does not
build; 4 if its guest is lost in both of two runs, and that of the base in none.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from quire.arch import requirements
from quire.commands import options
from quire.host.errors import Difference, UserError
from quire.measure import concerns, cycles
from quire.review import details, reply, tasks
from quire.review.found import Found
from quire.review.tasks import Time
from quire.session import Session
from quire.source import apply
from quire.suites import formats, outcome


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the series, its base, and how much to do."""
    options.cluster(part)
    options.counting(part)
    add = part.add_argument
    text = "the series: a file, a folder, a Message-ID; a branch is one of --git"
    add("what", metavar="MBOX|DIR|ID|BRANCH", help=text)
    options.thread(part)
    options.base(part)
    part.set_defaults(base="")
    add("--source", type=Path, metavar="DIR", help="any kernel tree in place of Debian's")
    text = "the repository of the branch, or one with the blobs that a three-way merge needs"
    add("--git", type=Path, metavar="DIR", help=text)
    add("--a", default="", metavar="REV", help="what the branch is compared with")
    options.configuration(part)
    text = "stop after so many minutes, and reply (default: no limit)"
    add("--budget", type=float, default=float("inf"), metavar="MINUTES", help=text)
    text = "fuzz each architecture for so long (default %(default)g)"
    add("--fuzz", type=float, default=10.0, metavar="MINUTES", help=text)
    text = "a benchmark that costs more by this share fails (default %(default)g)"
    add("--limit", type=float, default=1.0, metavar="PERCENT", help=text)
    options.null(part)
    cycles.add_option(part)
    add("--details", action="store_true", help="print all figures after the reply")
    options.as_json(part, "print JSON in place of the reply")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML there, too")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Do what the time allows, then reply. The worst of what was found is raised at the end."""
    time = Time(arguments.budget, arguments.fuzz)
    session = tasks.with_series(session, arguments.what)
    given = bool(arguments.base or arguments.source or arguments.a)
    chosen = tasks.base_of(session, given=given)
    session = replace(session, side_options=chosen.options) if chosen else session
    requirements.require(session.architectures)
    sides = session.sides()
    if sides.same:
        raise UserError("the series changes nothing", arguments.what, "name another one")
    folder = session.project.guest / "workloads"
    concerned = concerns.by_files(folder, apply.touched(sides.series))
    more = (arguments.null, arguments.cycles)
    found = Found(sides, concerned, arguments.limit / 100, *more, chosen)
    tasks.run(session, found, time)
    if arguments.junit:
        arguments.junit.write_text(formats.junit(found.outcomes()), "utf-8")
    if arguments.json:
        print(json.dumps(reply.document(found, sys.argv), indent=1))
    else:
        text = reply.text(found, sys.argv[1:])
        print(f"{text}\n\n{details.text(found)}" if arguments.details else text)
    worst = outcome.failures(found.outcomes())
    if isinstance(worst, Difference):
        what = "a benchmark costs more, a test fails, or a program differs"
        raise Difference(what, worst.where, "read the reply")
    if worst:
        raise worst
