# SPDX-License-Identifier: GPL-2.0
"""Recipes for mremap(), UFFDIO_MOVE, migration, KSM and PAGEMAP_SCAN."""

from dataclasses import replace

from quire.fuzz.generate import combine as st
from quire.fuzz.generate import reclaim
from quire.fuzz.generate.draw import PAGES_PER_TABLE, USUAL, Area, Draw, pick
from quire.fuzz.language.program import SLOT_PAGES, Range
from quire.fuzz.language.verbs import PASSES, VERBS


def move(where: st.Where) -> st.Step:
    """Move these pages of an area."""
    return lambda draw, actor, area: draw.move(actor, area, where(draw, area.where))


def keep(draw: Draw, actor: int, area: Area) -> None:
    """Move the pages and keep the mapping, which exposes stale TLB entries."""
    st.maybe(0.7, st.op("warm"))(draw, actor, area)
    draw.add("move", actor, range=area.where, to=draw.target(area.where), word="keep")


move_all, move_some = move(st.whole), move(st.part)
# Move write-protected pages under a userfaultfd with move events: the bits move, too.
watched = st.all_of(
    st.op("watch"),
    st.op("wp"),
    st.maybe(0.7, st.op("unwp", st.piece)),
    st.maybe(0.2, st.swapped_some),
    move_all,
)


def tracked(draw: Draw, actor: int, _area: Area) -> None:
    """Move whole page tables whose pages are tracked by soft-dirty and all written."""
    rng = draw.rng
    first, count = rng.choice(((0, 512), (0, 512), (0, 1024), (512, 512), (500, 12), (448, 64)))
    where = Range(rng.choice(USUAL), first, count)
    if draw.folio != 4 and rng.random() < 0.6:
        draw.set_folio(4)
    area = draw.put(actor, where, "anon")
    draw.add("write", actor, range=where)
    st.maybe(0.8, st.op("clear-refs", number=4), st.op("write"))(draw, actor, area)
    draw.move(actor, area, where, Range(rng.choice(USUAL), first))


# To the second node; the pages start on the first.
away = st.op("migrate", number=1)
# NUMA hints, maybe with the pages on the other node.
hinted = st.all_of(st.maybe(0.5, away), st.op("hint"))
# Migrate there, maybe change some pages, and migrate back.
and_back = st.all_of(
    away,
    st.maybe(0.5, st.choose(st.half_forked, st.write_protect, st.protect_some)),
    st.op("migrate", number=0),
)
# Pin a page, and try to migrate its folio: the PTEs must be restored.
pinned = st.all_of(
    st.maybe(0.6, st.choose(st.half_forked, st.write_protect)), st.op("pin", st.piece), away
)
# Empty a memory block, as before it is unplugged; usually without extra references there.
emptied = st.all_of(st.maybe(0.7, st.op("drop")), st.op("offline", st.piece))


def low(draw: Draw, actor: int, _area: Area) -> None:
    """Move the tail of a folio so low that its head would be below address 0, and fault there."""
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


_scan, _everything_or_walk = st.op("ksm", number=PASSES), st.choose(st.everything, st.walk)


def merge(where: st.Where) -> st.Step:
    """Make these pages equal and their mapping mergeable, and let ksmd scan it."""
    return st.all_of(st.op("same", where, number=1), st.advise("mergeable"), _scan)


merge_some = merge(st.piece)


