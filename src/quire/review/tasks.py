# SPDX-License-Identifier: GPL-2.0
"""What is done for a reply, the most telling things first, within a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from quire import lab
from quire.arch import Architecture
from quire.host import process
from quire.measure import cycles
from quire.review import blame, cases, programs, rows
from quire.review.found import Found
from quire.session import Session

# Folio sizes in KiB, the most telling first.
SIZES = ((4,), (64,), (2048,))
Task = tuple[str, Callable[[], object]]


@dataclass(frozen=True)
class Time:
    """How many minutes there are, in all and for the programs of each architecture."""

    budget: float
    fuzz: float
    started: float = field(default_factory=time.monotonic)


def run(session: Session, found: Found, given: Time) -> None:
    """Do all that the time allows; what runs when it is over is stopped."""
    end = given.started + 60 * given.budget
    for name, task in _tasks(session, found, given):
        before = _rows_of(found)
        try:
            with process.until(end):
                process.in_time()
                task()
        except process.OutOfTime:
            some = _rows_of(found) > before
            left = name.replace(": benchmarks", ": other benchmarks") if some else name
            if left not in found.left:
                found.left.append(left)


def _tasks(session: Session, found: Found, given: Time) -> Iterator[Task]:
    """The most telling first; each with a name for what is left out. Only what the touched files
    concern; both kernels are built in any case."""
    concerned, architectures = found.concerned, session.architectures
    for arch in architectures:
        yield f"{arch.name}: build", partial(_build, session, arch, found)
    for sizes in SIZES:
        yield from _rows(session, found, sizes)
        for arch in architectures:
            if sizes != SIZES[0] and blame.pending(arch, found):
                yield f"{arch.name}: which patch", partial(blame.blame, session, arch, found)
        if sizes != SIZES[1]:
            continue
        for arch in architectures if concerned.cases else ():
            yield f"{arch.name}: tests", partial(cases.test, session, arch, found, concerned.cases)
        for arch in architectures if concerned.programs else ():
            name = f"{arch.name}: programs"
            yield name, partial(programs.hunt, session, arch, found, given.fuzz)
    for arch in architectures if found.null else ():
        yield f"{arch.name}: placement", partial(rows.place, session, arch, found)


def _rows_of(found: Found) -> int:
    return sum(len(rows.rows) for rows, _ in found.parts.values())


def _build(session: Session, arch: Architecture, found: Found) -> None:
    lab.rigs(session, arch, found.sides)
    found.built.append(arch)


def _rows(session: Session, found: Found, sizes: Sequence[int]) -> Iterator[Task]:
    """The rows of these sizes; those without one come with the first sizes."""
    if not found.concerned.rows:
        return
    cells = lab.workloads(session).cells(found.concerned.rows, sizes)
    some = [cell for cell in cells if cell.size is not None or sizes == SIZES[0]]
    some = cycles.added(some, found.cycles, session.architectures)
    for arch in session.architectures if some else ():
        name = f"{arch.name}: benchmarks of {', '.join(map(str, sizes))} KiB"
        yield name, partial(rows.count, session, arch, found, some)
