# SPDX-License-Identifier: GPL-2.0
"""Compare two timings of the same workloads on the same machine: faster, slower, or cannot tell.

The interval of a median is by order statistics, as in guest/time/interval.h, which suppose nothing
about the distribution: the median of n independent values lies between the k-th smallest and the
k-th largest unless fewer than k of n fair coins show one side.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from quire.host.errors import UserError
from quire.timing.document import TimedBenchmark, Timing

CONFIDENCE = 0.95
FASTER, SLOWER, CANNOT_TELL = "faster", "slower", "cannot tell"
# If each side's interval has its median with this confidence, both do with CONFIDENCE.
EACH = (1 + CONFIDENCE) / 2
# With so many boots of each side a boot is one value: runs of one boot resemble one another.
BOOTS = 7
# What must be the same; what a kernel itself decides, as the clock's source, may differ.
MACHINE = (
    "architecture machine cpu host cpus pinned_to hypervisor midr microcode vendor product model "
    "numa_nodes governor frequency_khz_max no_turbo boost smt isolated".split()
)
# Of the machine's memory, as kernels need some themselves.
MEMORY = 0.02


@dataclass(frozen=True)
class Interval:
    """A median, and an interval that has the true one with the asked-for confidence."""

    median: float
    low: float
    high: float


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """The k for this number of values; 0 if there are too few."""
    # In whole numbers, so that it is exact.
    below, k = 1, 0
    limit = (1 - confidence) * 2**count / 2
    while below <= limit:
        k += 1
        below += math.comb(count, k)
    return k


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The interval of these values; None if there are too few for one."""
    k = rank(len(values), confidence) if values else 0
    if not k:
        return None
    ordered = sorted(values)
    return Interval(statistics.median(ordered), ordered[k - 1], ordered[-k])


@dataclass(frozen=True)
class Verdict:
    """One row. `ratio`: time of A over time of B, above 1 if B is faster, with its interval."""

    row: TimedBenchmark
    verdict: str
    why: str = ""
    a: Interval | None = None
    b: Interval | None = None
    ratio: Interval | None = None
    # What counts as a value: "boots" or "runs".
    values: str = ""


def compare(a: Timing, b: Timing) -> list[Verdict]:
    """A verdict for each row of both. UserError if the two do not compare."""
    require(a, b)
    others = {row.name: row for row in b.rows}
    return [_judge(row, others[row.name]) for row in a.rows if row.name in others]


def require(a: Timing, b: Timing) -> None:
    """UserError unless both are times, of the same workloads, on the same machine."""
    for timing in (a, b):
        if not timing.is_time:
            raise UserError(
                f"{timing.name} has no times: its clock is {timing.clock['kind']}",
                timing.clock.get("why", ""),
                "time a kernel on a real CPU, or with KVM; count instructions with quire bench",
            )
    if a.build != b.build:
        raise UserError(
            "the two were timed by different programs",
            f"{a.name}: {a.build}\n{b.name}: {b.build}",
            "use one bundle for both kernels",
        )
    _require_machine(a, b)
    workloads = {row.name: (row.unit, row.words) for row in b.rows}
    common = [row for row in a.rows if row.name in workloads]
    if not common or any(workloads[row.name] != (row.unit, row.words) for row in common):
        raise UserError(
            "the two timed other workloads",
            f"{a.name}: {_names(a)}\n{b.name}: {_names(b)}",
            "time the same rows on both kernels",
        )


def _require_machine(a: Timing, b: Timing) -> None:
    differing = [
        f"{key}: {a.machine.get(key, '-')} and {b.machine.get(key, '-')}"
        for key in MACHINE
        if a.machine.get(key) != b.machine.get(key)
    ]
    left, right = (_kib(timing.machine.get("memory", "")) for timing in (a, b))
    if abs(left - right) > MEMORY * max(left, right):
        differing.append(f"memory: {a.machine.get('memory')} and {b.machine.get('memory')}")
    if differing:
        raise UserError(
            "the two were timed on different machines, or with other settings",
            "\n".join(differing),
            "time both kernels on one machine, with the same settings",
        )


def _kib(text: str) -> int:
    digits = text.partition(" ")[0]
    return int(digits) if digits.isdigit() else 0


def _names(timing: Timing) -> str:
    names = [row.name for row in timing.rows]
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _judge(a: TimedBenchmark, b: TimedBenchmark) -> Verdict:
    for label, row in (("A", a), ("B", b)):
        if row.failed or row.skipped:
            word = "failed" if row.failed else "skipped"
            return Verdict(a, CANNOT_TELL, f"{word} on {label}: {row.failed or row.skipped}")
    by_boot = min(len(a.medians), len(b.medians)) >= BOOTS
    # Runs of a busy machine resemble their neighbours, and an interval that supposes otherwise is
    # too narrow: two series of the same kernel then differ.
    loose = [label for label, row in (("A", a), ("B", b)) if not row.tight and not by_boot]
    if loose:
        return Verdict(a, CANNOT_TELL, f"not tight on {' and '.join(loose)}", values="runs")
    left, right = (median_interval(row.medians if by_boot else row.runs, EACH) for row in (a, b))
    values = "boots" if by_boot else "runs"
    if not left or not right or not right.low:
        why = "too few runs" if not left or not right else "its interval reaches 0"
        return Verdict(a, CANNOT_TELL, why, values=values)
    ratio = Interval(left.median / right.median, left.low / right.high, left.high / right.low)
    verdict = FASTER if ratio.low > 1 else SLOWER if ratio.high < 1 else CANNOT_TELL
    return Verdict(a, verdict, "", left, right, ratio, values)
