# SPDX-License-Identifier: GPL-2.0
"""Recipes for reclaim of MADV_FREE pages, and for swap-out."""

from dataclasses import replace

from quire.fuzz.generate import combine as st
from quire.fuzz.generate.draw import USUAL, Area, Draw
from quire.fuzz.language.program import LOW, Range
from quire.fuzz.language.verbs import CROWDS

freed = st.all_of(st.FREE, st.page_out)
freed_held = st.all_of(st.FREE, st.op("hold", st.part), st.page_out)

# Redirty lazyfree pages and take references. Only the hardware marks them dirty, because a write
# after MADV_FREE raises no fault.
freed_refilled = st.on_new(
    st.fresh(),
    st.FREE,
    st.op("write", st.mostly(0.5, st.whole, st.piece)),
    st.op("hold hold pin", st.piece),
)

# Make lazyfree pages differ, and prevent the drop: reclaim must restore each PTE exactly.
freed_mixed = st.all_of(
    st.FREE,
    st.repeat(
        (1, 1, 2), st.choose(st.half_forked, st.write_protect, st.protect_some, st.soft_dirty)
    ),
    st.either(0.75, st.op("write", st.piece), st.op("hold", st.piece)),
    st.mostly_everything,
)

# Make a lazyfree range read-only and lock some pages: mlock() leaves them clean.
freed_locked = st.on_new(
    st.fresh(),
    st.FREE,
    st.op("protect", word="r"),
    st.op("lock", st.mostly(0.6, st.second_half, st.piece)),
    st.everything_or_page_out,
)

# Free a PMD-mapped folio by MADV_FREE, and usually redirty it.
freed_huge = st.on_new(
    st.fresh(2048), st.FREE, st.maybe(0.8, st.op("write", st.one_page)), st.everything_or_page_out
)

# Reclaim a droppable mapping, maybe redirtied, maybe with extra references.
droppable = st.on_new(
    lambda draw, actor: draw.map(actor, "droppable"),
    st.maybe(0.4, st.op("write", st.piece)),
    st.maybe(0.5, st.op("hold", st.piece)),
    st.everything_or_page_out,
    st.maybe(0.3, st.op("drop"), st.RECLAIM),
)


def freed_by_child(draw: Draw, actor: int, area: Area) -> None:
    """Let a child free an area by MADV_FREE that its parent still uses."""
    child = draw.fork(actor)
    if child is None:
        return
    draw.add("advise", child, range=draw.part(area.where), word="free")
    if draw.rng.random() < 0.3:
        draw.exit(child)
    st.mostly_everything(draw, actor, area)


def _fork_briefly(draw: Draw, actor: int, area: Area) -> None:
    child = st.fork_without(draw, actor, st.mostly(0.4, st.second_half, st.piece)(draw, area.where))
    if child is not None:
        draw.exit(child)


# Free pages by MADV_FREE, some of them write-protected by fork(): reclaim drops them in batches.
# Unlike `reclaim`, MADV_PAGEOUT tries once.
freed_torn = st.on_new(st.fresh(), st.FREE, st.repeat((1, 1, 2), _fork_briefly), st.PAGE_OUT)


def freed_read_only(draw: Draw, actor: int, _area: Area) -> None:
    """Free read-only pages whose bits differ, and reference one: reclaim must restore the bits."""
    area = draw.fresh(actor)
    where = area.where
    some = st.mostly(0.4, st.second_half, st.piece)(draw, where)
    watched = draw.rng.random() < 0.5
    if not watched:
        draw.add("clear-refs", actor, number=4)
        draw.add("write", actor, range=some)
    draw.add("advise", actor, range=where, word="free")
    draw.add("protect", actor, range=where, word="r")
    if watched:
        # With one registered range, the mapping is not split.
        draw.add("wp", actor, range=where)
        draw.add("unwp", actor, range=some)
    st.all_of(st.op("hold", st.piece), st.everything_or_page_out)(draw, actor, area)


# Pin a folio in the swap cache: reclaim must not share any page, and must restore all PTEs.
pinned_in_cache = st.all_of(
    st.in_swap_cache,
    st.maybe(0.6, st.choose(st.half_forked, st.write_protect, st.written_by_child)),
    st.op("pin", st.piece),
    st.choose(st.page_out, st.everything, st.everything),
)

# The same while it is still mapped.
pinned_and_mapped = st.on_new(
    st.fresh(),
    st.cached,
    st.maybe(0.4, st.choose(st.half_forked, st.write_protect)),
    st.op("pin", st.piece),
    st.RECLAIM,
)

# Swap out pages that are zero except for one word, or all zero.
zero_but_words = st.all_of(
    st.advise("dontneed"),
    st.on(
        st.mostly(0.5, st.whole, st.piece), lambda draw, actor, area: draw.word(actor, area.where)
    ),
    st.page_out,
)

_drop_protected = st.all_of(
    st.op("wp", st.mostly(0.7, st.whole, st.piece)),
    st.maybe(0.4, st.op("unwp", st.piece)),
    st.either(0.5, st.advise("dontneed", st.part), st.choose(st.page_out, st.everything)),
)


def markers(draw: Draw, actor: int, area: Area) -> None:
    """Drop write-protected pages of a file, which leaves uffd-wp markers."""
    if area.kind not in ("shared", "shfile"):
        area = draw.map(actor, draw.rng.choice(["shared", "shfile"]))
    _drop_protected(draw, actor, area)


def crowded(draw: Draw, actor: int, area: Area) -> None:
    """Swap out pages with so many sharers that their swap counts need a continuation."""
    st.maybe(0.3, st.cached)(draw, actor, area)
    if draw.rng.random() < 0.6:
        # The first pages have one sharer less, so the counts of the others overflow first.
        area = draw.fresh(actor)
        child = draw.fork(actor)
        if child is not None:
            draw.add("write", child, range=draw.first_half(area.where))
    else:
        some = st.choose(st.swapped_some, st.written_by_child, st.half_forked)
        st.maybe(0.7, some)(draw, actor, area)
    read = st.maybe(0.5, st.op("read", st.piece), st.RECLAIM)
    st.all_of(st.op("crowd", number=CROWDS), st.RECLAIM, read, st.op("crowd"))(draw, actor, area)


def swapped_read_only(draw: Draw, actor: int, _area: Area) -> None:
    """Swap out a read-only range of pages whose bits differ, then read it and write to it."""
    rng, area = draw.rng, draw.fresh(actor)
    where = area.where
    some = rng.choice((draw.first_half, draw.second_half, draw.piece))(where)
    how = rng.choice(("shared", "once shared", "watched", "written"))
    if "shared" in how:
        child = st.fork_without(draw, actor, some)
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
    out = st.RECLAIM if how in ("shared", "watched") or rng.random() < 0.3 else st.PAGE_OUT
    st.all_of(out, st.op("read"), st.op("protect", word="rw"), st.op("write"))(draw, actor, area)


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
    slots, far = rng.sample(USUAL, 3), rng.random() < 0.6
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
