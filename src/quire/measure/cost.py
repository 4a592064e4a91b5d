# SPDX-License-Identifier: GPL-2.0
"""Costs besides instructions: atomics, barriers, cache lines, TLB invalidations, and locks, which
workloads/locks.toml classifies by lock function and caller."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.arch import Architecture
from quire.boot.counts import RegionCounts
from quire.host import data
from quire.host.errors import UserError

# The plugin's kinds of events by their names in tables.
EVENTS = {
    "atomics": ("atomic",),
    "barriers": ("mfence", "lfence", "sfence", "dmb", "dsb", "dsb_st", "isb"),
    "lines read": ("lines_read",),
    "lines written": ("lines_written",),
    "table words": ("table_words",),
}
# By the scope of an invalidation; an architecture's `tlb_kinds` lists the words after "tlb".
TLB = ("tlb page", "tlb range", "tlb space")
TLB_LOCAL = "tlb local"
KINDS = (*EVENTS, *TLB, TLB_LOCAL)
# With several CPUs: kernel instructions of other CPUs, IPIs, waits for other CPUs.
OTHERS, SENT, HANDLED, FLUSHES = "others", "IPIs sent", "IPIs handled", "remote flushes"
BETWEEN = (OTHERS, SENT, HANDLED, FLUSHES)
# Kinds that the plugin counts only with lines=on.
WITH_LINES = ("lines read", "lines written", "table words")

Cost = dict[str, float]


@dataclass(frozen=True)
class LockRule:
    """A rule: calls to a group of functions by these callers (patterns) take that class of lock."""

    name: str
    functions: str
    callers: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class Locks:
    """The file's contents: lock functions by group, and the rules in order."""

    functions: Mapping[str, tuple[str, ...]]
    rule: tuple[LockRule, ...]

    @property
    def watched(self) -> tuple[str, ...]:
        """All lock functions, for the plugin."""
        names = (name for rule in self.rule for name in self.functions[rule.functions])
        return tuple(dict.fromkeys(names))

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in order."""
        return tuple(dict.fromkeys(rule.name for rule in self.rule))

    def class_of(self, caller: str, function: str) -> str:
        """Return the class of a call. UserError for a function without a rule."""
        for rule in self.rule:
            callers = rule.callers if function in self.functions[rule.functions] else ()
            if any(fnmatchcase(caller, pattern) for pattern in callers):
                return rule.name
        raise UserError(
            f"no class of locks covers {function}",
            f"called by {caller}",
            f"add it to a group of functions in {LOCKS_FILE}",
        )

    def count(self, counts: RegionCounts) -> dict[str, int]:
        """Count the locks taken in a region by class, including zeroes."""
        total = dict.fromkeys(self.classes, 0)
        for (caller, function), number in counts.locks.items():
            total[self.class_of(caller, function)] += number
        return total


def per_unit(
    arch: Architecture,
    counts: RegionCounts,
    divisor: int,
    locks: Locks | None = None,
    others: RegionCounts | None = None,
) -> Cost:
    """Return the cost per unit by KINDS, then by class of lock, then by BETWEEN, without kinds that
    were not counted."""
    tlb: dict[str, list[str]] = {kind: [] for kind in TLB}
    for name, kind in zip(arch.tlb_classes, arch.tlb_kinds, strict=True):
        tlb[f"tlb {kind}"].append(name)
    taken = locks.count(counts) if locks and counts.events else {}
    total = events(counts.events) | _sums(tlb, counts.tlb) | taken
    total |= _sums({TLB_LOCAL: ["tlbi_local"]}, counts.events)
    if others:
        total |= _between(arch, counts, others)
    return {kind: number / divisor for kind, number in total.items()}


def events(counted: Mapping[str, int]) -> dict[str, int]:
    """Sum the plugin's events of a region or a symbol by EVENTS."""
    return _sums(EVENTS, counted)


def calls(names: Iterable[str], *regions: RegionCounts) -> int:
    """Sum the calls of all functions with these names."""
    symbols = (region.symbols for region in regions)
    return sum(known[name].calls for known in symbols for name in names if name in known)


def _between(arch: Architecture, counts: RegionCounts, others: RegionCounts) -> dict[str, int]:
    """Return costs between CPUs. On arm64, a flush of other CPUs is a broadcast TLBI."""
    flushes = calls(arch.remote_flushes, counts)
    if "tlbi_local" in counts.events:
        flushes = counts.tlb_total - counts.events["tlbi_local"]
    return {
        OTHERS: others.kernel,
        SENT: calls(arch.ipis_sent, counts, others),
        HANDLED: calls(arch.ipis_handled, counts, others),
        FLUSHES: flushes,
    }


def locks_taken(cost: Mapping[str, float]) -> float | None:
    """Return the sum of all classes of locks; None if locks were not counted."""
    classes = [number for kind, number in cost.items() if kind not in (*KINDS, *BETWEEN)]
    return sum(classes) if classes else None


def _sums(kinds: Mapping[str, Iterable[str]], counted: Mapping[str, int]) -> dict[str, int]:
    """The sums of the kinds that were counted."""
    return {
        kind: sum(counted.get(name, 0) for name in names)
        for kind, names in kinds.items()
        if any(name in counted for name in names)
    }


# In the folder of workloads.
LOCKS_FILE = "locks.toml"


def read_locks(file: Path) -> Locks:
    """Read a file's classes. UserError says what is wrong with it."""
    remedy = "fix it: the comment at its top explains the keys"
    locks = data.read(file, Locks, remedy)
    groups = locks.functions
    if unknown := {rule.functions for rule in locks.rule} - groups.keys():
        raise UserError(f"there is no group of functions {', '.join(unknown)}", str(file), remedy)
    # The last rule for a group must cover every caller.
    for group in groups.keys() - {rule.functions for rule in locks.rule if "*" in rule.callers}:
        raise UserError(
            f"some calls of {', '.join(groups[group])} have no class",
            str(file),
            "add a class without `callers` for this group of functions",
        )
    return locks
