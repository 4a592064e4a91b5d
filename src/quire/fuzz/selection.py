# SPDX-License-Identifier: GPL-2.0
"""Which seeded bugs the fuzzer looks for, as the line's table `fuzz` says.

The file stands beside the table of the bugs and has a row per bug:

    bug | chosen |                      looked for when the command names no bug
    bug | not looked for | reason       no program can show it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quire.host.errors import UserError
from quire.host.tables import Table
from quire.test import seeded
from quire.test.seeded import Bug

FILE = "fuzz"
CHOSEN, LEFT_OUT = "chosen", "not looked for"
TABLE = Table(
    "a row about a bug for the fuzzer",
    ("bug", f"{CHOSEN} or {LEFT_OUT}", "reason"),
    may_be_empty=("reason",),
)
# Names every bug.
EVERY = "all"


@dataclass(frozen=True)
class Selection:
    """The bugs that are looked for by default, and those that are not looked for, with reasons."""

    chosen: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def bugs(self, known: Sequence[Bug], names: Sequence[str]) -> list[Bug]:
        """The named bugs; without names the chosen ones, or all if none is chosen.

        UserError for a name that no bug has.
        """
        return list(known) if list(names) == [EVERY] else seeded.select(known, names or self.chosen)


def read(folder: Path) -> Selection:
    """Parse the table; without one, no bug is chosen. UserError names the bug of a wrong row."""
    file = folder / FILE
    chosen: list[str] = []
    left_out: dict[str, str] = {}
    for bug, word, reason in TABLE.read(file) if file.is_file() else ():
        if word == CHOSEN and not reason:
            chosen.append(bug)
        elif word == LEFT_OUT and reason:
            left_out[bug] = reason
        else:
            raise UserError(
                f"{TABLE.what} is neither chosen nor left out with a reason",
                f"{file}: {bug} | {word} | {reason}",
                f"write: bug | {CHOSEN} |   or: bug | {LEFT_OUT} | reason",
            )
    return Selection(tuple(chosen), left_out)
