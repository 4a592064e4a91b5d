# SPDX-License-Identifier: GPL-2.0
"""What is done for a reply, the most telling things first, within a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from quire import lab
from quire.measure import concerns
from quire.review import cases, programs, rows
from quire.review.found import Found
from quire.session import Session
from quire.source import apply

# Folio sizes in KiB, the most telling first; rows without a size come with the first.
SIZES = ((4,), (64,), (2048,))
# Counted if no entry of the table names a touched file.
CONTROLS = ("mremap", "munmap", "mprotect", "fork", "swapout")
Task = tuple[str, Callable[[], None]]


@dataclass(frozen=True)
class Time:
    """How many minutes there are, in all and for the programs of each architecture."""

    budget: float
    fuzz: float
    started: float = field(default_factory=time.monotonic)


def run(session: Session, found: Found, given: Time) -> None:
    """Do all that the time allows."""
    for name, task in _tasks(session, found, given):
        if time.monotonic() - given.started > 60 * given.budget:
            found.left.append(name)
        else:
            task()


def _tasks(session: Session, found: Found, given: Time) -> Iterator[Task]:
    """The most telling first; each with a name for what is left out."""
    folder = session.project.guest / "workloads"
    names, patterns = concerns.by_files(folder, apply.touched(found.sides.series))
    catalogue, architectures = lab.workloads(session), session.architectures
    for sizes in SIZES:
        cells = catalogue.cells(names or CONTROLS, sizes)
        some = [cell for cell in cells if cell.size is not None or sizes == SIZES[0]]
        for arch in architectures:
            name = f"{arch.name}: benchmarks of {', '.join(map(str, sizes))} KiB"
            yield name, partial(rows.count, session, arch, found, some)
        if sizes != SIZES[1]:
            continue
        for arch in architectures:
            yield (
                f"{arch.name}: tests",
                partial(cases.test, session, arch, found, patterns or ["*"]),
            )
        for arch in architectures:
            name = f"{arch.name}: programs"
            yield name, partial(programs.hunt, session, arch, found, given.fuzz)
