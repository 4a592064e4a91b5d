# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel with the selftests and return its verdict on every case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quire.arch import Architecture
from quire.boot import machine
from quire.build.guest import Guest
from quire.build.kernel import Kernel
from quire.kselftest import build, output, runs
from quire.kselftest.runs import Choice
from quire.session import Session
from quire.source.base import Base
from quire.test import suite
from quire.test.suite import BootOptions, Verdict


@dataclass(frozen=True)
class Selftests:
    """The selftests of an architecture; a suite.Boot."""

    choice: Choice

    def guest(self, session: Session, kernel: Kernel) -> Guest:
        """The guest with all programs built."""
        return build.build(session, kernel, self.choice)

    def __call__(
        self,
        session: Session,
        kernel: Kernel,
        patterns: Sequence[str],
        options: BootOptions,
        seen: Callable[[int], None] | None = None,
        /,
    ) -> Verdict:
        """Boot, and run the runs whose names match the patterns."""
        boot = suite.prepare(
            kernel,
            self.guest(session, kernel),
            ("selftests", *patterns),
            options,
            machine.nodes(kernel),
        )
        outcome, work = suite.run_machine(session, boot, seen, resume=options.resume)
        report = output.outer(outcome.other)
        suite.check(outcome, report, work, "check the pattern: quire selftests --list")
        output.expand(report, outcome.other, {run.name: run.output for run in self.choice.runs})
        return Verdict(kernel, report, str(work))


def choose(session: Session, base: Base, arch: Architecture) -> Selftests:
    """The runs in the table that this base and architecture support."""
    table = runs.read(session.project.guest / "selftests/runs.toml")
    return Selftests(runs.choose(table, base.path, arch))
