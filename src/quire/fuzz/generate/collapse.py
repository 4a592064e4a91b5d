# SPDX-License-Identifier: GPL-2.0
"""Recipes for khugepaged: small pages become a folio, which is then given up or paged out.

It looks only at mappings that fill a page table. Since Linux 7.3 it makes folios of all sizes.
"""

from __future__ import annotations

from quire.fuzz.generate import lazyfree, mixers, reclaim
from quire.fuzz.generate.draw import PLACES, Area, Draw
from quire.fuzz.language.program import Range

TABLE = 512
SIZES = (16, 32, 64, 64, 64, 256, 2048)


def collapsed(draw: Draw, actor: int) -> Area:
    """Pages that khugepaged has put together to folios, often while they were read-only."""
    rng, kib = draw.rng, draw.rng.choice(SIZES)
    whole = Range(rng.choice(PLACES), rng.choice((0, 0, TABLE)), TABLE)
    # The process is known to khugepaged if a size is allowed when it maps this.
    draw.set_folio(kib)
    count = min(draw.folio_pages * rng.choice((1, 1, 2)), TABLE)
    draw.add("map", actor, range=whole, word="anon")
    area = Area(Range(whole.slot, whole.page, count), "anon")
    draw.areas[actor].append(area)
    draw.set_folio(4)
    if rng.random() < 0.3:
        draw.add("clear-refs", actor, number=4)
    draw.add("write", actor, range=area.where if rng.random() < 0.8 else draw.part(area.where))
    read_only = rng.random() < 0.6
    if read_only:
        draw.add("protect", actor, range=whole, word="r")
    draw.set_folio(kib)
    if rng.random() < 0.15:
        mixers.half_forked(draw, actor, area.where)
    draw.add("khugepaged", number=1)
    if read_only and rng.random() < 0.6:
        draw.add("protect", actor, range=whole, word="rw")
    return area


def given_up(draw: Draw, actor: int, _area: Area) -> None:
    """Give a collapsed folio up, most often in a child, while the parent keeps it."""
    area = collapsed(draw, actor)
    if actor in draw.areas:
        some = lazyfree.by_child, lazyfree.by_child, lazyfree.by_child, lazyfree.give_up
        draw.rng.choice(some)(draw, actor, area)


def paged_out(draw: Draw, actor: int, _area: Area) -> None:
    """Page a collapsed folio out."""
    area = collapsed(draw, actor)
    if actor in draw.areas:
        draw.rng.choice((reclaim.everything, reclaim.page_out))(draw, actor, area)
