# SPDX-License-Identifier: GPL-2.0
"""Addresses of pages, and how they change when operations move or copy pages.

The comparison and the oracle follow pages by this. What each knows of a page is its own matter.
"""

from collections.abc import Iterable
from dataclasses import replace

from quire.fuzz.language.program import Op, Range

Position = tuple[str, int]  # slot, page
Address = tuple[int, str, int]  # process, slot, page


def positions(where: Range | None) -> list[Position]:
    """Return the pages of a range."""
    return [(where.slot, number) for number in where.pages] if where else []


def addresses(actor: int | None, where: Range | None) -> set[Address]:
    """Return the pages of a range in a process; those that no process has do not exist."""
    return {(-1 if actor is None else actor, *place) for place in positions(where)}


def touched(op: Op) -> set[Address]:
    """Return the pages that an operation can meet; those that moved have their new address."""
    return addresses(op.actor, op.range) | addresses(op.actor, op.target)


def moved(op: Op, outcome: str) -> list[tuple[Position, Position]]:
    """Return the old and the new position of each page that an operation has moved, in order."""
    what = op.range if outcome == "ok" and op.entry.effect in ("move", "take") else None
    if op.range and op.entry.effect == "take":
        # It tells how many pages moved before the one that stayed.
        _, _, count = outcome.partition(" after=")
        what = replace(op.range, count=int(count)) if count else what
    return list(zip(positions(what), positions(op.target), strict=False))


def follow(known: Iterable[set[Address]], op: Op, outcome: str) -> None:
    """Carry what is known of pages along when they move, and copy it to a child."""
    actor = -1 if op.actor is None else op.actor
    pairs = [((actor, *old), (actor, *new)) for old, new in moved(op, outcome)]
    forks = op.entry.effect == "fork" and outcome == "ok"
    for pages in known if pairs or forks else ():
        carried = {new for old, new in pairs if old in pages}
        pages.difference_update(new for _, new in pairs)
        if op.word != "keep":
            pages.difference_update(old for old, _ in pairs)
        pages.update(carried)
        if forks:
            pages.update([(op.number, slot, page) for who, slot, page in pages if who == actor])
