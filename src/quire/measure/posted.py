# SPDX-License-Identifier: GPL-2.0
"""Read figures from public postings, lines/*/posted.toml: wall time on the authors' machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quire.host import data
from quire.measure.workloads import Benchmark


@dataclass(frozen=True)
class Posted:
    """One figure. An empty `arch`, `size` or `parameters` means that the posting does not say, or
    that the figure applies to all."""

    text: str
    # The posting: author, subject, date.
    source: str
    arch: str = ""
    size: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    # The posted values of the benchmark's counter, before and after.
    counters: str = ""

    def covers(self, benchmark: Benchmark, arch: str) -> bool:
        """Tell whether the figure is for exactly this benchmark of its workload."""
        return (
            self.arch in ("", arch)
            and self.size == benchmark.size
            and self.parameters in ({}, dict(benchmark.parameters))
        )


# By workload.
Figures = Mapping[str, tuple[Posted, ...]]


def read(file: Path) -> Figures:
    """Read a file's figures; none if it does not exist. UserError says what is wrong with it."""
    return data.optional(
        file, dict[str, tuple[Posted, ...]], "lines/6.12/posted.toml shows the keys"
    )


def find(figures: Figures, benchmark: Benchmark, arch: str) -> Posted | None:
    """Return the figure for a benchmark, or None."""
    of_workload = figures.get(benchmark.workload.name, ())
    return next((figure for figure in of_workload if figure.covers(benchmark, arch)), None)
