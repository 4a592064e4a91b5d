# SPDX-License-Identifier: GPL-2.0
"""Expected failures: the cases that a kernel is known to fail, by name.

`lines/NAME/expected` has one line per group of cases:

    tree | architectures | cases | why

The tree is `stock` or `patched`; the cases are patterns on suite.case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.build.kernel import Kernel
from quire.host.tables import Table

TABLE = Table("an expected failure", ("tree", "architectures", "cases", "why"))


@dataclass(frozen=True)
class Expected:
    """One line: the cases that fail on this tree."""

    tree: str
    architectures: tuple[str, ...]
    cases: tuple[str, ...]
    why: str

    def covers(self, kernel: Kernel, case: str) -> bool:
        """Whether the line covers this case on this kernel."""
        return (
            self.tree == kernel.tree.label
            and kernel.arch.name in self.architectures
            and any(fnmatchcase(case, pattern) for pattern in self.cases)
        )


def read(file: Path) -> list[Expected]:
    """The lines of a file; none if it does not exist. UserError names a malformed line."""
    if not file.is_file():
        return []
    return [
        Expected(tree, tuple(arches.split()), tuple(cases.split()), why)
        for tree, arches, cases, why in TABLE.read(file)
    ]


def why(lines: Sequence[Expected], kernel: Kernel, case: str) -> str:
    """The reason that this case is expected to fail on this kernel, or an empty string."""
    return next((line.why for line in lines if line.covers(kernel, case)), "")
