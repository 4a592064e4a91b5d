# SPDX-License-Identifier: GPL-2.0
"""Figures from public postings, in lines/*/posted.toml: wall time on the authors' machines."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host.errors import UserError
from quire.measure.workloads import Cell, Parameters


@dataclass(frozen=True)
class Posted:
    """One figure. An empty `arch`, `size` or `parameters` means that the posting does not give it,
    or that the figure is for all."""

    workload: str
    text: str
    arch: str = ""
    size: int | None = None
    parameters: Parameters = ()
    # The posted values of the workload's counter, before and after.
    counters: str = ""

    def covers(self, cell: Cell, arch: str) -> bool:
        """Whether the figure is for exactly this row."""
        return (
            self.workload == cell.workload.name
            and self.arch in ("", arch)
            and self.size == cell.size
            and self.parameters in ((), cell.parameters)
        )


def read(file: Path) -> list[Posted]:
    """The figures in a file; none if it does not exist. UserError says what is wrong with it."""
    if not file.is_file():
        return []
    try:
        return [
            Posted(name, **{**row, "parameters": tuple(row.get("parameters", {}).items())})
            for name, rows in tomllib.loads(file.read_text()).items()
            for row in rows
        ]
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError("the posted figures cannot be read", f"{file}: {error}") from error


def find(figures: Sequence[Posted], cell: Cell, arch: str) -> Posted | None:
    """The figure for a row, or None."""
    return next((one for one in figures if one.covers(cell, arch)), None)
