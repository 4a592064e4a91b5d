# SPDX-License-Identifier: GPL-2.0
"""Find the first commit that makes a benchmark more expensive.

`git bisect` chooses the revisions. Each takes one build, in a shared directory, and one boot. A
revision that does not build, or whose guest is lost, is skipped. `make olddefconfig` handles
options that come and go; a revision that lost an option is marked, as is one without a function
whose calls are counted. Everything is cached by content, so the same command resumes an interrupted
run. The repository is never changed.

  quire bisect mremap --size 64 --good v7.2 --bad v7.3 --git ~/linux ARCH=arm64
  quire bisect ksm-walk,vmas=2000,kind=plain --good A --bad B --git DIR --limit 5

A revision is bad if its instruction count exceeds that of --good by more than the limit. By
default, the limit is half of the difference between --good and --bad.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from quire import lab
from quire.arch import Architecture, requirements
from quire.commands import options
from quire.host.errors import Difference, UserError
from quire.host.git import run_git
from quire.measure.workloads import Benchmark, on_architecture
from quire.report.table import number
from quire.review.blame import Bisection
from quire.session import Session
from quire.source import base
from quire.source.steps import OfGit


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the benchmark, the two revisions and the limit."""
    options.cluster(part)
    options.counting(part)
    add = part.add_argument
    add("row", metavar="BENCHMARK", help="one benchmark, as for bench: swapout,data=zero")
    add("--size", type=int, default=64, metavar="KIB", help="its folio size (default %(default)s)")
    add("--good", required=True, metavar="REV", help="a cheaper revision")
    add("--bad", required=True, metavar="REV", help="a later, more expensive revision")
    add("--git", type=Path, required=True, metavar="DIR", help="the repository")
    text = "bad means more than this above --good (default: half of the difference)"
    add("--limit", type=float, metavar="PERCENT", help=text)
    options.configuration(part)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Bisect and report. Difference if only untestable revisions are left."""
    arch = session.architectures[0]
    requirements.require([arch])
    benchmark = _benchmark(session, arguments, arch)
    commits = OfGit.of(session.cache, arguments.git, arguments.good)
    repository = commits.repository
    good, bad = (base.commit(repository, name) for name in (arguments.good, arguments.bad))
    if run_git(repository, "merge-base", "--is-ancestor", good, bad).status:
        what = f"{arguments.good} is not an ancestor of {arguments.bad}"
        raise UserError(what, str(repository), "name an older --good: git merge-base")
    trial = Bisection(session, arch, benchmark, commits)
    limit = _limit(arguments, benchmark, trial.insns(good), trial.insns(bad))
    answer = trial.run(good, bad, limit)
    print(json.dumps(answer, indent=1) if arguments.json else _text(answer))
    if len(found := answer["first_bad"]) > 1:
        what = "the first bad commit is one of several that cannot be tested"
        raise Difference(what, "\n".join(map(trial.line, found)), "see why they failed")


def _benchmark(session: Session, arguments: argparse.Namespace, arch: Architecture) -> Benchmark:
    """The one benchmark. UserError if there are several, or none on this architecture."""
    benchmarks = lab.workloads(session).benchmarks([arguments.row], [arguments.size])
    benchmarks = on_architecture(arch, benchmarks)
    if len(benchmarks) != 1:
        names = "\n".join(f"{c.heading} {dict(c.parameters) or ''}" for c in benchmarks)
        what = f"{arguments.row}: {len(benchmarks)} benchmarks on {arch.name}, not one"
        raise UserError(
            what, names, "give a name, parameters and --size of one: quire bench --list"
        )
    return benchmarks[0]


def _limit(arguments: argparse.Namespace, benchmark: Benchmark, good: float, bad: float) -> float:
    """Instructions above which a revision is bad. UserError if --bad is not above."""
    limit = (good + bad) / 2 if arguments.limit is None else good * (1 + arguments.limit / 100)
    if bad <= max(good, limit):
        above = "" if arguments.limit is None else f" by more than {arguments.limit:g} %"
        what = f"--bad does not cost more than --good{above}"
        where = f"{benchmark.heading}: {number(good)} at {arguments.good}, "
        where += f"{number(bad)} at {arguments.bad}"
        raise UserError(what, where, "swap them, or choose another benchmark or --limit")
    return limit


def _text(answer: dict[str, Any]) -> str:
    lines = [answer["heading"], *answer["tried"]]
    if "symbols" in answer:
        a, b = answer["instructions"]
        lines += ["", f"{answer['first_bad'][0]} is the first bad commit", answer["subject"]]
        lines += [f"{number(a)} → {number(b)} instructions ({b / a - 1:+.1%})", *answer["events"]]
        symbols = answer["symbols"].items()
        lines += [f"{symbol}: {number(a)} → {number(b)}" for symbol, (a, b) in symbols]
    return "\n".join(lines)
