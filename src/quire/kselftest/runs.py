# SPDX-License-Identifier: GPL-2.0
"""Select runs in guest/selftests/runs.toml for a base and an architecture."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.arch import Architecture
from quire.host import data
from quire.host.errors import UserError
from quire.kselftest.output import DIALECTS

# In the guest's folder.
TABLE = "selftests/runs.toml"
# Path of the programs in a kernel tree.
SOURCES = Path("tools/testing/selftests/mm")


@dataclass(frozen=True)
class Run:
    """A program with its arguments; `output` is the dialect of its results."""

    command: str
    # Seconds of guest time.
    seconds: int
    output: str
    # Architectures, by the names of the guest's; empty: all.
    architectures: tuple[str, ...] = ()
    # The reason why other architectures do not run it.
    why_not: str = ""

    @property
    def program(self) -> str:
        """Return the program's file name."""
        return self.command.split()[0]

    @property
    def name(self) -> str:
        """Return the name for case names: ksm_tests-M-p-10."""
        return re.sub(r"[^\w-]+", "", "-".join(word.lstrip("-") for word in self.command.split()))

    def plan(self) -> str:
        """Return the plan's line for the guest."""
        return f"{self.name} {self.seconds} {self.command}"


@dataclass(frozen=True)
class RunChoice:
    """The runs, and those left out with the reason."""

    runs: tuple[Run, ...]
    left_out: dict[str, str]

    @property
    def programs(self) -> tuple[str, ...]:
        """List the programs to build, without duplicates."""
        return tuple(dict.fromkeys(run.program for run in self.runs))


def _trouble(run: Run) -> str:
    good = run.seconds > 0 and run.output in DIALECTS
    return "" if good else "a run has no time limit, or an unknown output"


# Read the runs of a file.
REMEDY = f"give each [[run]] command, seconds, output: {', '.join(DIALECTS)}"
read = data.Table("run", Run, REMEDY, trouble=_trouble).read


def choose(runs: Sequence[Run], tree: Path, arch: Architecture) -> RunChoice:
    """Select the runs that this source tree has and this architecture supports."""
    left_out = {}
    for run in runs:
        if not (tree / SOURCES / f"{run.program}.c").is_file():
            left_out[run.name] = "not in this base"
        elif run.architectures and arch.guest not in run.architectures:
            left_out[run.name] = run.why_not or f"not for {arch.name}"
    return RunChoice(tuple(run for run in runs if run.name not in left_out), left_out)


def matching(runs: Sequence[Run], patterns: Sequence[str]) -> list[Run]:
    """Select the runs for these patterns. UserError if there are none."""
    chosen = [run for run in runs if any(fnmatchcase(run.name, pattern) for pattern in patterns)]
    if not chosen:
        raise UserError(
            f"no selftest matches {' '.join(patterns)}",
            ", ".join(run.name for run in runs),
            "choose from these, with * and ?",
        )
    return chosen
