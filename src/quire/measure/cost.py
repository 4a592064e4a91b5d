# SPDX-License-Identifier: GPL-2.0
"""What takes time beside instructions: atomics, barriers, cache lines, TLB invalidations, locks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quire.boot.counts import RegionCounts
from quire.measure.locks import Locks

# The plugin's kinds of events by what the table calls them.
EVENTS = {
    "atomics": ("atomic",),
    "barriers": ("mfence", "dmb", "dsb", "isb"),
    "lines read": ("lines_read",),
    "lines written": ("lines_written",),
    "table words": ("table_words",),
}
# The plugin's TLB classes by what an instruction invalidates. An x86 that loads CR3 or executes
# INVPCID may keep entries of other address spaces, or drop nothing.
TLB = {
    "tlb page": ("tlbi_va", "invlpg"),
    "tlb range": ("tlbi_range",),
    "tlb space": ("tlbi_asid", "tlbi_all", "invpcid", "cr3"),
}
KINDS = (*EVENTS, *TLB)
# What the plugin counts with lines=on only.
WITH_LINES = ("lines read", "lines written", "table words")

Cost = dict[str, float]


def of(counts: RegionCounts, divisor: int, locks: Locks | None = None) -> Cost:
    """The cost per unit by KINDS, then by class of lock. What was not counted is not there."""
    found = events(counts.events) | _sums(TLB, counts.tlb)
    taken = locks.count(counts) if locks and counts.events else {}
    return {kind: number / divisor for kind, number in {**found, **taken}.items()}


def events(counted: Mapping[str, int]) -> dict[str, int]:
    """The plugin's events by EVENTS, of a region or a symbol."""
    return _sums(EVENTS, counted)


def locks_taken(cost: Cost) -> float | None:
    """The sum over all classes of locks; None if locks were not counted."""
    classes = [number for kind, number in cost.items() if kind not in KINDS]
    return sum(classes) if classes else None


def _sums(kinds: Mapping[str, Iterable[str]], counted: Mapping[str, int]) -> dict[str, int]:
    """The sums of the kinds of which anything was counted."""
    return {
        kind: sum(counted.get(name, 0) for name in names)
        for kind, names in kinds.items()
        if any(name in counted for name in names)
    }
