# SPDX-License-Identifier: GPL-2.0
"""Recipes for swap-out: pinned, shared by many, protected, zero but for a word, two tables."""

from dataclasses import replace

from quire.fuzz.generate import mixers
from quire.fuzz.generate.draw import CROWDS, PLACES, Area, Draw
from quire.fuzz.generate.steps import (
    PAGE_OUT,
    RECLAIM,
    advise,
    choose,
    either,
    everything,
    fresh,
    maybe,
    mostly,
    on,
    on_new,
    op,
    page_out,
    part,
    piece,
    steps,
    whole,
)
from quire.fuzz.language.program import LOW, Range

# Pin a folio that is in the swap cache: reclaim may share no page and must put all back.
pinned = steps(
    mixers.in_swap_cache,
    maybe(0.6, choose(mixers.half_forked, mixers.write_protect, mixers.written_by_child)),
    op("pin", piece),
    choose(page_out, everything, everything),
)

# The same while it is still mapped.
cached = on_new(
    fresh(),
    mixers.cached,
    maybe(0.4, choose(mixers.half_forked, mixers.write_protect)),
    op("pin", piece),
    RECLAIM,
)

# Swap out pages that are zero but for one word, or all zero.
words = steps(
    advise("dontneed"),
    on(mostly(0.5, whole, piece), lambda draw, actor, area: draw.word(actor, area.where)),
    page_out,
)

_drop_protected = steps(
    op("wp", mostly(0.7, whole, piece)),
    maybe(0.4, op("unwp", piece)),
    either(0.5, advise("dontneed", part), choose(page_out, everything)),
)


def markers(draw: Draw, actor: int, area: Area) -> None:
    """Drop write-protected pages of a file, which leaves uffd-wp markers."""
    if area.kind not in ("shared", "shfile"):
        area = draw.map(actor, draw.rng.choice(["shared", "shfile"]))
    _drop_protected(draw, actor, area)


def crowded(draw: Draw, actor: int, area: Area) -> None:
    """Swap out pages with so many sharers that their swap entries need a continuation."""
    maybe(0.3, mixers.cached)(draw, actor, area)
    if draw.rng.random() < 0.6:
        # The first pages have one sharer less: the counts of the others overflow before theirs.
        area = draw.fresh(actor)
        child = draw.fork(actor)
        if child is not None:
            draw.add("write", child, range=draw.first_half(area.where))
    else:
        some = choose(mixers.swapped_some, mixers.written_by_child, mixers.half_forked)
        maybe(0.7, some)(draw, actor, area)
    read = maybe(0.5, op("read", piece), RECLAIM)
    steps(op("crowd", number=CROWDS), RECLAIM, read, op("crowd"))(draw, actor, area)


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
        draw.add("clear-refs", actor, number=4)
        draw.add("write", actor, range=some)
    draw.add("protect", actor, range=where, word="r")
    if how == "watched":
        draw.add("wp", actor, range=where)
        draw.add("unwp", actor, range=some)
    # MADV_PAGEOUT tries once; `reclaim` tries until everything is gone.
    out = RECLAIM if how in ("shared", "watched") or rng.random() < 0.3 else PAGE_OUT
    steps(out, op("read"), op("protect", word="rw"), op("write"))(draw, actor, area)


def two_tables(draw: Draw, actor: int, _area: Area) -> None:
    """Move half a folio to the end of a page table, and the rest to the start of a child's.

    The child's table is allocated right after. If the two are neighbours in memory, a walk past
    the end of the first table finds the rest of the folio. If the rest is at a low address, so does
    a walk that begins where the folio would.
    """
    rng = draw.rng
    if not draw.unborn:
        return
    half, child = 8, draw.unborn[0]
    slots, far = rng.sample(PLACES, 3), rng.random() < 0.6
    folio = Range(slots[0], 0, 2 * half)
    low, high = replace(folio, count=half), replace(folio, page=half, count=half)
    end, start = Range(slots[1], 512 - half), Range(slots[2], 512) if far else Range(LOW, 0)
    draw.set_folio(64)
    draw.add("map", actor, range=folio, word="anon")
    draw.add("write", actor, range=folio)
    if draw.theme == "lazyfree" or rng.random() < 0.3:
        draw.add("advise", actor, range=folio, word="free")
    draw.fork(actor)
    draw.areas[child] = []
    draw.add("move", actor, range=low, to=end, word="move")
    draw.add("move", child, range=high, to=start, word="move")
    draw.add("unmap", actor, range=high)
    draw.add("unmap", child, range=low)
    draw.add("resize", actor, range=replace(end, count=half), number=2 * half)
    draw.add("reclaim")
