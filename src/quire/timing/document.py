# SPDX-License-Identifier: GPL-2.0
"""Read and check the JSON of `quire time`; merge several boots of one kernel."""

import itertools
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from quire.host.console import head
from quire.host.errors import UserError

REAL = "real"


@dataclass(frozen=True)
class TimedBenchmark:
    """A benchmark with its parameters. `boots`: the runs of each boot, in nanoseconds per unit."""

    name: str
    unit: str
    words: str
    boots: tuple[tuple[float, ...], ...]
    # The reason if there are no runs; else empty.
    skipped: str = ""
    failed: str = ""
    # Medians per unit, or a text that says why there is none.
    counters: dict[str, float | str] = field(default_factory=dict)
    # Whether the interval of each boot reached the requested precision.
    tight: bool = True

    @property
    def medians(self) -> list[float]:
        """Return the median of each boot."""
        return [statistics.median(runs) for runs in self.boots if runs]

    @property
    def runs(self) -> list[float]:
        """Return the runs of all boots."""
        return list(itertools.chain(*self.boots))


@dataclass(frozen=True)
class Timing:
    """One kernel on one machine."""

    name: str
    build: str
    clock: dict[str, str]
    machine: dict[str, Any]
    rows: tuple[TimedBenchmark, ...]
    # The whole document.
    data: dict[str, Any]

    @property
    def is_time(self) -> bool:
        """Whether a real CPU executed the runs; otherwise, their numbers are not times."""
        return self.clock["kind"] == REAL

    @property
    def release(self) -> str:
        """The kernel's release."""
        return str(self.machine.get("release", "?"))


def read(file: Path) -> Timing:
    """Read a document from a file. UserError if it is invalid, or of another version."""
    try:
        text = file.read_text()
    except OSError as error:
        raise UserError(
            f"{file} cannot be read", str(error), "name a JSON file of quire time"
        ) from error
    return parse(text, file.name)


def parse(text: str, name: str) -> Timing:
    """Parse a document; raises like read()."""
    try:
        data = json.loads(text)
        expected = head("time")
        actual = {key: data.get(key) for key in expected}
        if actual != expected:
            raise UserError(
                f"{name} is JSON of another version of quire time",
                f"{actual} instead of {expected}",
                "create it again, with a bundle of this version",
            )
        rows = tuple(_row(row) for row in data["rows"])
        return Timing(name, data["build"], data["clock"], data["machine"], rows, data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{name} is not JSON of quire time",
            f"{type(error).__name__}: {error}",
            "it may be incomplete: create it again",
        ) from error


def merge(boots: Sequence[Timing], name: str) -> Timing:
    """Merge several boots of one kernel and program. Benchmarks that a boot lacks are skipped."""
    first = boots[0]
    rows = tuple(
        _merged([row for boot in boots for row in boot.rows if row.name == name])
        for name in [row.name for row in first.rows]
    )
    data = {**first.data, "rows": [as_json(row) for row in rows]}
    return Timing(name, first.build, first.clock, first.machine, rows, data)


def write(timing: Timing, file: Path) -> None:
    """Write the document completely or, if the disk is full, not at all."""
    partial = file.with_name(f"{file.name}.new")
    try:
        partial.write_text(json.dumps(timing.data, indent=1) + "\n")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def as_json(row: TimedBenchmark) -> dict[str, Any]:
    """Return a row for docs/schema/time.json."""
    return {**asdict(row), "boots": [list(runs) for runs in row.boots]}


def _merged(rows: Sequence[TimedBenchmark]) -> TimedBenchmark:
    first = rows[0]
    counters: dict[str, float | str] = {}
    for key, value in first.counters.items():
        numbers = [row.counters[key] for row in rows if key in row.counters]
        known = [number for number in numbers if not isinstance(number, str)]
        counters[key] = statistics.median(known) if len(known) == len(rows) else value
    return TimedBenchmark(
        first.name,
        first.unit,
        first.words,
        tuple(itertools.chain(*(row.boots for row in rows))),
        next(filter(None, (row.skipped for row in rows)), ""),
        next(filter(None, (row.failed for row in rows)), ""),
        counters,
        all(row.tight for row in rows),
    )


def _row(data: dict[str, Any]) -> TimedBenchmark:
    boots = tuple(tuple(float(run) for run in runs) for runs in data["boots"])
    words = (data["name"], data["unit"], data["words"])
    ended = (data["skipped"], data["failed"], data.get("counters", {}), data.get("tight", True))
    return TimedBenchmark(*words, boots, *ended)
