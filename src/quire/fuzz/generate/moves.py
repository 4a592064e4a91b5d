# SPDX-License-Identifier: GPL-2.0
"""Recipes for mremap(): a folio moves as a whole, in part, or watched by userfaultfd."""

from __future__ import annotations

from dataclasses import replace

from quire.fuzz.generate import migrate, mixers
from quire.fuzz.generate.draw import PLACES, Area, Draw
from quire.fuzz.language.program import Range


def whole(draw: Draw, actor: int, area: Area) -> None:
    """Move an area."""
    draw.move(actor, area, area.where)


def some(draw: Draw, actor: int, area: Area) -> None:
    """Move a part of an area."""
    draw.move(actor, area, draw.part(area.where))


def keep(draw: Draw, actor: int, area: Area) -> None:
    """Move the pages and keep the mapping, which shows stale TLB entries."""
    if draw.rng.random() < 0.7:
        draw.add("warm", actor)
    draw.add("move", actor, range=area.where, to=draw.target(area.where), word="keep")


def watched(draw: Draw, actor: int, area: Area) -> None:
    """Move write-protected pages under a userfaultfd that gets move events: the bits go along."""
    draw.add("watch", actor)
    draw.add("wp", actor, range=area.where)
    if draw.rng.random() < 0.7:
        draw.add("unwp", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.2:
        mixers.swapped_some(draw, actor, area.where)
    draw.move(actor, area, area.where)


def tracked(draw: Draw, actor: int, _area: Area) -> None:
    """Move whole page tables in a process whose pages are tracked, all of them written since."""
    rng = draw.rng
    first, count = rng.choice(((0, 512), (0, 512), (0, 1024), (512, 512), (500, 12), (448, 64)))
    where = Range(rng.choice(PLACES), first, count)
    if draw.folio != 4 and rng.random() < 0.6:
        draw.set_folio(4)
    draw.add("map", actor, range=where, word="anon")
    area = Area(where, "anon")
    draw.areas[actor].append(area)
    draw.add("write", actor, range=where)
    if rng.random() < 0.8:
        draw.add("clear-refs", actor, number=4)
        draw.add("write", actor, range=where)
    draw.move_to(actor, area, where, Range(rng.choice(PLACES), first))


def low(draw: Draw, actor: int, _area: Area) -> None:
    """Move the tail of a folio to where its head would be below address 0, and fault there."""
    rng, area = draw.rng, draw.fresh(actor, (64, 64, 256, 2048))
    where = area.where
    first = rng.randrange(1, draw.folio_pages)
    count = min(draw.folio_pages - first, 64)
    tail = replace(where, page=where.page + first, count=count)
    to = draw.low(tail)
    draw.move_to(actor, area, tail, to)
    tail = replace(to, count=count)
    if draw.migrating and rng.random() < 0.4:
        migrate.hinted(draw, actor, Area(tail, area.kind))
        return
    if rng.random() < 0.3:
        draw.fork(actor)
    rng.choice((mixers.in_swap_cache, mixers.swapped, mixers.protect_some))(draw, actor, tail)
    if actor in draw.areas:
        draw.add(rng.choice(("read", "write")), actor, range=draw.part(tail))
