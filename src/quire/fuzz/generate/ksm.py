# SPDX-License-Identifier: GPL-2.0
"""Recipes for KSM: pages merged, moved, written to and merged again."""

from dataclasses import replace

from quire.fuzz.generate import lazyfree, mixers, moves
from quire.fuzz.generate.draw import PASSES, Area, Draw
from quire.fuzz.generate.steps import (
    Step,
    Where,
    advise,
    choose,
    either,
    everything,
    maybe,
    mostly,
    op,
    piece,
    steps,
    walk,
    whole,
)
from quire.fuzz.language.program import Range

_scan, _everything_or_walk = op("ksm", number=PASSES), choose(everything, walk)


def merge(where: Where) -> Step:
    """Make these pages equal, their mapping mergeable, and let ksmd pass over it."""
    return steps(op("same", where, number=1), advise("mergeable"), _scan)


merge_some = merge(piece)


def moved(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages whose index is not that of their address, maybe fork, and walk."""
    steps(op("same", piece, number=1), advise("mergeable"), moves.move_all)(draw, actor, area)
    area = draw.areas[actor][-1]
    if draw.rng.random() < 0.3:
        draw.fork(actor)
    _scan(draw, actor, area)
    for _ in range(draw.rng.choice((0, 0, 0, 1, 2))):
        draw.fork(actor)
    _everything_or_walk(draw, actor, area)


def onto(draw: Draw, actor: int, _area: Area) -> None:
    """Move a merged page, while in the swap cache, to the address of another mapping of it."""
    rng, area = draw.rng, draw.map(actor, draw.rng.choice(["anon", "anon", "file"]))
    where = replace(area.where, count=min(4, area.where.count))
    one, other = (replace(where, page=rng.randrange(where.page, where.end), count=1) for _ in "12")
    steps(merge(whole), op("hold"), op("reclaim"))(draw, actor, Area(where, area.kind))
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
    _everything_or_walk(draw, mover, Area(one, area.kind))


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


# Merge pages, protect some, and take all of them apart.
apart = steps(
    merge(mostly(0.7, whole, piece)),
    maybe(0.8, choose(mixers.trap, mixers.trap, mixers.write_protect)),
    advise("unmergeable"),
    maybe(0.5, lazyfree.by_child),
)


def again(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages, write to some, maybe make them equal again, and let ksmd pass in between."""
    rng = draw.rng
    maybe(0.7, op("smart", word="on"))(draw, actor, area)
    if rng.random() < 0.3:
        area = draw.map(actor, "far")
    where, pair = area.where, rng.random() < 0.4
    if pair:  # no third page to merge with
        where = replace(where, count=min(2, where.count))
    merge(whole)(draw, actor, Area(where, area.kind))
    some = where if pair or rng.random() < 0.3 else draw.piece(where)
    written = Area(some, area.kind)
    either(0.7, op("write"), op("read"))(draw, actor, written)
    if pair or rng.random() < 0.6:
        draw.add("ksm", number=rng.choice([1, 2, 5, 5, 8]))
    if pair or rng.random() < 0.7:
        draw.add("same", actor, range=some, number=1)
        draw.add("ksm", number=8 if pair else rng.choice([2, 5, 8, 8]))
    _everything_or_walk(draw, actor, area)
