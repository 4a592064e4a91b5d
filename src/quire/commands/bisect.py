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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quire import lab
from quire.arch import Architecture, requirements
from quire.commands import options
from quire.host import process
from quire.host.errors import BuildFailed, Difference, GuestLost, UserError
from quire.host.git import run_git
from quire.measure import bench, comparison
from quire.measure.bench import Samples, Sampling
from quire.measure.comparison import BenchmarkResult, Move, References, grown
from quire.measure.workloads import Benchmark, on_architecture
from quire.report import waterfall as report
from quire.report.table import number
from quire.session import Session
from quire.source import base, steps
from quire.source.steps import BAD, GOOD, SKIP, OfGit

# Maximum number of symbols printed.
SYMBOLS = 10


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
    log = [trial.line(good, GOOD), trial.line(bad, BAD)]

    def judge(commit: str) -> str:
        try:
            verdict = BAD if trial.insns(commit) > limit else GOOD
        except (BuildFailed, GuestLost, Difference) as error:
            process.go_on()
            verdict, trial.notes[commit] = SKIP, error.what
        log.append(trial.line(commit, verdict))
        session.progress.say(log[-1])
        return verdict

    found = steps.bisect(repository, good, bad, judge)
    heading = f"{arch.name} · {report.name(benchmark)}: bad above {number(limit)}"
    answer = {"heading": heading, "limit": limit, "tried": log, "first_bad": found}
    answer |= trial.explain(found[0], good) if len(found) == 1 else {}
    print(json.dumps(answer, indent=1) if arguments.json else _text(answer))
    if len(found) > 1:
        what = "the first bad commit is one of several that cannot be tested"
        raise Difference(what, "\n".join(map(trial.line, found)), "see why they failed")


@dataclass
class Bisection:
    """One benchmark on one architecture, at any revision, with notes on skips and lost options."""

    session: Session
    arch: Architecture
    benchmark: Benchmark
    commits: OfGit
    images: dict[str, str] = field(default_factory=dict)
    samples: Samples = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def insns(self, commit: str) -> float:
        """Measure a commit's cost. BuildFailed, GuestLost or Difference if that fails."""
        session, step = self.session, self.commits.step(commit)
        built, lost = lab.step(session, self.arch, self.commits, step)
        setup, sampling = lab.setup(session, built.kernel), Sampling(place=session.place)
        # Functions whose calls a benchmark counts also come and go.
        (benchmark,), gone = bench.countable([self.benchmark], built.kernel)
        known = bench.measure(session.cache, [setup], [benchmark], session.progress, sampling)
        self.samples[built.kernel.image_sha256, self.benchmark] = known[
            built.kernel.image_sha256, benchmark
        ]
        self.images[commit] = built.kernel.image_sha256
        self.notes[commit] = "; ".join(filter(None, (lost, gone)))
        return self.row(commit, commit).b.insns

    def row(self, a: str, b: str) -> BenchmarkResult:
        """Compare two measured commits."""
        images, known = (self.images[a], self.images[b]), References(locks=lab.locks(self.session))
        compared = comparison.compare(
            self.arch, (a, b), images, [self.benchmark], self.samples, known
        )
        return compared.rows[0]

    def line(self, commit: str, verdict: str = SKIP) -> str:
        """Print a tested commit: its cost, its subject, its note."""
        cost = number(self.row(commit, commit).b.insns) if commit in self.images else "–"
        note = f"  ({self.notes[commit]})" if self.notes.get(commit) else ""
        return f"{verdict:<4} {commit[:12]} {cost:>9}  {self.commits.step(commit).subject}{note}"

    def explain(self, commit: str, good: str) -> dict[str, Any]:
        """List what grew at a commit since its first parent or, if that was not tested, `good`."""
        parent = base.commit(self.commits.repository, f"{commit}^")
        row = self.row(parent if parent in self.images else good, commit)
        return {
            "subject": self.commits.step(commit).subject,
            "instructions": (row.a.insns, row.b.insns),
            "events": report.events(Move(0, row.a, row.b)),
            "symbols": {line.symbol: (line.a.insns, line.b.insns) for line in grown(row)[:SYMBOLS]},
        }


def _benchmark(session: Session, arguments: argparse.Namespace, arch: Architecture) -> Benchmark:
    """The one benchmark. UserError if there are several, or none on this architecture."""
    benchmarks = lab.workloads(session).benchmarks([arguments.row], [arguments.size])
    benchmarks = on_architecture(arch, benchmarks)
    if len(benchmarks) != 1:
        names = "\n".join(f"{report.name(c)} {dict(c.parameters) or ''}" for c in benchmarks)
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
        where = f"{report.name(benchmark)}: {number(good)} at {arguments.good}, "
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
