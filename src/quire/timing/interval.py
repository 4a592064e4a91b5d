# SPDX-License-Identifier: GPL-2.0
"""An interval of the median by order statistics, as guest/time/interval.h has it.

It supposes nothing about the distribution: the median of n independent values lies between the k-th
smallest and the k-th largest unless fewer than k of n fair coins show one side.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


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


def of(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The interval of these values; None if there are too few for one."""
    k = rank(len(values), confidence) if values else 0
    if not k:
        return None
    ordered = sorted(values)
    return Interval(statistics.median(ordered), ordered[k - 1], ordered[-k])
