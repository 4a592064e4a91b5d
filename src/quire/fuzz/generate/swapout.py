# SPDX-License-Identifier: GPL-2.0
"""Recipes for swap-out: pinned, shared by many, protected, or zero but for a word."""

from __future__ import annotations

from quire.fuzz.generate import mixers, reclaim
from quire.fuzz.generate.draw import CROWDS, Area, Draw


def pinned(draw: Draw, actor: int, area: Area) -> None:
    """Pin a folio that is in the swap cache: reclaim may share no page and must put all back."""
    mixers.in_swap_cache(draw, actor, area.where)
    if draw.rng.random() < 0.6:
        mixer = draw.rng.choice((mixers.half_forked, mixers.write_protect, mixers.written_by_child))
        mixer(draw, actor, area.where)
    draw.add("pin", actor, to=draw.piece(area.where).address)
    draw.rng.choice((reclaim.page_out, reclaim.everything, reclaim.everything))(draw, actor, area)


def cached(draw: Draw, actor: int, _area: Area) -> None:
    """Pin a folio that is in the swap cache while it is still mapped."""
    area = draw.fresh(actor)
    where = area.where
    mixers.cached(draw, actor, where)
    if draw.rng.random() < 0.4:
        draw.rng.choice((mixers.half_forked, mixers.write_protect))(draw, actor, where)
    draw.add("pin", actor, to=draw.piece(where).address)
    draw.add("reclaim")


def crowded(draw: Draw, actor: int, area: Area) -> None:
    """Swap out pages with so many sharers that their swap entries need a continuation."""
    if draw.rng.random() < 0.3:
        mixers.cached(draw, actor, area.where)
    if draw.rng.random() < 0.6:
        # The first pages have one sharer less: the counts of the others overflow before theirs.
        area = draw.fresh(actor)
        child = draw.fork(actor)
        if child is not None:
            draw.add("write", child, range=draw.first_half(area.where))
    elif draw.rng.random() < 0.7:
        some = (mixers.swapped_some, mixers.written_by_child, mixers.half_forked)
        draw.rng.choice(some)(draw, actor, area.where)
    draw.add("crowd", actor, number=draw.rng.choice(CROWDS))
    draw.add("reclaim")
    if draw.rng.random() < 0.5:
        draw.add("read", actor, range=draw.piece(area.where))
        draw.add("reclaim")
    draw.add("crowd", actor, number=0)


def words(draw: Draw, actor: int, area: Area) -> None:
    """Swap out pages that are zero but for one word, or all zero."""
    draw.add("advise", actor, range=area.where, word="dontneed")
    draw.word(actor, area.where if draw.rng.random() < 0.5 else draw.piece(area.where))
    reclaim.page_out(draw, actor, area)


def protected(draw: Draw, actor: int, _area: Area) -> None:
    """Swap out a read-only range of pages that differ, then read it and write to it."""
    rng, area = draw.rng, draw.fresh(actor)
    where = area.where
    some = rng.choice((draw.first_half, draw.second_half, draw.piece))(where)
    how = rng.choice(("shared", "once shared", "watched", "written"))
    if "shared" in how:
        child = mixers.fork_without(draw, actor, some)
        if child is not None and how == "once shared":
            draw.exit(child)
    elif how == "written":
        mixers.dirty_again(draw, actor, some)
    draw.add("protect", actor, range=where, word="r")
    if how == "watched":
        mixers.write_protect_but(draw, actor, where, some)
    if how in ("shared", "watched") or rng.random() < 0.3:
        draw.add("reclaim")
    else:
        # This tries once; `reclaim` tries until everything is gone.
        draw.add("advise", actor, range=where, word="pageout")
    draw.add("read", actor, range=where)
    draw.add("protect", actor, range=where, word="rw")
    draw.add("write", actor, range=where)


def markers(draw: Draw, actor: int, area: Area) -> None:
    """Drop write-protected pages of a file, which leaves uffd-wp markers."""
    if area.kind not in ("shared", "shfile"):
        area = draw.map(actor, draw.rng.choice(["shared", "shfile"]))
    draw.add("wp", actor, range=area.where if draw.rng.random() < 0.7 else draw.piece(area.where))
    if draw.rng.random() < 0.4:
        draw.add("unwp", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.5:
        draw.add("advise", actor, range=draw.part(area.where), word="dontneed")
    else:
        draw.rng.choice((reclaim.page_out, reclaim.everything))(draw, actor, area)
