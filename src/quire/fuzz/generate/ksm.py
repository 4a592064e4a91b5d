# SPDX-License-Identifier: GPL-2.0
"""Recipes for KSM: pages merged, moved, written to and merged again."""

from dataclasses import replace

from quire.fuzz.generate import moves, reclaim
from quire.fuzz.generate import steps as st
from quire.fuzz.generate.draw import PASSES, Area, Draw
from quire.fuzz.language.program import Range

_scan, _everything_or_walk = st.op("ksm", number=PASSES), st.choose(st.everything, st.walk)


def merge(where: st.Where) -> st.Step:
    """Make these pages equal, their mapping mergeable, and let ksmd pass over it."""
    return st.all_of(st.op("same", where, number=1), st.advise("mergeable"), _scan)


merge_some = merge(st.piece)


def moved(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages whose index is not that of their address, maybe fork, and walk."""
    st.all_of(st.op("same", st.piece, number=1), st.advise("mergeable"), moves.move_all)(
        draw, actor, area
    )
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
    st.all_of(merge(st.whole), st.op("hold"), st.op("reclaim"))(draw, actor, Area(where, area.kind))
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
apart = st.all_of(
    merge(st.mostly(0.7, st.whole, st.piece)),
    st.maybe(0.8, st.choose(st.trap, st.trap, st.write_protect)),
    st.advise("unmergeable"),
    st.maybe(0.5, reclaim.freed_by_child),
)


def again(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages, write to some, maybe make them equal again, and let ksmd pass in between."""
    rng = draw.rng
    st.maybe(0.7, st.op("smart", word="on"))(draw, actor, area)
    if rng.random() < 0.3:
        area = draw.map(actor, "far")
    where, pair = area.where, rng.random() < 0.4
    if pair:  # no third page to merge with
        where = replace(where, count=min(2, where.count))
    merge(st.whole)(draw, actor, Area(where, area.kind))
    some = where if pair or rng.random() < 0.3 else draw.piece(where)
    written = Area(some, area.kind)
    st.either(0.7, st.op("write"), st.op("read"))(draw, actor, written)
    if pair or rng.random() < 0.6:
        draw.add("ksm", number=rng.choice([1, 2, 5, 5, 8]))
    if pair or rng.random() < 0.7:
        draw.add("same", actor, range=some, number=1)
        draw.add("ksm", number=8 if pair else rng.choice([2, 5, 8, 8]))
    _everything_or_walk(draw, actor, area)
