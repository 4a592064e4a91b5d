# SPDX-License-Identifier: GPL-2.0
"""What takes time beside instructions: atomics, barriers, cache lines, TLB invalidations, locks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quire.arch import Architecture
from quire.boot.counts import RegionCounts
from quire.measure.locks import Locks

# The plugin's kinds of events by what the table calls them.
EVENTS = {
    "atomics": ("atomic",),
    "barriers": ("mfence", "lfence", "sfence", "dmb", "dsb", "isb"),
    "lines read": ("lines_read",),
    "lines written": ("lines_written",),
    "table words": ("table_words",),
}
# By what an instruction invalidates; an architecture's `tlb_kinds` has the words after "tlb".
TLB = ("tlb page", "tlb range", "tlb space")
KINDS = (*EVENTS, *TLB)
# What the plugin counts with lines=on only.
WITH_LINES = ("lines read", "lines written", "table words")

Cost = dict[str, float]


def per_unit(
    arch: Architecture, counts: RegionCounts, divisor: int, locks: Locks | None = None
) -> Cost:
    """The cost per unit by KINDS, then by class of lock. What was not counted is not there."""
    tlb: dict[str, list[str]] = {kind: [] for kind in TLB}
    for name, kind in zip(arch.tlb_classes, arch.tlb_kinds, strict=True):
        tlb[f"tlb {kind}"].append(name)
    taken = locks.count(counts) if locks and counts.events else {}
    total = events(counts.events) | _sums(tlb, counts.tlb) | taken
    return {kind: number / divisor for kind, number in total.items()}


def events(counted: Mapping[str, int]) -> dict[str, int]:
    """The plugin's events by EVENTS, of a region or a symbol."""
    return _sums(EVENTS, counted)


def locks_taken(cost: Mapping[str, float]) -> float | None:
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
