# SPDX-License-Identifier: GPL-2.0
"""Recipes for userfaultfd: pages that UFFDIO_MOVE takes elsewhere, and scans for written pages."""

from dataclasses import replace

from quire.fuzz.generate import steps as st
from quire.fuzz.generate.draw import PAGES_PER_TABLE, USUAL, Area, Draw, pick
from quire.fuzz.language.program import SLOT_PAGES, Range
from quire.fuzz.language.verbs import VERBS

# How many pages a scan may find; most often any number.
LIMITS = (0, 0, 0, 0, 1, 7, 15, 16, 17, 40)


# What makes pages of a folio differ before it moves.
_mixed = st.choose(
    st.half_forked, st.written_by_child, st.swapped_some, st.holes, st.redirty, st.write_protect,
    st.protect_some, st.in_swap_cache,
)  # fmt: skip


def take(draw: Draw, actor: int, what: Range, to: Range) -> None:
    """Take pages to that address."""
    draw.add("take", actor, range=what, to=to.address, word=pick(draw.rng, VERBS["take"].words))


def take_some(draw: Draw, actor: int, area: Area) -> None:
    """Take pages of an area to a new mapping."""
    what = draw.part(area.where)
    take(draw, actor, what, _place(draw, actor, area, what.page % draw.folio_pages, what.count))


def scan(draw: Draw, actor: int, where: Range) -> None:
    """Scan these pages in one of the ways."""
    number = draw.rng.choice(LIMITS)
    draw.add("scan", actor, range=where, number=number, word=pick(draw.rng, VERBS["scan"].words))


def scan_some(draw: Draw, actor: int, area: Area) -> None:
    """Scan some pages of an area, or all."""
    scan(draw, actor, draw.part(area.where))


def _place(draw: Draw, actor: int, area: Area, offset: int, count: int) -> Range:
    """Pages of a new mapping that has none, most often in another slot.

    They begin at that offset in a folio or at another, or reach across the end of a page table.
    """
    rng = draw.rng
    slots = [slot for slot in USUAL if slot != area.where.slot]
    shift = rng.choice((offset, offset, offset, offset + 1, 0, draw.folio_pages // 2))
    page = rng.choice((0, 0, PAGES_PER_TABLE, PAGES_PER_TABLE - count // 2 - shift)) + shift
    where = Range(rng.choice(slots), max(0, min(page, SLOT_PAGES - count)), count)
    draw.put(actor, where, "anon")
    return where


def taken(draw: Draw, actor: int, area: Area) -> None:
    """Take an area's folios away, whole or in parts, maybe use them there, and maybe back."""
    rng = draw.rng
    if rng.random() < 0.5:
        area = draw.fresh(actor)
        st.maybe(0.7, _mixed)(draw, actor, area)
    what = area.where if rng.random() < 0.6 else draw.part(area.where)
    to = _place(draw, actor, area, what.page % draw.folio_pages, what.count)
    if rng.random() < 0.1:
        draw.add("write", actor, range=st.one_page(draw, to))
    if rng.random() < 0.3 and what.count > 1:
        lead = rng.choice((1, what.count // 2, draw.piece(what).count))
        lead = min(lead, what.count - 1)
        rest = replace(what, page=what.page + lead, count=what.count - lead)
        take(draw, actor, rest, replace(to, page=to.page + lead))
        what = replace(what, count=lead)
    take(draw, actor, what, to)
    there = Area(to, "anon")
    written = st.op("write", st.piece)
    used = st.choose(st.page_out, st.everything, st.redirty, st.half_forked, written)
    st.maybe(0.6, used, st.maybe(0.5, st.op("read write", st.piece)))(draw, actor, there)
    if rng.random() < 0.3:
        take(draw, actor, replace(to, count=what.count), what)


def nearby(draw: Draw, actor: int, _area: Area) -> None:
    """Take pages to just before where they are: the two ranges may overlap."""
    rng = draw.rng
    draw.set_folio(rng.choice((4, 16, 64, 64, 64)))
    size = draw.folio_pages
    count = size * rng.choice((1, 2)) if size > 1 else rng.randint(2, 16)
    distance = min(rng.choice((1, max(size // 2, 1), size, count)), count)
    first = rng.choice((distance, size, PAGES_PER_TABLE - count // 2, PAGES_PER_TABLE))
    first = max(first, distance)
    where = Range(rng.choice(USUAL), first, count)
    whole = Range(where.slot, first - distance, count + distance)
    draw.put(actor, whole, "anon")
    draw.add("write", actor, range=where)
    area = Area(where, "anon")
    st.all_of(st.maybe(0.4, _mixed), st.maybe(0.3, st.op("warm")))(draw, actor, area)
    take(draw, actor, where, whole)
    st.maybe(0.5, st.everything_or_page_out)(draw, actor, area)


def scanned(draw: Draw, actor: int, area: Area) -> None:
    """Scan an area for written pages again and again, with writes and reclaim in between."""
    rng = draw.rng
    if rng.random() < 0.5:
        area = draw.fresh(actor)
    where = area.where
    scan(draw, actor, where)
    between = st.choose(
        *(st.op("write", st.piece),) * 3, st.redirty, st.swapped_some, st.everything,
        st.half_forked, st.protect_some, st.soft_dirty, st.holes,
    )  # fmt: skip
    for _ in range(rng.choice((1, 2, 2, 3))):
        between(draw, actor, area)
        scan(draw, actor, where if rng.random() < 0.5 else draw.part(where))
    st.maybe(0.3, st.everything_or_page_out)(draw, actor, area)
