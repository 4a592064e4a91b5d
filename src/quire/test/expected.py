# SPDX-License-Identifier: GPL-2.0
"""Expected failures: cases that a kernel is known to fail, named in lines/NAME/expected.toml."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.build.kernel import Kernel
from quire.host import data


@dataclass(frozen=True)
class Expected:
    """An entry: the cases (patterns on suite.case) that fail on this tree, stock or patched."""

    tree: str
    architectures: tuple[str, ...]
    cases: tuple[str, ...]
    why: str

    def covers(self, kernel: Kernel, case: str) -> bool:
        """Whether the entry covers this case on this kernel."""
        return (
            self.tree == kernel.tree.label
            and kernel.arch.name in self.architectures
            and any(fnmatchcase(case, pattern) for pattern in self.cases)
        )


@dataclass(frozen=True)
class _File:
    expected: tuple[Expected, ...] = ()


def read(file: Path) -> list[Expected]:
    """The entries of a file; none if it does not exist. UserError names a wrong one."""
    remedy = "give each [[expected]] a tree, architectures, cases and why"
    found = list(data.optional(file, _File, remedy).expected)
    data.require_complete(file, "expected", found, remedy)
    return found


def why(lines: Sequence[Expected], kernel: Kernel, case: str) -> str:
    """The reason that this case is expected to fail on this kernel, or an empty string."""
    return next((line.why for line in lines if line.covers(kernel, case)), "")
