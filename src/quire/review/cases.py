# SPDX-License-Identifier: GPL-2.0
"""Run cases on both sides; B must pass what A passes."""

from __future__ import annotations

from collections.abc import Sequence

from quire.arch import Architecture
from quire.host import process
from quire.host.errors import Difference
from quire.review.found import Found, Tested
from quire.review.loss import Loss
from quire.session import Session
from quire.test import expected, suite
from quire.test.suite import BootOptions, Job


def test(session: Session, arch: Architecture, found: Found, cases: Sequence[str]) -> None:
    """Add the outcomes of both sides, unless one of them always loses its guest."""
    kernels = [session.kernel(arch, side.tree) for side in found.sides.both]
    jobs = [Job(kernel, BootOptions()) for kernel in kernels]
    try:
        outcomes = suite.several(session, jobs, cases)
    except Difference as wrong:
        # No test ran, or the guest contradicts itself: nothing to compare.
        process.go_on()
        found.left.append(f"{arch.name}: tests ({wrong.what})")
        return
    if any(outcome.lost for outcome in outcomes):
        again = suite.several(session, jobs, cases)
        a, b = ((one.lost, two.lost) for one, two in zip(outcomes, again, strict=True))
        found.losses.append(Loss("tests", kernels[1], a, b))
        pairs = zip(outcomes, again, strict=True)
        outcomes = [two if one.lost else one for one, two in pairs]
        if any(outcome.lost for outcome in outcomes):
            return
    outcomes = expected.resolve(outcomes, expected.inherited(outcomes, found.sides))
    found.tests.append(Tested(*outcomes))
