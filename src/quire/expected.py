# SPDX-License-Identifier: GPL-2.0
"""Expected failures: what a kernel is known not to do, by name, in the open.

`guest/expected/linux-6.12.y` has a line per group of cases:

    tree | architectures | cases | why

The tree is `stock` or `patched`, the cases are patterns on suite.case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.errors import UserError
from quire.kernel import Kernel

FIELDS = 4


@dataclass(frozen=True)
class Expected:
    """One line: these cases fail on this tree."""

    tree: str
    architectures: tuple[str, ...]
    cases: tuple[str, ...]
    why: str

    def covers(self, kernel: Kernel, case: str) -> bool:
        """Whether the line is about this case on this kernel."""
        return (
            self.tree == kernel.tree.label
            and kernel.arch.name in self.architectures
            and any(fnmatchcase(case, pattern) for pattern in self.cases)
        )


def read(folder: Path, line: str) -> list[Expected]:
    """The lines for one stable line of kernels; none if there is no file.

    UserError names the line that is not one.
    """
    file = folder / f"linux-{line}.y"
    if not file.is_file():
        return []
    found = []
    for number, text in enumerate(file.read_text().splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        fields = [field.strip() for field in text.split("|")]
        if len(fields) != FIELDS or not all(fields):
            raise UserError(
                "an expected failure lacks its tree, architectures, cases or reason",
                f"{file}:{number}: {text}",
                "write: tree | architectures | cases | why",
            )
        tree, arches, cases, why = fields
        found.append(Expected(tree, tuple(arches.split()), tuple(cases.split()), why))
    return found


def why(lines: Sequence[Expected], kernel: Kernel, case: str) -> str:
    """Why this case is expected to fail there, or nothing."""
    return next((line.why for line in lines if line.covers(kernel, case)), "")
