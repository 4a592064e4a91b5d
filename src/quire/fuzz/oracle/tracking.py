# SPDX-License-Identifier: GPL-2.0
"""Places of pages, and how what is known of them follows the program."""

from __future__ import annotations

from collections.abc import Iterable

from quire.fuzz.language.program import Op, Range

# Process, slot, page: ranges are few pages.
Place = tuple[int, str, int]


def within(actor: int | None, where: Range | None) -> set[Place]:
    """The places of a range."""
    if not where:
        return set()
    return {(-1 if actor is None else actor, where.slot, page) for page in where.pages}


def touched(op: Op) -> set[Place]:
    """The places that an operation can meet; pages that moved are at their new ones by now."""
    found = within(op.actor, op.range)
    if op.range and op.to:
        found |= within(op.actor, Range(op.to.slot, op.to.page, op.range.count))
    return found


def remaps(op: Op) -> bool:
    """Whether the operation puts another mapping, or none, in the place of what was there."""
    return op.verb in ("map", "unmap")


def empties(op: Op) -> bool:
    """Whether the pages that were there are gone."""
    return remaps(op) or op.word in ("dontneed", "remove")


def follow(known: Iterable[set[Place]], op: Op, outcome: str) -> None:
    """Of pages that moved, or that a child has as well: what is known of them goes along."""
    if outcome != "ok":
        return
    for places in known:
        if op.verb == "move" and op.range and op.to:
            _move(places, op, op.range, op.to)
        elif op.verb == "fork":
            places |= {(op.number, slot, page) for who, slot, page in places if who == op.actor}


def _move(places: set[Place], op: Op, what: Range, to: Range) -> None:
    source = within(op.actor, what) & places
    places -= within(op.actor, Range(to.slot, to.page, what.count))
    if op.word != "keep":
        places -= source
    places |= {(who, to.slot, page - what.page + to.page) for who, _, page in source}
