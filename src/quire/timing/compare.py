# SPDX-License-Identifier: GPL-2.0
"""Compare two timings of the same benchmarks on one machine: faster, slower, or not significant.

A median's interval comes from order statistics, as in guest/time/interval.h, which assume nothing
about the distribution: the median of n independent values lies between the k-th smallest and the
k-th largest unless fewer than k of n fair coins show one side.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from quire.host.errors import UserError
from quire.timing.document import TimedBenchmark, Timing

CONFIDENCE = 0.95
FASTER, SLOWER, NOT_SIGNIFICANT = "faster", "slower", "not significant"
# With this confidence per side, both intervals contain their medians with CONFIDENCE.
EACH = (1 + CONFIDENCE) / 2
# With this many boots of each side, a boot is one value, as runs of one boot are correlated.
BOOTS = 7
# Keys that must be equal; those that the kernel decides, such as the clock source, may differ.
MACHINE = (
    "architecture machine cpu host cpus pinned_to hypervisor midr microcode vendor product model "
    "numa_nodes governor frequency_khz_max no_turbo boost smt isolated".split()
)
# Tolerated relative difference in memory, as kernels reserve different amounts.
MEMORY = 0.02


@dataclass(frozen=True)
class Interval:
    """A median, and an interval that contains the true one with the requested confidence."""

    median: float
    low: float
    high: float


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return k for this number of values; 0 if there are too few."""
    # Integers keep this exact.
    below, k = 1, 0
    limit = (1 - confidence) * 2**count / 2
    while below <= limit:
        k += 1
        below += math.comb(count, k)
    return k


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the interval of these values; None if there are too few."""
    k = rank(len(values), confidence) if values else 0
    if not k:
        return None
    ordered = sorted(values)
    return Interval(statistics.median(ordered), ordered[k - 1], ordered[-k])


@dataclass(frozen=True)
class Verdict:
    """One benchmark. `ratio`: time of A / time of B, above 1 if B is faster, with its interval."""

    row: TimedBenchmark
    verdict: str
    why: str = ""
    a: Interval | None = None
    b: Interval | None = None
    ratio: Interval | None = None
    # The unit of values: "boots" or "runs".
    values: str = ""


def compare(a: Timing, b: Timing) -> list[Verdict]:
    """Return a verdict for each common benchmark. UserError if the timings are not comparable."""
    require(a, b)
    others = {row.name: row for row in b.rows}
    return [_judge(row, others[row.name]) for row in a.rows if row.name in others]


def require(a: Timing, b: Timing) -> None:
    """Raise UserError unless both are times of the same benchmarks on the same machine."""
    for timing in (a, b):
        if not timing.is_time:
            raise UserError(
                f"{timing.name} has no times: its clock is {timing.clock['kind']}",
                timing.clock.get("why", ""),
                "time kernels on a real CPU or with KVM; count instructions with quire bench",
            )
    if a.build != b.build:
        raise UserError(
            "the two timings used different programs",
            f"{a.name}: {a.build}\n{b.name}: {b.build}",
            "use one bundle for both kernels",
        )
    _require_machine(a, b)
    workloads = {row.name: (row.unit, row.words) for row in b.rows}
    common = [row for row in a.rows if row.name in workloads]
    if not common or any(workloads[row.name] != (row.unit, row.words) for row in common):
        raise UserError(
            "the two timings cover different benchmarks",
            f"{a.name}: {_names(a)}\n{b.name}: {_names(b)}",
            "time the same benchmarks on both kernels",
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
            "the two timings used different machines or settings",
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
            return Verdict(a, NOT_SIGNIFICANT, f"{word} on {label}: {row.failed or row.skipped}")
    by_boot = min(len(a.medians), len(b.medians)) >= BOOTS
    # On a busy machine, successive runs are correlated, and an interval that assumes otherwise
    # is too narrow: two timings of the same kernel would then differ.
    loose = [label for label, row in (("A", a), ("B", b)) if not row.tight and not by_boot]
    if loose:
        return Verdict(a, NOT_SIGNIFICANT, f"not tight on {' and '.join(loose)}", values="runs")
    left, right = (median_interval(row.medians if by_boot else row.runs, EACH) for row in (a, b))
    values = "boots" if by_boot else "runs"
    if not left or not right or not right.low:
        why = "too few runs" if not left or not right else "its interval includes 0"
        return Verdict(a, NOT_SIGNIFICANT, why, values=values)
    ratio = Interval(left.median / right.median, left.low / right.high, left.high / right.low)
    verdict = FASTER if ratio.low > 1 else SLOWER if ratio.high < 1 else NOT_SIGNIFICANT
    return Verdict(a, verdict, "", left, right, ratio, values)