def merged_and_moved(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages whose index does not match their address, maybe fork, and walk."""
    st.all_of(st.op("same", st.piece, number=1), st.advise("mergeable"), move_all)(
        draw, actor, area
    )
    area = draw.areas[actor][-1]
    if draw.rng.random() < 0.3:
        draw.fork(actor)
    _scan(draw, actor, area)
    for _ in range(draw.rng.choice((0, 0, 0, 1, 2))):
        draw.fork(actor)
    _everything_or_walk(draw, actor, area)


def merged_onto(draw: Draw, actor: int, _area: Area) -> None:
    """Move a merged page in the swap cache to the address of another mapping of it."""
    rng, area = draw.rng, draw.map(actor, draw.rng.choice(["anon", "anon", "file"]))
    where = replace(area.where, count=min(4, area.where.count))
    onto, moved = (replace(where, page=rng.randrange(where.page, where.end), count=1) for _ in "12")
    st.all_of(merge(st.whole), st.op("hold"), st.op("reclaim"))(draw, actor, Area(where, area.kind))
    mover = actor
    if rng.random() < 0.6:
        mover = _child_not_mergeable(draw, actor, moved, onto)
    draw.add("move", mover, range=moved, to=onto.address, word="move")
    if mover != actor:
        draw.add("advise", mover, range=onto, word="mergeable")
    for who in {actor, mover}:
        draw.add("read", who, range=where)
    draw.add("drop", actor)
    draw.add("ksm", number=2)
    _everything_or_walk(draw, mover, Area(onto, area.kind))


def _child_not_mergeable(draw: Draw, actor: int, where: Range, seen: Range) -> int:
    """Fork a child, if possible, and let ksmd scan its pages `seen`. Return the process number.

    The pages `where` are swapped out, in a mapping that is no longer mergeable.
    """
    draw.add("advise", actor, range=where, word="unmergeable")
    child = draw.fork(actor)
    child = actor if child is None else child
    draw.add("read", child, range=seen)
    draw.add("ksm", number=2)
    draw.add("reclaim")
    return child


# Merge pages, protect some, and unmerge all.
merged_apart = st.all_of(
    merge(st.mostly(0.7, st.whole, st.piece)),
    st.maybe(0.8, st.choose(st.trap, st.trap, st.write_protect)),
    st.advise("unmergeable"),
    st.maybe(0.5, reclaim.freed_by_child),
)


def merged_again(draw: Draw, actor: int, area: Area) -> None:
    """Merge pages, write to some, maybe make them equal again; ksmd scans in between."""
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


# The maximum number of pages that a scan may report; 0: no limit.
LIMITS = (0, 0, 0, 0, 1, 7, 15, 16, 17, 40)


# Make pages of a folio differ before it moves.
_mixed = st.choose(
    st.half_forked, st.written_by_child, st.swapped_some, st.holes, st.redirty, st.write_protect,
    st.protect_some, st.in_swap_cache,
)  # fmt: skip


def take(draw: Draw, actor: int, what: Range, to: Range) -> None:
    """Move pages to that address by UFFDIO_MOVE."""
    draw.add("take", actor, range=what, to=to.address, word=pick(draw.rng, VERBS["take"].words))


def take_some(draw: Draw, actor: int, area: Area) -> None:
    """Move pages of an area to a new mapping by UFFDIO_MOVE."""
    what = draw.part(area.where)
    take(draw, actor, what, _place(draw, actor, area, what.page % draw.folio_pages, what.count))


def scan(draw: Draw, actor: int, where: Range) -> None:
    """Scan these pages in a random mode."""
    number = draw.rng.choice(LIMITS)
    draw.add("scan", actor, range=where, number=number, word=pick(draw.rng, VERBS["scan"].words))


def scan_some(draw: Draw, actor: int, area: Area) -> None:
    """Scan some pages of an area, or all."""
    scan(draw, actor, draw.part(area.where))


def _place(draw: Draw, actor: int, area: Area, offset: int, count: int) -> Range:
    """Map pages, usually in another slot, without touching them.

    They begin at this or another offset in a folio, or cross the end of a page table.
    """
    rng = draw.rng
    slots = [slot for slot in USUAL if slot != area.where.slot]
    shift = rng.choice((offset, offset, offset, offset + 1, 0, draw.folio_pages // 2))
    page = rng.choice((0, 0, PAGES_PER_TABLE, PAGES_PER_TABLE - count // 2 - shift)) + shift
    where = Range(rng.choice(slots), max(0, min(page, SLOT_PAGES - count)), count)
    draw.put(actor, where, "anon")
    return where


def taken(draw: Draw, actor: int, area: Area) -> None:
    """Move an area's folios by UFFDIO_MOVE, whole or in parts; maybe use them or move them back."""
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
    """Move pages a short way down by UFFDIO_MOVE: source and target may overlap."""
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
    """Scan an area for written pages repeatedly, with writes and reclaim in between."""
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
