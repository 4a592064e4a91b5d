# SPDX-License-Identifier: GPL-2.0
"""Profile a benchmark: instructions, calls, events and locks per kernel symbol, on both sides."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from quire.boot.counts import SymbolCount
from quire.measure import cost
from quire.measure.bench import Sample
from quire.measure.cost import Locks

# Instructions outside all kernel symbols.
USER, NOWHERE = "[user space]", "[outside any symbol]"
INSNS, CALLS, LOCKS = "insns", "calls", "locks"
# Sort keys for lines. TLB invalidations are not counted per symbol.
KINDS = (INSNS, CALLS, *cost.EVENTS, LOCKS)


@dataclass(frozen=True)
class Spent:
    """One side of a symbol, per unit (page or walk)."""

    insns: float = 0.0
    calls: float = 0.0
    # By measure.cost.EVENTS and LOCKS (taken by the symbol itself), without zeroes.
    events: dict[str, float] = field(default_factory=dict)

    def number(self, kind: str) -> float:
        """Return the number for one of KINDS."""
        if kind == INSNS:
            return self.insns
        return self.calls if kind == CALLS else self.events.get(kind, 0.0)


@dataclass(frozen=True)
class ProfileLine:
    """One symbol, both sides."""

    symbol: str
    a: Spent
    b: Spent

    def change(self, kind: str = INSNS) -> float:
        """Return B minus A; a negative value is a saving."""
        return self.b.number(kind) - self.a.number(kind)


def lines(a: Sample, b: Sample, locks: Locks | None = None, by: str = INSNS) -> list[ProfileLine]:
    """Return all symbols of either side, by the change of a kind, then by size, largest first."""
    left, right = _spent(a, locks), _spent(b, locks)
    none = Spent()
    unsorted = (
        ProfileLine(name, left.get(name, none), right.get(name, none)) for name in {**left, **right}
    )
    return sorted(
        unsorted, key=lambda line: (-abs(line.change(by)), -line.a.number(by), line.symbol)
    )


def as_json(line: ProfileLine) -> dict[str, Any]:
    """Return a symbol for --json."""
    a, b = line.a, line.b
    return {
        "symbol": line.symbol,
        "a": a.insns,
        "b": b.insns,
        "change": line.change(),
        "a_calls": a.calls,
        "b_calls": b.calls,
        "a_events": a.events,
        "b_events": b.events,
    }


def counted(sample: Sample, kind: str) -> bool:
    """Tell whether that kind was counted; if not, its absence means nothing."""
    events = sample.counts.events
    return kind in (INSNS, CALLS) or any(
        name in events for name in cost.EVENTS.get(kind, tuple(events))
    )


def collapsed(sample: Sample, root: str) -> list[str]:
    """Return collapsed stacks in the format of flame-graph tools.

    The plugin counts per symbol, without callers, so every stack is one frame deep below the
    benchmark's name.
    """
    counts = sorted(_by_symbol(sample).items(), key=lambda item: (-item[1].insns, item[0]))
    return [f"{root};{name} {count.insns}" for name, count in counts]


def share_shown(
    shown: Sequence[ProfileLine], everything: Sequence[ProfileLine], kind: str = INSNS
) -> float:
    """Return the fraction of side A's number of that kind in the shown lines, 0 to 1."""
    total = sum(line.a.number(kind) for line in everything)
    return sum(line.a.number(kind) for line in shown) / total if total else 0.0


def _spent(sample: Sample, locks: Locks | None) -> dict[str, Spent]:
    """Return every symbol's numbers per unit."""
    taken: dict[str, int] = {}
    if locks:
        for (caller, _), number in sample.counts.locks.items():
            taken[caller] = taken.get(caller, 0) + number
    spent = {}
    for name, count in _by_symbol(sample).items():
        events = cost.events(count.events) | {LOCKS: taken.get(name, 0)}
        per_unit = {kind: number / sample.divisor for kind, number in events.items() if number}
        spent[name] = Spent(count.insns / sample.divisor, count.calls / sample.divisor, per_unit)
    return spent


def _by_symbol(sample: Sample) -> dict[str, SymbolCount]:
    counts = dict(sample.counts.symbols)
    for name, number in ((USER, sample.counts.user), (NOWHERE, sample.counts.other)):
        if number:
            counts[name] = SymbolCount(number, 0)
    return counts
