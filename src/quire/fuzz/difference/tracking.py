# SPDX-License-Identifier: GPL-2.0
"""Tracking of pages: what is known of a page moves with it and is inherited by children."""

from collections.abc import Iterable

from quire.fuzz.language.program import Op, Range

# Process, slot, page number. A program's ranges have few pages.
TrackedPage = tuple[int, str, int]


def within(actor: int | None, where: Range | None) -> set[TrackedPage]:
    """The pages of a range."""
    if not where:
        return set()
    return {(-1 if actor is None else actor, where.slot, page) for page in where.pages}


def touched(op: Op) -> set[TrackedPage]:
    """The pages that an operation can meet; pages that moved have their new address by now."""
    pages = within(op.actor, op.range)
    if op.range and op.to:
        pages |= within(op.actor, Range(op.to.slot, op.to.page, op.range.count))
    return pages


def follow(known: Iterable[set[TrackedPage]], op: Op, outcome: str) -> None:
    """Carry what is known of pages along when they move, and copy it to a child."""
    for pages in known if outcome == "ok" else ():
        if op.verb == "move" and op.range and op.to:
            _move(pages, op, op.range, op.to)
        elif op.verb == "fork":
            pages |= {(op.number, slot, page) for who, slot, page in pages if who == op.actor}


def _move(pages: set[TrackedPage], op: Op, what: Range, to: Range) -> None:
    source = within(op.actor, what) & pages
    pages -= within(op.actor, Range(to.slot, to.page, what.count))
    if op.word != "keep":
        pages -= source
    pages |= {(who, to.slot, page - what.page + to.page) for who, _, page in source}
