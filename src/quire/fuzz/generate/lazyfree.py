# SPDX-License-Identifier: GPL-2.0
"""Recipes for pages given up by MADV_FREE, and then changed, held or locked."""

from __future__ import annotations

from quire.fuzz.generate import mixers, reclaim
from quire.fuzz.generate.draw import Area, Draw
from quire.fuzz.language.program import Range


def give_up(draw: Draw, actor: int, area: Area) -> None:
    """Give an area up, and page it out."""
    draw.add("advise", actor, range=area.where, word="free")
    reclaim.page_out(draw, actor, area)


def by_child(draw: Draw, actor: int, area: Area) -> None:
    """Let a child give an area up that it shares with its parent, who keeps it."""
    child = draw.fork(actor)
    if child is None:
        return
    draw.add("advise", child, range=draw.part(area.where), word="free")
    if draw.rng.random() < 0.3:
        draw.exit(child)
    draw.rng.choice((reclaim.everything, reclaim.everything, reclaim.page_out))(draw, actor, area)


def held(draw: Draw, actor: int, area: Area) -> None:
    """Give an area up, hold one of its pages, and page it out."""
    draw.add("advise", actor, range=area.where, word="free")
    draw.add("hold", actor, to=draw.part(area.where).address)
    reclaim.page_out(draw, actor, area)


def refilled(draw: Draw, actor: int, _area: Area) -> None:
    """Give pages up, write to them again and take references: only the hardware marked them dirty.

    A write after MADV_FREE raises no fault, since the pages are writable.
    """
    where = draw.fresh(actor).where
    draw.add("advise", actor, range=where, word="free")
    draw.add("write", actor, range=where if draw.rng.random() < 0.5 else draw.piece(where))
    draw.add(draw.rng.choice(("hold", "hold", "pin")), actor, to=draw.piece(where).address)


def mixed(draw: Draw, actor: int, area: Area) -> None:
    """Give pages up, make them differ, and prevent the drop: reclaim must restore each exactly."""
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    some = mixers.half_forked, mixers.write_protect, mixers.protect_some, mixers.soft_dirty
    for _ in range(draw.rng.choice([1, 1, 2])):
        draw.rng.choice(some)(draw, actor, where)
    if draw.rng.random() < 0.75:
        draw.add("write", actor, range=draw.piece(where))
    else:
        draw.add("hold", actor, to=draw.piece(where).address)
    draw.rng.choice((reclaim.everything, reclaim.everything, reclaim.page_out))(draw, actor, area)


def locked(draw: Draw, actor: int, _area: Area) -> None:
    """Give a range up, make it read-only and lock some pages: mlock() leaves them clean."""
    area = draw.fresh(actor)
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    draw.add("protect", actor, range=where, word="r")
    some = draw.second_half(where) if draw.rng.random() < 0.6 else draw.piece(where)
    draw.add("lock", actor, range=some)
    draw.rng.choice((reclaim.everything, reclaim.page_out))(draw, actor, area)


def torn(draw: Draw, actor: int, _area: Area) -> None:
    """Give pages up, of which a child takes the write permission of some: reclaim drops runs."""
    area = draw.fresh(actor)
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    for _ in range(draw.rng.choice([1, 1, 2])):
        some = draw.second_half(where) if draw.rng.random() < 0.4 else draw.piece(where)
        child = mixers.fork_without(draw, actor, some)
        if child is not None:
            draw.exit(child)
    # Unlike `reclaim`, this tries once.
    draw.add("advise", actor, range=where, word="pageout")


def protected(draw: Draw, actor: int, _area: Area) -> None:
    """Give up read-only pages whose bits differ, and hold one: reclaim must restore the bits."""
    area = draw.fresh(actor)
    where = area.where
    some = draw.second_half(where) if draw.rng.random() < 0.4 else draw.piece(where)
    watched = draw.rng.random() < 0.5
    if not watched:
        mixers.dirty_again(draw, actor, some)
    draw.add("advise", actor, range=where, word="free")
    draw.add("protect", actor, range=where, word="r")
    if watched:
        mixers.write_protect_but(draw, actor, where, some)
    draw.add("hold", actor, to=draw.piece(where).address)
    draw.rng.choice((reclaim.everything, reclaim.page_out))(draw, actor, area)


def huge(draw: Draw, actor: int, _area: Area) -> None:
    """Give up a PMD-mapped folio, and most often write to it again."""
    area = draw.fresh(actor, (2048,))
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    if draw.rng.random() < 0.8:
        some = Range(where.slot, where.page + draw.rng.randrange(where.count), 1)
        draw.add("write", actor, range=some)
    draw.rng.choice((reclaim.everything, reclaim.page_out))(draw, actor, area)


def droppable(draw: Draw, actor: int, _area: Area) -> None:
    """Reclaim a droppable mapping, maybe written to again, maybe held."""
    area = draw.map(actor, "droppable")
    if draw.rng.random() < 0.4:
        draw.add("write", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.5:
        draw.add("hold", actor, to=draw.piece(area.where).address)
    draw.rng.choice((reclaim.everything, reclaim.page_out))(draw, actor, area)
    if draw.rng.random() < 0.3:
        draw.add("drop", actor)
        draw.add("reclaim")
