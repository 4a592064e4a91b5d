# SPDX-License-Identifier: GPL-2.0
"""A user's own KTAP test, run in the guest like one of our suites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.boot import ktap
from quire.build import program
from quire.build.kernel import Kernel
from quire.session import Session
from quire.test import suite
from quire.test.suite import BootOptions, Verdict


@dataclass(frozen=True)
class Program:
    """A suite.Boot whose patterns are the program's arguments."""

    source: Path

    def __call__(
        self,
        session: Session,
        kernel: Kernel,
        patterns: Sequence[str],
        options: BootOptions,
        seen: Callable[[int], None] | None = None,
        /,
    ) -> Verdict:
        """Boot and run the program. GuestLost for a panic, hang or splat."""
        words = ("program", "test", program.path(self.source), *patterns)
        boot = suite.prepare(kernel, session.guest(kernel), words, options)
        outcome, work = suite.run_machine(session, boot, seen, resume=options.resume)
        report = ktap.parse(outcome.other)
        suite.check(outcome, report, work, "a test prints KTAP on stdout: guest/README.md")
        return Verdict(kernel, report, str(work))
