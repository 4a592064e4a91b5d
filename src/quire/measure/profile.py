# SPDX-License-Identifier: GPL-2.0
"""Where a workload's instructions go: per kernel symbol, both sides next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.boot.counts import SymbolCount
from quire.measure.bench import Sample

# Instructions that belong to no kernel symbol.
USER, NOWHERE = "[user space]", "[outside any symbol]"


@dataclass(frozen=True)
class Line:
    """One symbol; figures are per unit (page or walk), calls too."""

    symbol: str
    a: float
    b: float
    a_calls: float
    b_calls: float

    @property
    def change(self) -> float:
        """B minus A: below zero is saved."""
        return self.b - self.a


def lines(a: Sample, b: Sample) -> list[Line]:
    """All symbols of either, the biggest change first, then the biggest."""
    left, right = _by_symbol(a), _by_symbol(b)
    none = SymbolCount(0, 0)
    found = [
        Line(
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
    """Collapsed stacks as flame-graph tools read them.

    The plugin counts where instructions are, not who called: every stack is one frame deep
    below the workload's name.
    """
    counts = sorted(_by_symbol(sample).items(), key=lambda item: (-item[1].insns, item[0]))
    return [f"{root};{name} {count.insns}" for name, count in counts]


def share_shown(shown: Sequence[Line], everything: Sequence[Line]) -> float:
    """How much of side A's instructions the shown lines hold, 0 to 1."""
    total = sum(line.a for line in everything)
    return sum(line.a for line in shown) / total if total else 0.0


def _by_symbol(sample: Sample) -> dict[str, SymbolCount]:
    counts = dict(sample.counts.symbols)
    for name, number in ((USER, sample.counts.user), (NOWHERE, sample.counts.other)):
        if number:
            counts[name] = SymbolCount(number, 0)
    return counts
