# SPDX-License-Identifier: GPL-2.0
"""From programs to findings: run on both kernels, repeat what differs, shrink what repeats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.fuzz import runner
from quire.fuzz.language import program as language
from quire.fuzz.language.program import Op, Program
from quire.fuzz.language.record import Record
from quire.fuzz.minimise import minimise, replace_each
from quire.fuzz.oracle.compare import Verdict, comparable, compare
from quire.fuzz.runner import Records, Target
from quire.host import parallel

# In a finding's folder: the shrunk program.
PROGRAM = "program.fuzz"


@dataclass
class Pair:
    """The two kernels. `machines`: boots at once.

    With a `control`, a kernel that should agree with stock, only differences count that it does
    not have.
    """

    stock: Target
    patched: Target
    machines: int = 1
    control: Target | None = None

    def run(
        self, programs: Mapping[int, Program], losses: int | None = None
    ) -> tuple[Records, Records]:
        """The records of both; the patched kernel may be lost `losses` times."""
        stock, patched = parallel.each(
            [(self.stock, None), (self.patched, losses)],
            lambda one: runner.run(one[0], programs, one[1]),
            lambda *_: None,
            min(self.machines, parallel.AT_ONCE),
        )
        return stock, patched


@dataclass(frozen=True)
class Finding:
    """A program with which the kernels differ, before and after it was shrunk."""

    number: int
    original: Program
    program: Program
    differences: tuple[str, ...]
    stock: Record
    patched: Record

    @property
    def title(self) -> str:
        """The first difference."""
        return self.differences[0]


@dataclass
class Tally:
    """What a hunt has seen so far."""

    programs: int = 0
    suspects: int = 0
    # Programs whose record on stock does not repeat, or has a splat, leak or hang.
    unstable: dict[int, Program] = field(default_factory=dict)
    troubled: dict[int, Program] = field(default_factory=dict)
    # For each excuse, the programs that needed it.
    excused: Counter[str] = field(default_factory=Counter)


def suspects(
    tally: Tally, programs: Mapping[int, Program], stock: Records, patched: Records
) -> dict[int, Program]:
    """The programs whose records differ without an excuse, where they can be compared."""
    found = {}
    for number, ops in programs.items():
        if number not in stock or number not in patched:
            continue
        verdict = compare(ops, stock[number], patched[number])
        tally.programs += 1
        tally.excused.update(verdict.excused.keys())
        if stock[number].trouble:
            tally.troubled[number] = ops
        if verdict.differences and comparable(stock[number], patched[number]):
            found[number] = ops
    tally.suspects += len(found)
    return found


def confirm(
    pair: Pair, tally: Tally, programs: Mapping[int, Program], stock: Records
) -> dict[int, tuple[Verdict, Record, Record]]:
    """Those that differ again, in another order, and are on stock what they were before."""
    if not programs:
        return {}
    again_stock, again = pair.run(dict(reversed(list(programs.items()))))
    kept = {}
    for number, ops in programs.items():
        before, left, right = stock[number], again_stock[number], again[number]
        if not _alike(left, before):
            before, left, right = (_without_age(found) for found in (before, left, right))
        if not _alike(left, before):
            tally.unstable[number] = ops
            continue
        verdict = compare(ops, left, right)
        if verdict.differences:
            kept[number] = (verdict, left, right)
    return kept


def without_control(pair: Pair, found: dict[int, Program], stock: Records) -> dict[int, Program]:
    """Those that do not differ on the control."""
    if not pair.control or not found:
        return found
    records = runner.run(pair.control, found)
    bad = suspects(Tally(), found, stock, records)
    return {number: ops for number, ops in found.items() if number not in bad}


def _without_age(found: Record) -> Record:
    """Without the sums of accessed pages: which page reclaim comes to first may change those."""
    return replace(found, lines=[re.sub(r",Referenced=\d+", "", line) for line in found.lines])


def _alike(one: Record, other: Record) -> bool:
    return one.trouble == other.trouble and one.plain == other.plain


def shrink(pair: Pair, program: Program, *, pages: bool = True) -> Program:
    """The smallest program that still makes a difference, in operations, then in pages.

    A candidate with which the guest is lost is good enough: those behind it are asked for again
    in the next round, if they are still wanted. The control is not asked each time.
    """

    def happens(candidates: Sequence[Program]) -> list[bool]:
        programs = runner.numbered(list(dict.fromkeys(candidates)))
        stock, patched = pair.run(programs, losses=1)
        differing = set(suspects(Tally(), programs, stock, patched).values())
        return [ops in differing for ops in candidates]

    small = minimise(program, happens)
    return replace_each(small, simpler, happens) if pages else small


def simpler(op: Op) -> list[Op]:
    """Forms of an operation with fewer pages, the smallest first."""
    if not op.range or op.range.count == 1:
        return []
    counts = sorted({1, op.range.count // 2})
    return [replace(op, range=replace(op.range, count=count)) for count in counts]


def investigate(
    pair: Pair, tally: Tally, programs: Mapping[int, Program], most: int
) -> list[Finding]:
    """Run the programs; at most that many of the differences are shrunk and returned."""
    stock, patched = pair.run(programs)
    return follow_up(pair, tally, suspects(tally, programs, stock, patched), stock, most)


def follow_up(
    pair: Pair,
    tally: Tally,
    found: Mapping[int, Program],
    stock: Records,
    most: int,
    *,
    pages: bool = True,
) -> list[Finding]:
    """Repeat and shrink what differed."""
    findings = []
    for number in list(confirm(pair, tally, found, stock))[:most]:
        small = shrink(pair, found[number], pages=pages)
        left, right = pair.run({number: small})
        verdict = compare(small, left[number], right[number])
        if verdict.differences and without_control(pair, {number: small}, left):
            differences = tuple(verdict.differences)
            findings.append(
                Finding(number, found[number], small, differences, left[number], right[number])
            )
    return findings


def folder(finding: Finding, directory: Path) -> Path:
    """Where a finding is written."""
    return directory / f"finding-{finding.number}"


def write_odd(tally: Tally, directory: Path) -> None:
    """Programs that say nothing about the patches, for whoever wants to know why."""
    for name, programs in (("unstable", tally.unstable), ("troubled", tally.troubled)):
        for number, ops in programs.items():
            path = directory / name / f"{number}.fuzz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(language.text(ops))


def write(finding: Finding, directory: Path) -> None:
    """The finding's folder: the program to replay, both records, and what differs."""
    where = folder(finding, directory)
    where.mkdir(parents=True, exist_ok=True)
    (where / PROGRAM).write_text(language.text(finding.program, finding.differences[:3]))
    (where / "original.fuzz").write_text(language.text(finding.original))
    (where / "stock.log").write_text("\n".join(finding.stock.lines) + "\n")
    (where / "patched.log").write_text("\n".join(finding.patched.lines) + "\n")
    (where / "differences").write_text("\n".join(finding.differences) + "\n")
