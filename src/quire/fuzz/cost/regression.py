# SPDX-License-Identifier: GPL-2.0
"""An operation that costs side b more: what grew, and in which functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quire.boot.stops import Stop
from quire.fuzz.cost import growth
from quire.fuzz.cost.growth import INSNS, Growth
from quire.fuzz.judge import AT_THE_END
from quire.fuzz.language.program import Op, Program

# Functions that a line names; the file of a finding has all.
SHOWN = 6
# The part of the excess that shrinking has to keep.
KEPT = 0.7


def operation(program: Program, step: str) -> Op | None:
    """The operation of a step; None for the reads and the writes at the end."""
    kind, _, number = step.partition(" ")
    return program[int(number)] if kind == "o" else None


def verb(op: Op | None, step: str) -> str:
    """The verb of a step, with its word: `advise pageout`, `move keep`, `write all`."""
    return f"{op.verb} {op.word}".strip() if op else AT_THE_END[step[0]]


@dataclass(frozen=True)
class Regression:
    """An operation, what it costs on both sides, and what grew beyond the margins.

    `step` is the name of its step in the record; the costs are the least of several boots.
    """

    step: str
    op: Op | None
    a: Stop
    b: Stop
    grown: tuple[Growth, ...]

    @property
    def verb(self) -> str:
        """The operation's verb, with its word."""
        return verb(self.op, self.step)

    @property
    def pages(self) -> int:
        """The pages that the operation names; 1 if it names none."""
        return self.op.range.count or 1 if self.op and self.op.range else 1

    @property
    def kind(self) -> tuple[str, ...]:
        """The verb, what grew, and the function that grew most."""
        names = sorted(grown.name for grown in self.grown)
        most = self.symbols[0][0] if self.symbols and INSNS in names else ""
        return (self.verb, most, *names)

    @property
    def text(self) -> str:
        """The operation, as a program has it, or whose reads or writes; and what grew."""
        name = self.op.text() if self.op else f"{self.verb} of process {self.step[2:]}"
        return f"{name}: {'; '.join(grown.text() for grown in self.grown)}"

    def __str__(self) -> str:
        """The same, and where most."""
        return f"{self.text} ({', '.join(self.functions)})"

    @property
    def symbols(self) -> list[tuple[str, int]]:
        """Functions that grew, the most first."""
        return growth.symbols(self.a, self.b)

    @property
    def functions(self) -> list[str]:
        """The functions that grew most, with the instructions that they take more."""
        return [f"{name} +{more}" for name, more in self.symbols[:SHOWN]]

    def keeps(self, other: Regression) -> bool:
        """Whether something that grew in the other grows here, too, most of it in relation."""
        excess = {grown.name: grown.excess for grown in other.grown}
        return any(
            grown.name in excess and grown.excess >= KEPT * excess[grown.name]
            for grown in self.grown
        )

    def table(self) -> Iterator[str]:
        """A line per function of either side, those that grew most first."""
        a, b = growth.functions(self.a), growth.functions(self.b)
        yield f"{'function':<44} {'a':>9} {'b':>9} {'more':>9}"
        for name in sorted({*a, *b}, key=lambda name: (a.get(name, 0) - b.get(name, 0), name)):
            before, after = a.get(name, 0), b.get(name, 0)
            if before != after:
                yield f"{name:<44} {before:>9} {after:>9} {after - before:>+9}"
