# SPDX-License-Identifier: GPL-2.0
"""An operation that got dearer: what grew, in which functions, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.boot.stops import Stop
from quire.fuzz.cost import growth
from quire.fuzz.cost.growth import INSNS, Growth
from quire.fuzz.language import program as language
from quire.fuzz.language.program import Op, Program
from quire.fuzz.language.record import Record

# Functions that a report names; the file has all.
SHOWN = 6
# Steps that are no operation of the program, by their letter.
AT_THE_END = {"r": "read all", "w": "write all"}


@dataclass(frozen=True)
class Dearer:
    """One operation of a program, what it costs on both sides, and what grew beyond the margins.

    `step` is the name of its step in the record; the costs are the least of several boots.
    """

    step: str
    a: Stop
    b: Stop
    grown: tuple[Growth, ...]

    @property
    def names(self) -> frozenset[str]:
        """What grew."""
        return frozenset(each.name for each in self.grown)

    @property
    def symbols(self) -> list[tuple[str, int]]:
        """Functions that grew, the most first."""
        return growth.symbols(self.a, self.b)

    @property
    def text(self) -> str:
        """What grew, in a line."""
        return "; ".join(each.text() for each in self.grown)

    def keeps(self, of: Dearer) -> bool:
        """Whether something that grew in `of` grows here, too, most of it in relation."""
        before = {each.name: each.excess for each in of.grown}
        return any(
            each.name in before and each.excess >= KEPT * before[each.name] for each in self.grown
        )


# The part of the excess that shrinking has to keep.
KEPT = 0.7


def operation(program: Program, step: str) -> Op | None:
    """The operation of a step; None for the reads and the writes at the end."""
    kind, _, number = step.partition(" ")
    return program[int(number)] if kind == "o" else None


def kind(program: Program, step: str) -> str:
    """The verb of a step, with its word: `advise pageout`, `move keep`, `write all`."""
    op = operation(program, step)
    return f"{op.verb} {op.word}".strip() if op else AT_THE_END[step[0]]


def name(program: Program, step: str) -> str:
    """The operation of a step, as a program has it; at the end, whose reads or writes."""
    op = operation(program, step)
    return op.text() if op else f"{kind(program, step)} of process {step[2:]}"


def line(number: int, program: Program, dearer: Dearer) -> str:
    """A line about a program's operation: what grew, and where most."""
    functions = [f"{symbol} +{more}" for symbol, more in dearer.symbols[:SHOWN]]
    where = f"{number}, operation {dearer.step}: {name(program, dearer.step)}"
    return f"{where}: {dearer.text} ({', '.join(functions)})"


def pages(program: Program, step: str) -> int:
    """The pages that a step names; 1 if it names none."""
    op = operation(program, step)
    return op.range.count or 1 if op and op.range else 1


@dataclass(frozen=True)
class Finding:
    """A program with an operation that costs side b more, before and after shrinking.

    `sides` are the labels of a and b, `records` those of the shrunk program; `signature` is that of
    the original.
    """

    number: int
    original: Program
    program: Program
    dearer: Dearer
    records: tuple[Record, Record]
    sides: tuple[str, str]
    signature: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The operation's verb."""
        return kind(self.program, self.dearer.step)

    @property
    def title(self) -> str:
        """The operation and what grew."""
        return f"{name(self.program, self.dearer.step)}: {self.dearer.text}"

    @property
    def functions(self) -> list[str]:
        """The functions that grew most, with the instructions that they take more."""
        return [f"{name} +{more}" for name, more in self.dearer.symbols[:SHOWN]]


def signature(program: Program, dearer: Dearer) -> tuple[str, ...]:
    """Findings of one signature have, as far as can be told, one cause."""
    most = dearer.symbols[0][0] if dearer.symbols and INSNS in dearer.names else ""
    return (kind(program, dearer.step), most, *sorted(dearer.names))


# Lists all operations that were dearer.
CONFIRMED = "dearer"


def folder(finding: Finding, directory: Path) -> Path:
    """The folder of a finding."""
    return directory / f"dearer-{finding.number}"


def write_confirmed(lines: Sequence[str], directory: Path) -> None:
    """Write all operations that were dearer, whether they were shrunk or not."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / CONFIRMED).write_text("".join(f"{text}\n" for text in lines))


def write(finding: Finding, directory: Path) -> Path:
    """Write the finding's folder: the program, its original, costs, functions and records."""
    where = folder(finding, directory)
    where.mkdir(parents=True, exist_ok=True)
    comments = [finding.title, *finding.functions]
    (where / "program.fuzz").write_text(language.text(finding.program, comments))
    (where / "original.fuzz").write_text(language.text(finding.original))
    (where / "dearer").write_text(
        "\n".join([finding.title, "", *_functions(finding.dearer)]) + "\n"
    )
    for letter, record, label in zip("ab", finding.records, finding.sides, strict=True):
        text = "\n".join([f"# side {letter}: {label}", *record.lines])
        (where / f"{letter}.log").write_text(f"{text}\n")
    return where


def _functions(dearer: Dearer) -> Sequence[str]:
    """A line per function of either side, those that grew most first."""
    a, b = growth.functions(dearer.a), growth.functions(dearer.b)
    names = sorted({*a, *b}, key=lambda name: (a.get(name, 0) - b.get(name, 0), name))
    head = f"{'function':<44} {'a':>9} {'b':>9} {'more':>9}"
    return [head] + [
        f"{name:<44} {a.get(name, 0):>9} {b.get(name, 0):>9} {b.get(name, 0) - a.get(name, 0):>+9}"
        for name in names
        if a.get(name, 0) != b.get(name, 0)
    ]
