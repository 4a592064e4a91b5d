# SPDX-License-Identifier: GPL-2.0
"""Recipes for mremap() and migration: a folio moves as a whole, in part, watched or pinned."""

from dataclasses import replace

from quire.fuzz.generate import steps as st
from quire.fuzz.generate.draw import PLACES, Area, Draw
from quire.fuzz.language.program import Range


def move(where: st.Where) -> st.Step:
    """Move these pages of an area."""
    return lambda draw, actor, area: draw.move(actor, area, where(draw, area.where))


def keep(draw: Draw, actor: int, area: Area) -> None:
    """Move the pages and keep the mapping, which shows stale TLB entries."""
    st.maybe(0.7, st.op("warm"))(draw, actor, area)
    draw.add("move", actor, range=area.where, to=draw.target(area.where), word="keep")


move_all, move_some = move(st.whole), move(st.part)
# Move write-protected pages under a userfaultfd that gets move events: the bits go along.
watched = st.all_of(
    st.op("watch"),
    st.op("wp"),
    st.maybe(0.7, st.op("unwp", st.piece)),
    st.maybe(0.2, st.swapped_some),
    move_all,
)


def tracked(draw: Draw, actor: int, _area: Area) -> None:
    """Move whole page tables in a process whose pages are tracked, all of them written since."""
    rng = draw.rng
    first, count = rng.choice(((0, 512), (0, 512), (0, 1024), (512, 512), (500, 12), (448, 64)))
    where = Range(rng.choice(PLACES), first, count)
    if draw.folio != 4 and rng.random() < 0.6:
        draw.set_folio(4)
    area = draw.put(actor, where, "anon")
    draw.add("write", actor, range=where)
    st.maybe(0.8, st.op("clear-refs", number=4), st.op("write"))(draw, actor, area)
    draw.move(actor, area, where, Range(rng.choice(PLACES), first))


# To the second node, which is not where the pages come from.
away = st.op("migrate", number=1)
# NUMA hints, maybe where the pages are on the other node.
hinted = st.all_of(st.maybe(0.5, away), st.op("hint"))
# There, maybe changed in a part of its folios, and back.
and_back = st.all_of(
    away,
    st.maybe(0.5, st.choose(st.half_forked, st.write_protect, st.protect_some)),
    st.op("migrate", number=0),
)
# Pin a page of which the folio is to move: its entries must be put back.
pinned = st.all_of(
    st.maybe(0.6, st.choose(st.half_forked, st.write_protect)), st.op("pin", st.piece), away
)
# Empty the memory of one area, as when it is unplugged; most often nothing is held there.
emptied = st.all_of(st.maybe(0.7, st.op("drop")), st.op("offline", st.piece))


def low(draw: Draw, actor: int, _area: Area) -> None:
    """Move the tail of a folio to where its head would be below address 0, and fault there."""
    rng, area = draw.rng, draw.fresh(actor, (64, 64, 256, 2048))
    where = area.where
    first = rng.randrange(1, draw.folio_pages)
    count = min(draw.folio_pages - first, 64)
    tail = replace(where, page=where.page + first, count=count)
    to = draw.low(tail)
    draw.move(actor, area, tail, to)
    moved = Area(replace(to, count=count), area.kind)
    if draw.migrating and rng.random() < 0.4:
        hinted(draw, actor, moved)
        return
    if rng.random() < 0.3:
        draw.fork(actor)
    mixed = st.choose(st.in_swap_cache, st.swapped, st.protect_some)
    st.all_of(mixed, st.op("read write", st.part))(draw, actor, moved)
