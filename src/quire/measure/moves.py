# SPDX-License-Identifier: GPL-2.0
"""What moved from one kernel to the next: a row's instructions, or what else was counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from quire.measure.comparison import BenchmarkResult, Figure
from quire.measure.profile import ProfileLine

# A row moved by instructions if they changed by more than this share; by events, if one kind did,
# and by so much per unit: an interrupt in a region takes a lock, too.
SHARE, EVENT = 0.003, 0.02
# Estimated cycles, among the events.
CYCLES = "est. cycles"
# A symbol grew if it did by this share of the one that grew most.
GREW = 0.01


@dataclass(frozen=True)
class Move:
    """A row from one kernel to a later one; `number` is the place of the later one."""

    number: int
    a: Figure
    b: Figure

    @property
    def share(self) -> float:
        """The change of instructions; below 0, B takes fewer."""
        return self.b.insns / self.a.insns - 1

    @property
    def events(self) -> dict[str, tuple[float, float]]:
        """What else changed, per unit: A and B, of measure.cost's kinds, locks, and CYCLES."""
        a, b = ({**one.cost, CYCLES: sum(one.cycles.values())} for one in (self.a, self.b))
        pairs = {kind: (a.get(kind, 0.0), b.get(kind, 0.0)) for kind in {**a, **b}}
        return {k: (a, b) for k, (a, b) in pairs.items() if abs(a - b) > max(EVENT, SHARE * a)}

    @property
    def moved(self) -> bool:
        """Whether anything did."""
        return abs(self.share) > SHARE or bool(self.events)


def between(figures: Sequence[Figure | None]) -> list[Move]:
    """The moves from each kernel to the next, of a row; None: a kernel without figures."""
    known = [(number, figure) for number, figure in enumerate(figures) if figure]
    steps = (Move(number, a, b) for (_, a), (number, b) in pairwise(known))
    return [move for move in steps if move.moved]


def grown(row: BenchmarkResult) -> list[ProfileLine]:
    """The symbols that cost more on side B, the most first."""
    lines = [line for line in row.symbols if line.change() > 0]
    return [line for line in lines if line.change() >= GREW * max(map(ProfileLine.change, lines))]
