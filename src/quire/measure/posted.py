# SPDX-License-Identifier: GPL-2.0
"""Figures from public postings, in lines/*/posted.toml: wall time on the authors' machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quire.host import data
from quire.measure.workloads import Benchmark


@dataclass(frozen=True)
class Posted:
    """One figure. An empty `arch`, `size` or `parameters` means that the posting does not give it,
    or that the figure is for all."""

    text: str
    # The posting: author, subject, date.
    source: str
    arch: str = ""
    size: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    # The posted values of the workload's counter, before and after.
    counters: str = ""

    def covers(self, benchmark: Benchmark, arch: str) -> bool:
        """Whether the figure is for exactly this row of its workload."""
        return (
            self.arch in ("", arch)
            and self.size == benchmark.size
            and self.parameters in ({}, dict(benchmark.parameters))
        )


# By workload.
Figures = Mapping[str, tuple[Posted, ...]]


def read(file: Path) -> Figures:
    """The figures in a file; none if it does not exist. UserError says what is wrong with it."""
    return data.optional(
        file, dict[str, tuple[Posted, ...]], "lines/6.12/posted.toml shows the keys"
    )


def find(figures: Figures, benchmark: Benchmark, arch: str) -> Posted | None:
    """The figure for a row, or None."""
    of_workload = figures.get(benchmark.workload.name, ())
    return next((figure for figure in of_workload if figure.covers(benchmark, arch)), None)
