# SPDX-License-Identifier: GPL-2.0
"""stress-ng as a suite: guest/programs/stress-ng.toml lists stressors, each size is a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import data
from quire.programs.suites import Run, Suite

NAME = "stress-ng"
# In the project's guest folder.
SCRIPT, TABLE = "programs/stress-ng", "programs/stress-ng.toml"
# A program's time limit: its own, several times over, as an emulator may stretch each step.
TIMES, MARGIN = 10, 60


@dataclass(frozen=True)
class Stressor:
    """A stressor by stress-ng's name, and options that limit its memory."""

    name: str
    options: str = ""


def suite(guest: Path, sizes: Sequence[int], seconds: int) -> Suite:
    """Return the suite: every stressor at these folio sizes (KiB), for `seconds` each."""
    table = data.Table("stressor", Stressor, "give each [[stressor]] a name")
    runs = tuple(
        Run(
            f"{stressor.name}-{size}k",
            f"{NAME} {size} {seconds} {stressor.name} {stressor.options}".strip(),
            TIMES * seconds + MARGIN,
        )
        for stressor in table.read(guest / TABLE)
        for size in sizes
    )
    return Suite(NAME, (NAME,), {NAME: guest / SCRIPT}, runs)
