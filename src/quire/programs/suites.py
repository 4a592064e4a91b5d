# SPDX-License-Identifier: GPL-2.0
"""Run other people's test suites in a userland on two kernels; a lost guest is a result, too.

The guest's `selftests` runs them: each run is a line of its plan. Boots are small, so that a lost
guest costs few runs and an interrupted comparison continues (--resume).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.boot.ktap import Status, Test
from quire.host.errors import GuestLost, UserError
from quire.kernels import guest
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel
from quire.kselftest import output
from quire.kselftest.binaries import DIRECTORY
from quire.kselftest.output import EXIT
from quire.session import Session
from quire.suites import suite
from quire.suites.outcome import Case, Outcome
from quire.suites.suite import Job, Tests

# Runs per boot.
AT_ONCE = 4
# Lines that tell why a run does not pass, and how many are shown.
TELLING, TOLD = re.compile(r"\b(fail(?!ed: 0)|error|skipp(?!ed: 0)|unable|not )", re.I), 2


@dataclass(frozen=True)
class Run:
    """One program with its arguments, and its time limit in seconds."""

    name: str
    command: str
    seconds: int

    def plan(self) -> str:
        """Return the plan's line for the guest."""
        return f"{self.name} {self.seconds} {self.command}"


@dataclass(frozen=True)
class Suite:
    """A suite: its Debian packages, scripts for the guest by name, and its runs."""

    name: str
    packages: tuple[str, ...]
    scripts: Mapping[str, Path]
    runs: tuple[Run, ...]

    def matching(self, patterns: Sequence[str]) -> list[Run]:
        """Select runs by name, with * and ?. UserError if there are none."""
        chosen = [run for run in self.runs if any(fnmatchcase(run.name, p) for p in patterns)]
        if not chosen:
            what = f"no run of {self.name} matches {' '.join(patterns)}"
            raise UserError(what, remedy=f"quire suite {self.name} --list")
        return chosen


def compare(
    session: Session, of: Suite, jobs: tuple[Job, Job], runs: Sequence[Run]
) -> tuple[Outcome, Outcome]:
    """Run these on both kernels; return all cases of each.

    A run that loses its guest fails, with the reason.
    """
    parts = [runs[at : at + AT_ONCE] for at in range(0, len(runs), AT_ONCE)]
    cases: tuple[list[Case], list[Case]] = ([], [])
    for done, part in enumerate(parts, 1):
        for side, found in zip(cases, _boot(session, of, jobs, part), strict=True):
            side.extend(found)
        session.progress.say(f"{of.name}: {done} of {len(parts)} boots, last {part[-1].name}")
    a, b = (
        Outcome(job.name, job.kernel, tuple(side), _logs(session), cpus=job.options.cpus)
        for job, side in zip(jobs, cases, strict=True)
    )
    return a, b


def _logs(session: Session) -> str:
    return str(session.cache.root / "boot")


def _boot(
    session: Session, of: Suite, jobs: tuple[Job, Job], runs: Sequence[Run]
) -> list[list[Case]]:
    """The cases of both kernels. If a guest is lost, each run gets a boot of its own."""
    outcomes = suite.several(session, jobs, [run.name for run in runs], _tests(of, runs))
    if len(runs) > 1 and any(outcome.lost for outcome in outcomes):
        alone = [_boot(session, of, jobs, [run]) for run in runs]
        return [[case for part in alone for case in part[side]] for side in (0, 1)]
    return [
        [_lost(runs[0], outcome.lost)] if outcome.lost else list(outcome.cases)
        for outcome in outcomes
    ]


def _lost(run: Run, error: GuestLost) -> Case:
    log = error.where.splitlines()[-1:]
    return Case(f"{run.name}.{EXIT}", Status.FAIL, "; ".join([error.what, *log]))


def _tests(of: Suite, runs: Sequence[Run]) -> Tests:
    """The plan has only these runs, so that a change of another does not repeat a boot."""

    def build(session: Session, kernel: Kernel) -> Guest:
        plain = guest.build(session.cache, session.project.guest, kernel, session.jobs)
        plan = "".join(f"{run.plan()}\n" for run in runs)
        files = {f"{DIRECTORY}/": b"", f"{DIRECTORY}/plan": plan.encode()}
        files |= {f"{DIRECTORY}/{name}": path.read_bytes() for name, path in of.scripts.items()}
        return guest.with_files(session.cache, plain, files)

    remedy = f"check the pattern: quire suite {of.name} --list"
    return Tests(("selftests",), remedy, build, expand=_expand)


def _expand(report: Test, lines: Sequence[str]) -> None:
    """Each run has one case, its exit status; the program's own words say why it does not pass."""
    outputs = output.split(lines)
    output.expand(report, lines, {})
    for run in report.subtests:
        (end,) = run.subtests
        printed, _ = outputs.get(run.name, ([], []))
        if end.status is not Status.PASS:
            said = [line for line in printed if TELLING.search(line)] or printed[-1:]
            end.reason = "; ".join([*said[:TOLD], end.reason]).strip("; ")
