# SPDX-License-Identifier: GPL-2.0
"""Recipes for KSM: pages merged, moved, written to and merged again."""

from __future__ import annotations

from dataclasses import replace

from quire.fuzz.generate import lazyfree, mixers, moves, reclaim
from quire.fuzz.generate.draw import PASSES, Area, Draw
from quire.fuzz.language.program import Range


def merge_some(draw: Draw, actor: int, where: Range) -> None:
    """Make some pages equal and let KSM merge them."""
    merge(draw, actor, draw.piece(where), where)


def merge(draw: Draw, actor: int, same: Range, where: Range) -> None:
    """Make pages equal, their mapping mergeable, and let ksmd pass over it."""
    draw.add("same", actor, range=same, number=1)
    draw.add("advise", actor, range=where, word="mergeable")
    draw.add("ksm", number=draw.rng.choice(PASSES))


def moved(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages whose index is not that of their address, maybe fork, and walk."""
    draw.add("same", actor, range=draw.piece(area.where), number=1)
    draw.add("advise", actor, range=area.where, word="mergeable")
    moves.whole(draw, actor, area)
    moved = draw.areas[actor][-1]
    if draw.rng.random() < 0.3:
        draw.fork(actor)
    draw.add("ksm", number=draw.rng.choice(PASSES))
    for _ in range(draw.rng.choice((0, 0, 0, 1, 2))):
        draw.fork(actor)
    draw.rng.choice((reclaim.everything, reclaim.walk))(draw, actor, moved)


def onto(draw: Draw, actor: int, _area: Area) -> None:
    """Move a merged page, while in the swap cache, to the address of another mapping of it."""
    rng, area = draw.rng, draw.map(actor, draw.rng.choice(["anon", "anon", "file"]))
    where = replace(area.where, count=min(4, area.where.count))
    one, other = (replace(where, page=rng.randrange(where.page, where.end), count=1) for _ in "12")
    merge(draw, actor, where, where)
    draw.add("hold", actor, to=where.address)
    draw.add("reclaim")
    mover = actor
    if rng.random() < 0.6:
        mover = _child_not_mergeable(draw, actor, other, one)
    draw.add("move", mover, range=other, to=one.address, word="move")
    if mover != actor:
        draw.add("advise", mover, range=one, word="mergeable")
    for who in {actor, mover}:
        draw.add("read", who, range=where)
    draw.add("drop", actor)
    draw.add("ksm", number=2)
    rng.choice((reclaim.everything, reclaim.walk))(draw, mover, Area(one, area.kind))


def _child_not_mergeable(draw: Draw, actor: int, where: Range, seen: Range) -> int:
    """Fork a child, if there can be one more, whose pages `seen` ksmd meets; its number.

    The pages `where` are swapped out, in a mapping that is no longer mergeable.
    """
    draw.add("advise", actor, range=where, word="unmergeable")
    child = draw.fork(actor)
    child = actor if child is None else child
    draw.add("read", child, range=seen)
    draw.add("ksm", number=2)
    draw.add("reclaim")
    return child


def apart(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages, protect some, and take all of them apart."""
    where = area.where
    merge(draw, actor, where if draw.rng.random() < 0.7 else draw.piece(where), where)
    if draw.rng.random() < 0.8:
        draw.rng.choice((mixers.trap, mixers.trap, mixers.write_protect))(draw, actor, where)
    draw.add("advise", actor, range=where, word="unmergeable")
    if draw.rng.random() < 0.5:
        lazyfree.by_child(draw, actor, area)


def again(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages, write to some, maybe make them equal again, and let ksmd pass in between."""
    rng = draw.rng
    if rng.random() < 0.7:
        draw.add("smart", word="on")
    if rng.random() < 0.3:
        area = draw.map(actor, "far")
    where, pair = area.where, rng.random() < 0.4
    if pair:  # no third page to merge with
        where = replace(where, count=min(2, where.count))
    merge(draw, actor, where, where)
    some = where if pair or rng.random() < 0.3 else draw.piece(where)
    draw.add("write" if rng.random() < 0.7 else "read", actor, range=some)
    if pair or rng.random() < 0.6:
        draw.add("ksm", number=rng.choice([1, 2, 5, 5, 8]))
    if pair or rng.random() < 0.7:
        draw.add("same", actor, range=some, number=1)
        draw.add("ksm", number=8 if pair else rng.choice([2, 5, 8, 8]))
    rng.choice((reclaim.everything, reclaim.walk))(draw, actor, area)
