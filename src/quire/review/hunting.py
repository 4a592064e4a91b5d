# SPDX-License-Identifier: GPL-2.0
"""Hunt for differences in state and costs with generated programs."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from quire.arch import Architecture
from quire.fuzz import runner
from quire.fuzz.cost import allowed, watch
from quire.fuzz.cost.costs import CostJudge
from quire.fuzz.difference import excuses
from quire.fuzz.difference.differences import DifferenceJudge
from quire.fuzz.hunt import Hunt
from quire.fuzz.judge import Judge
from quire.fuzz.programs import Programs
from quire.fuzz.runner import Target
from quire.host import process
from quire.host.errors import GuestLost, UserError
from quire.host.process import OutOfTime
from quire.review.found import Found, Loss, lost_in
from quire.session import Session

# Programs per boot, few enough for several boots a minute; findings after which a hunt stops.
PROGRAMS, FINDINGS = 25, 3


def hunt(session: Session, arch: Architecture, found: Found, minutes: float) -> None:
    """Hunt for this many minutes, and add the result."""
    sides = found.sides
    targets = runner.prepare(session, arch, sides, alone=False, noise=False, swap=runner.ZRAM)
    judges: list[Judge[Any]] = [DifferenceJudge(excuses.applying(sides.series))]
    try:
        functions = watch.functions(targets.tried.kernel)
        meant = allowed.applying(sides.series, sides.a.tree.series, functions)
        judges.append(CostJudge(watch.prepare(session, targets), meant))
    except UserError as error:
        # The series renames or inlines a watched function.
        found.notes.append(f"{arch.title}, costs of programs: {error.what}")
    hunting = Hunt(targets, judges, session.cache.root / "report" / "fuzz" / arch.name)
    found.hunts.append(hunting)
    try:
        suspects = _run(hunting, session, minutes)
        if suspects:
            what = f"{suspects} that seemed to differ could not be repeated in the time given"
            found.notes.append(f"{arch.title}, programs: {what}")
        if minutes and not judges[0].tally.programs:
            found.left.append(f"{arch.name}: programs")
    except GuestLost as lost:
        process.go_on()
        a, b = (_lost(target) for target in targets.all)
        if any((*a, *b)):
            found.losses.append(Loss("programs", targets.tried.kernel, a, b))
        else:
            found.notes.append(f"{arch.title}, programs: {lost.what}; not reproducible")


def _run(hunting: Hunt, session: Session, minutes: float) -> int:
    """Hunt until the time is over; return the number of suspects not repeated by then."""
    seed, started, before = 1, time.monotonic(), 0
    end = started + 60 * minutes
    with contextlib.suppress(OutOfTime), process.until(end):
        while time.monotonic() < end and len(hunting.findings) < FINDINGS:
            before = _suspects(hunting)
            hunting.run(Programs(PROGRAMS, seed), FINDINGS, session.progress)
            seed, before = seed + PROGRAMS, _suspects(hunting)
    hunting.seconds = time.monotonic() - started
    return _suspects(hunting) - before


def _suspects(hunting: Hunt) -> int:
    return sum(judge.tally.suspects for judge in hunting.judges)


def _lost(target: Target) -> tuple[GuestLost | None, ...]:
    """Whether a single program loses the executor: a batch that started none proves nothing."""
    programs = {0: Programs(1).program(0)}
    return tuple(lost_in(lambda: runner.run(target, programs)) for _ in range(2))
