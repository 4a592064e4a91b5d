# SPDX-License-Identifier: GPL-2.0
"""Triage: run programs on both sides, repeat those that differ, shrink those that differ again."""

from __future__ import annotations

import re
import shutil
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.fuzz import runner
from quire.fuzz.difference import compare as difference
from quire.fuzz.difference.compare import Judgement
from quire.fuzz.difference.excuses import NONE, Excuses
from quire.fuzz.language.program import Op, Program
from quire.fuzz.language.record import Record
from quire.fuzz.minimise import minimise, replace_each
from quire.fuzz.runner import Records, Target
from quire.host import parallel

_ADDING = threading.Lock()


@dataclass
class Pair:
    """The two sides: b has what is tried, a is what it must agree with but for the excuses.

    `machines` is the number of boots at once. With a `control`, a kernel that should agree with
    side a, only differences count that the control does not have.
    """

    a: Target
    b: Target
    machines: int = 1
    control: Target | None = None
    excuses: Excuses = NONE

    @property
    def labels(self) -> tuple[str, str]:
        """The sides as reports and logs name them."""
        return self.a.label, self.b.label

    def run(
        self, programs: Mapping[int, Program], losses: int | None = None
    ) -> tuple[Records, Records]:
        """The records of both sides. Side b stops after `losses` lost guests."""
        a, b = parallel.each(
            [(self.a, None), (self.b, losses)],
            lambda one: runner.run(one[0], programs, one[1]),
            lambda *_: None,
            min(self.machines, parallel.AT_ONCE),
        )
        return a, b

    def apart(self, name: str) -> Pair:
        """The same sides with directories of their own, for boots beside others."""
        a, b = (
            replace(one, directory=one.directory / name, boots=0, seconds=0.0)
            for one in (self.a, self.b)
        )
        return replace(self, a=a, b=b)

    def add(self, other: Pair) -> None:
        """Add the boots of a pair that was apart, and remove its directories."""
        for mine, its in ((self.a, other.a), (self.b, other.b)):
            with _ADDING:
                mine.boots += its.boots
                mine.seconds += its.seconds
            shutil.rmtree(its.directory, ignore_errors=True)

    def compare(self, program: Program, a: Record, b: Record) -> Judgement:
        """What differs between two records of a program, less what is excused."""
        return difference.compare(program, a, b, self.excuses)


@dataclass(frozen=True)
class Finding:
    """A program on which the sides differ, before and after shrinking, and its records.

    `sides` are the labels of a and b.
    """

    number: int
    original: Program
    program: Program
    differences: tuple[str, ...]
    a: Record
    b: Record
    sides: tuple[str, str]

    @property
    def title(self) -> str:
        """The first difference."""
        return self.differences[0]


@dataclass
class Tally:
    """What triage has seen so far."""

    programs: int = 0
    suspects: int = 0
    # Programs whose record on side a does not repeat, or has a splat, leak or hang.
    unstable: dict[int, Program] = field(default_factory=dict)
    troubled: dict[int, Program] = field(default_factory=dict)
    # For each rule, how many programs it excused something in.
    excused: Counter[str] = field(default_factory=Counter)


def suspects(
    pair: Pair, tally: Tally, programs: Mapping[int, Program], a: Records, b: Records
) -> dict[int, Program]:
    """The programs whose records differ without an excuse, where they can be compared."""
    found = {}
    for number, ops in programs.items():
        if number not in a or number not in b:
            continue
        verdict = pair.compare(ops, a[number], b[number])
        tally.programs += 1
        tally.excused.update(verdict.excused.keys())
        if a[number].trouble:
            tally.troubled[number] = ops
        if verdict.differences and difference.comparable(a[number], b[number]):
            found[number] = ops
    tally.suspects += len(found)
    return found


def confirm(
    pair: Pair, tally: Tally, programs: Mapping[int, Program], a: Records
) -> dict[int, tuple[Judgement, Record, Record]]:
    """The programs that differ again, in another order, and whose record on side a repeats."""
    if not programs:
        return {}
    again_a, again_b = pair.run(dict(reversed(list(programs.items()))))
    kept = {}
    for number, ops in programs.items():
        before, left, right = a[number], again_a[number], again_b[number]
        if not _alike(left, before):
            before, left, right = (_without_age(found) for found in (before, left, right))
        if not _alike(left, before):
            tally.unstable[number] = ops
            continue
        verdict = pair.compare(ops, left, right)
        if verdict.differences:
            kept[number] = (verdict, left, right)
    return kept


def without_control(pair: Pair, found: dict[int, Program], a: Records) -> dict[int, Program]:
    """The programs that do not differ on the control."""
    if not pair.control or not found:
        return found
    records = runner.run(pair.control, found)
    bad = suspects(pair, Tally(), found, a, records)
    return {number: ops for number, ops in found.items() if number not in bad}


def _without_age(found: Record) -> Record:
    """The record without the sums of accessed pages, which depend on the order of reclaim."""
    return replace(found, lines=[re.sub(r",Referenced=\d+", "", line) for line in found.lines])


def _alike(one: Record, other: Record) -> bool:
    return one.trouble == other.trouble and one.plain == other.plain


def shrink(pair: Pair, program: Program, *, pages: bool = True) -> Program:
    """The smallest program that still differs, in operations, then in pages.

    A candidate that loses the guest counts as differing. The candidates behind it have no record;
    the next round asks for them again if it still needs them. The control does not run each time.
    """

    def happens(candidates: Sequence[Program]) -> list[bool]:
        programs = runner.numbered(list(dict.fromkeys(candidates)))
        a, b = pair.run(programs, losses=1)
        differing = set(suspects(pair, Tally(), programs, a, b).values())
        return [ops in differing for ops in candidates]

    small = minimise(program, happens)
    return replace_each(small, simpler, happens) if pages else small


def simpler(op: Op) -> list[Op]:
    """Forms of an operation with fewer pages, the smallest first."""
    if not op.range or op.range.count == 1:
        return []
    counts = sorted({1, op.range.count // 2})
    return [replace(op, range=replace(op.range, count=count)) for count in counts]


def follow_up(
    pair: Pair,
    tally: Tally,
    found: Mapping[int, Program],
    a: Records,
    most: int,
    *,
    pages: bool = True,
) -> list[Finding]:
    """Repeat and shrink the programs that differed."""
    findings = []
    for number in list(confirm(pair, tally, found, a))[:most]:
        small = shrink(pair, found[number], pages=pages)
        left, right = pair.run({number: small})
        verdict = pair.compare(small, left[number], right[number])
        if verdict.differences and without_control(pair, {number: small}, left):
            findings.append(
                Finding(
                    number,
                    found[number],
                    small,
                    tuple(verdict.differences),
                    left[number],
                    right[number],
                    pair.labels,
                )
            )
    return findings
