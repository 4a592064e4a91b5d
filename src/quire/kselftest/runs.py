# SPDX-License-Identifier: GPL-2.0
"""The table `guest/selftests/runs`, and the subset for a base and an architecture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.arch import Architecture
from quire.host.errors import UserError
from quire.host.tables import Table
from quire.kselftest.output import DIALECTS

TABLE = Table(
    "a run of a selftest",
    ("command", "seconds", "output", "architectures", "why not elsewhere"),
    may_be_empty=("why not elsewhere",),
)
# Path of the programs in a kernel tree.
SOURCES = Path("tools/testing/selftests/mm")


@dataclass(frozen=True)
class Run:
    """A program with its arguments; `output` is the dialect of its results."""

    command: tuple[str, ...]
    # Seconds of guest time.
    seconds: int
    output: str
    architectures: tuple[str, ...]
    # The reason that other architectures do not run it.
    why_not: str = ""

    @property
    def program(self) -> str:
        """The program's file name."""
        return self.command[0]

    @property
    def name(self) -> str:
        """The name used in case names: ksm_tests-M-p-10."""
        return re.sub(r"[^\w-]+", "", "-".join(word.lstrip("-") for word in self.command))

    def plan(self) -> str:
        """The line for the guest."""
        return " ".join([self.name, str(self.seconds), *self.command])


@dataclass(frozen=True)
class Choice:
    """The runs, and those left out with the reason."""

    runs: tuple[Run, ...]
    left_out: dict[str, str]

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs to build, without duplicates."""
        return tuple(dict.fromkeys(run.program for run in self.runs))


def read(file: Path) -> list[Run]:
    """Read the table. UserError names the first malformed line."""
    found = []
    for command, seconds, output, arches, why_not in TABLE.read(file):
        if not seconds.isdigit() or output not in DIALECTS:
            raise UserError(
                "a selftest run has no time limit, or an unknown kind of output",
                f"{file}: {command}",
                f"write seconds, and one of: {', '.join(DIALECTS)}",
            )
        words = tuple(command.split())
        found.append(Run(words, int(seconds), output, tuple(arches.split()), why_not))
    return found


def choose(runs: Sequence[Run], tree: Path, arch: Architecture) -> Choice:
    """The runs in the table that this source tree has and this architecture can run."""
    left_out = {}
    for run in runs:
        if not (tree / SOURCES / f"{run.program}.c").is_file():
            left_out[run.name] = "not in this base"
        elif arch.name not in run.architectures:
            left_out[run.name] = run.why_not or f"not for {arch.name}"
    return Choice(tuple(run for run in runs if run.name not in left_out), left_out)


def matching(runs: Sequence[Run], patterns: Sequence[str]) -> list[Run]:
    """The runs that the guest executes for these patterns. UserError if there are none."""
    found = [run for run in runs if any(fnmatchcase(run.name, one) for one in patterns)]
    if not found:
        raise UserError(
            f"no selftest matches {' '.join(patterns)}",
            ", ".join(run.name for run in runs),
            "choose from these, with * and ?",
        )
    return found
