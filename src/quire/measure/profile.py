# SPDX-License-Identifier: GPL-2.0
"""A workload's instructions per kernel symbol, for both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.boot.counts import SymbolCount
from quire.measure.bench import Sample

# Instructions outside of all kernel symbols.
USER, NOWHERE = "[user space]", "[outside any symbol]"


@dataclass(frozen=True)
class ProfileLine:
    """One symbol; instructions and calls are per unit (page or walk)."""

    symbol: str
    a: float
    b: float
    a_calls: float
    b_calls: float

    @property
    def change(self) -> float:
        """B minus A: a negative value is a saving."""
        return self.b - self.a


def lines(a: Sample, b: Sample) -> list[ProfileLine]:
    """All symbols of either side, sorted by change, then by size, largest first."""
    left, right = _by_symbol(a), _by_symbol(b)
    none = SymbolCount(0, 0)
    found = [
        ProfileLine(
            name,
            left.get(name, none).insns / a.divisor,
            right.get(name, none).insns / b.divisor,
            left.get(name, none).calls / a.divisor,
            right.get(name, none).calls / b.divisor,
        )
        for name in {**left, **right}
    ]
    return sorted(found, key=lambda line: (-abs(line.change), -line.a, line.symbol))


def collapsed(sample: Sample, root: str) -> list[str]:
    """Collapsed stacks in the format of flame-graph tools.

    The plugin counts per symbol, without callers: every stack is one frame deep below the
    workload's name.
    """
    counts = sorted(_by_symbol(sample).items(), key=lambda item: (-item[1].insns, item[0]))
    return [f"{root};{name} {count.insns}" for name, count in counts]


def share_shown(shown: Sequence[ProfileLine], everything: Sequence[ProfileLine]) -> float:
    """The share of side A's instructions in the shown lines, 0 to 1."""
    total = sum(line.a for line in everything)
    return sum(line.a for line in shown) / total if total else 0.0


def _by_symbol(sample: Sample) -> dict[str, SymbolCount]:
    counts = dict(sample.counts.symbols)
    for name, number in ((USER, sample.counts.user), (NOWHERE, sample.counts.other)):
        if number:
            counts[name] = SymbolCount(number, 0)
    return counts
