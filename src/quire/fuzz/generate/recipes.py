# SPDX-License-Identifier: GPL-2.0
"""Recipes: short idioms that no draw of single operations would hit often enough.

First something that makes pages of one folio differ in what a batch must not mix up (a mixer),
often two of them, then something that takes the folio as a whole (an action, by the program's
theme). What needs pages of which nothing is known yet begins with a mapping of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from quire.fuzz.generate.draw import CROWDS, PASSES, Area, Draw
from quire.fuzz.language.program import SLOTS, Range


def recipe(draw: Draw, actor: int) -> None:
    """All on one area, if it has folios; often a new one, of which nothing is known yet."""
    area = draw.map(actor, "anon") if draw.rng.random() < 0.25 else draw.area(actor)
    for _ in range(draw.rng.choice([1, 1, 1, 2, 2, 3])):
        draw.rng.choice(MIXERS)(draw, actor, area.where)
    if draw.rng.random() < 0.85 and actor in draw.areas:
        if draw.rng.random() < 0.15:
            draw.add("warm", actor)
        actions = ACTIONS[draw.theme if draw.rng.random() < 0.8 else draw.rng.choice(list(ACTIONS))]
        draw.rng.choice(actions)(draw, actor, area)


def _redirty(draw: Draw, actor: int, where: Range) -> None:
    """Given up, and written to again in part."""
    draw.add("advise", actor, range=where, word="free")
    draw.add("write", actor, range=draw.piece(where))


def _half_forked(draw: Draw, actor: int, where: Range) -> None:
    """Some pages of a folio are shared with a child, the others are not: often its first."""
    some = draw.piece(where)
    if draw.rng.random() < 0.4:
        some = draw.first_half(where)
    _fork_without(draw, actor, some)


def _fork_without(draw: Draw, actor: int, some: Range) -> int | None:
    """The child, if there can be one, which does not have these pages."""
    draw.add("advise", actor, range=some, word="dontfork")
    child = draw.fork(actor)
    draw.add("advise", actor, range=some, word="dofork")
    return child


def _written_by_child(draw: Draw, actor: int, where: Range) -> None:
    """A child copies some pages of a folio, and may be gone afterwards."""
    child = draw.fork(actor)
    if child is not None:
        draw.add("write", child, range=draw.piece(where))
        if draw.rng.random() < 0.4:
            draw.exit(child)


def _soft_dirty(draw: Draw, actor: int, where: Range) -> None:
    """Soft-dirty is cleared everywhere and set again on some pages."""
    _dirty_again(draw, actor, draw.piece(where))


def _dirty_again(draw: Draw, actor: int, some: Range) -> None:
    """These alone are soft-dirty."""
    draw.add("clear-refs", actor, number=4)
    draw.add("write", actor, range=some)


def _accessed(draw: Draw, actor: int, where: Range) -> None:
    """Some pages count as accessed."""
    draw.add("clear-refs", actor, number=1)
    draw.add("read", actor, range=draw.piece(where))


def _wp(draw: Draw, actor: int, where: Range) -> None:
    """All or some pages of a folio are write-protected by userfaultfd."""
    if draw.rng.random() < 0.3:
        draw.add("watch", actor)
    draw.add("wp", actor, range=where if draw.rng.random() < 0.6 else draw.piece(where))
    if draw.rng.random() < 0.5:
        draw.add("unwp", actor, range=draw.piece(where))


def _wp_but(draw: Draw, actor: int, where: Range, some: Range) -> None:
    """All but some are: watched as a whole, or the mapping would end between them."""
    draw.add("wp", actor, range=where)
    draw.add("unwp", actor, range=some)


def _protect_some(draw: Draw, actor: int, where: Range) -> None:
    """Protected and given back: entries that may have lost their write permission."""
    some = draw.piece(where)
    draw.add("protect", actor, range=some, word="r")
    draw.add("protect", actor, range=some, word="rw")


def _swapped(draw: Draw, actor: int, where: Range) -> None:
    """Swapped out as a whole, some pages brought back."""
    draw.add("advise", actor, range=where, word="pageout")
    if draw.rng.random() < 0.7:
        draw.add(draw.rng.choice(["read", "write"]), actor, range=draw.piece(where))


def _swapped_some(draw: Draw, actor: int, where: Range) -> None:
    """Some pages are swapped out, the others stay."""
    draw.add("advise", actor, range=draw.piece(where), word="pageout")


def _holes(draw: Draw, actor: int, where: Range) -> None:
    """Some pages are gone."""
    draw.add("advise", actor, range=draw.piece(where), word="dontneed")


def merged(draw: Draw, actor: int, where: Range) -> None:
    """Pages that KSM merges."""
    _merge(draw, actor, draw.piece(where), where)


def _merge(draw: Draw, actor: int, same: Range, where: Range) -> None:
    """Pages made equal in a mapping that is mergeable then, and passes over it."""
    draw.add("same", actor, range=same, number=1)
    draw.add("advise", actor, range=where, word="mergeable")
    draw.add("ksm", number=draw.rng.choice(PASSES))


def _lock_some(draw: Draw, actor: int, where: Range) -> None:
    """Some pages are locked, which are in a mapping of their own then."""
    draw.add("lock", actor, range=draw.piece(where))


def _cached(draw: Draw, actor: int, where: Range) -> None:
    """Reclaim fails with a locked page, which it comes to first: all is in the swap cache then."""
    locked = replace(where, count=1)
    draw.add("lock", actor, range=locked)
    draw.add("reclaim")
    draw.add("unlock", actor, range=locked)


def _in_swap_cache(draw: Draw, actor: int, where: Range) -> None:
    """A reference keeps a folio in the swap cache, from where all or some pages come back."""
    if draw.folio_pages > 1 and draw.rng.random() < 0.6:
        _cached(draw, actor, where)  # a large one would not be swapped while somebody holds it
    draw.add("hold", actor, to=draw.piece(where).address)
    if draw.rng.random() < 0.5:
        draw.add("advise", actor, range=where, word="pageout")
    else:
        draw.add("reclaim")
    if draw.rng.random() < 0.75:
        some = where if draw.rng.random() < 0.6 else draw.piece(where)
        draw.add(draw.rng.choice(["read", "read", "write"]), actor, range=some)
    if draw.rng.random() < 0.5:
        draw.add("drop", actor)


def _move_whole(draw: Draw, actor: int, area: Area) -> None:
    draw.move(actor, area, area.where)


def _move_some(draw: Draw, actor: int, area: Area) -> None:
    draw.move(actor, area, draw.part(area.where))


def _move_keep(draw: Draw, actor: int, area: Area) -> None:
    """The mapping stays behind, empty: what the TLB still knows of its pages shows."""
    if draw.rng.random() < 0.7:
        draw.add("warm", actor)
    draw.add("move", actor, range=area.where, to=draw.target(area.where), word="keep")


def _move_watched(draw: Draw, actor: int, area: Area) -> None:
    """Write-protected in part by a userfaultfd that is told of moves: the bits go along."""
    draw.add("watch", actor)
    draw.add("wp", actor, range=area.where)
    if draw.rng.random() < 0.7:
        draw.add("unwp", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.2:
        _swapped_some(draw, actor, area.where)
    draw.move(actor, area, area.where)


def _page_out(draw: Draw, actor: int, area: Area) -> None:
    if draw.rng.random() < 0.12:
        draw.add("warm", actor)
    draw.add("advise", actor, range=area.where, word="pageout")


def _reclaim_all(draw: Draw, actor: int, _area: Area) -> None:
    if draw.rng.random() < 0.5:
        draw.add("clear-refs", actor, number=1)
    draw.add("reclaim")


def _page_out_pinned(draw: Draw, actor: int, area: Area) -> None:
    """In the swap cache already, and then pinned: no page may be shared, all must be put back."""
    _in_swap_cache(draw, actor, area.where)
    if draw.rng.random() < 0.6:
        draw.rng.choice((_half_forked, _wp, _written_by_child))(draw, actor, area.where)
    draw.add("pin", actor, to=draw.piece(area.where).address)
    draw.rng.choice((_page_out, _reclaim_all, _reclaim_all))(draw, actor, area)


def _page_out_cached(draw: Draw, actor: int, _area: Area) -> None:
    """In the swap cache while still mapped, and then pinned."""
    area = draw.fresh(actor)
    where = area.where
    _cached(draw, actor, where)
    if draw.rng.random() < 0.4:
        draw.rng.choice((_half_forked, _wp))(draw, actor, where)
    draw.add("pin", actor, to=draw.piece(where).address)
    draw.add("reclaim")


def _page_out_crowded(draw: Draw, actor: int, area: Area) -> None:
    """Shared by so many that their swap entries need more than a count in the map."""
    if draw.rng.random() < 0.3:
        _cached(draw, actor, area.where)
    if draw.rng.random() < 0.6:
        # The first pages are shared by one less: the count of others runs over before theirs.
        area = draw.fresh(actor)
        child = draw.fork(actor)
        if child is not None:
            draw.add("write", child, range=draw.first_half(area.where))
    elif draw.rng.random() < 0.7:
        mixers = (_swapped_some, _written_by_child, _half_forked)
        draw.rng.choice(mixers)(draw, actor, area.where)
    draw.add("crowd", actor, number=draw.rng.choice(CROWDS))
    draw.add("reclaim")
    if draw.rng.random() < 0.5:
        draw.add("read", actor, range=draw.piece(area.where))
        draw.add("reclaim")
    draw.add("crowd", actor, number=0)


def _page_out_words(draw: Draw, actor: int, area: Area) -> None:
    """Pages that are zero but for a word, or all zero."""
    draw.add("advise", actor, range=area.where, word="dontneed")
    draw.word(actor, area.where if draw.rng.random() < 0.5 else draw.piece(area.where))
    _page_out(draw, actor, area)


def _page_out_protected(draw: Draw, actor: int, _area: Area) -> None:
    """Swapped out where nothing may be written, with pages that differ; may be written then."""
    rng, area = draw.rng, draw.fresh(actor)
    where = area.where
    some = rng.choice((draw.first_half, draw.second_half, draw.piece))(where)
    how = rng.choice(("shared", "once shared", "watched", "written"))
    if "shared" in how:
        child = _fork_without(draw, actor, some)
        if child is not None and how == "once shared":
            draw.exit(child)
    elif how == "written":
        _dirty_again(draw, actor, some)
    draw.add("protect", actor, range=where, word="r")
    if how == "watched":
        _wp_but(draw, actor, where, some)
    if how in ("shared", "watched") or rng.random() < 0.3:
        draw.add("reclaim")
    else:
        # This tries once; reclaim as a whole does until all is gone.
        draw.add("advise", actor, range=where, word="pageout")
    draw.add("read", actor, range=where)
    draw.add("protect", actor, range=where, word="rw")
    draw.add("write", actor, range=where)


def _markers(draw: Draw, actor: int, area: Area) -> None:
    """Write-protected pages of a file go away and leave markers."""
    if area.kind not in ("shared", "shfile"):
        area = draw.map(actor, draw.rng.choice(["shared", "shfile"]))
    draw.add("wp", actor, range=area.where if draw.rng.random() < 0.7 else draw.piece(area.where))
    if draw.rng.random() < 0.4:
        draw.add("unwp", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.5:
        draw.add("advise", actor, range=draw.part(area.where), word="dontneed")
    else:
        draw.rng.choice((_page_out, _reclaim_all))(draw, actor, area)


def _give_up(draw: Draw, actor: int, area: Area) -> None:
    draw.add("advise", actor, range=area.where, word="free")
    _page_out(draw, actor, area)


def _give_up_held(draw: Draw, actor: int, area: Area) -> None:
    draw.add("advise", actor, range=area.where, word="free")
    draw.add("hold", actor, to=draw.part(area.where).address)
    _page_out(draw, actor, area)


def _give_up_mixed(draw: Draw, actor: int, area: Area) -> None:
    """Given up first, then made to differ, then kept from being dropped: put back as it was?"""
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    for _ in range(draw.rng.choice([1, 1, 2])):
        draw.rng.choice((_half_forked, _wp, _protect_some, _soft_dirty))(draw, actor, where)
    if draw.rng.random() < 0.75:
        draw.add("write", actor, range=draw.piece(where))
    else:
        draw.add("hold", actor, to=draw.piece(where).address)
    draw.rng.choice((_reclaim_all, _reclaim_all, _page_out))(draw, actor, area)


def _give_up_locked(draw: Draw, actor: int, _area: Area) -> None:
    """Given up, and some pages locked where nothing may be written: mlock() leaves them clean."""
    area = draw.fresh(actor)
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    draw.add("protect", actor, range=where, word="r")
    some = draw.second_half(where) if draw.rng.random() < 0.6 else draw.piece(where)
    draw.add("lock", actor, range=some)
    draw.rng.choice((_reclaim_all, _page_out))(draw, actor, area)


def _give_up_torn(draw: Draw, actor: int, _area: Area) -> None:
    """Given up, and some pages lose their write permission to a child: dropped in runs."""
    area = draw.fresh(actor)
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    for _ in range(draw.rng.choice([1, 1, 2])):
        some = draw.second_half(where) if draw.rng.random() < 0.4 else draw.piece(where)
        child = _fork_without(draw, actor, some)
        if child is not None:
            draw.exit(child)
    # Reclaim as a whole tries again until all is gone.
    draw.add("advise", actor, range=where, word="pageout")


def _give_up_protected(draw: Draw, actor: int, _area: Area) -> None:
    """Given up where nothing may be written, with bits that differ, and held: put back?"""
    area = draw.fresh(actor)
    where = area.where
    some = draw.second_half(where) if draw.rng.random() < 0.4 else draw.piece(where)
    watched = draw.rng.random() < 0.5
    if not watched:
        _dirty_again(draw, actor, some)
    draw.add("advise", actor, range=where, word="free")
    draw.add("protect", actor, range=where, word="r")
    if watched:
        _wp_but(draw, actor, where, some)
    draw.add("hold", actor, to=draw.piece(where).address)
    draw.rng.choice((_reclaim_all, _page_out))(draw, actor, area)


def _give_up_huge(draw: Draw, actor: int, _area: Area) -> None:
    """A folio that one entry maps is given up, and most often written to again."""
    area = draw.fresh(actor, (2048,))
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    if draw.rng.random() < 0.8:
        some = Range(where.slot, where.page + draw.rng.randrange(where.count), 1)
        draw.add("write", actor, range=some)
    draw.rng.choice((_reclaim_all, _page_out))(draw, actor, area)


def _two_tables(draw: Draw, actor: int, _area: Area) -> None:
    """Half a folio at the end of a table, the rest in a child's next one, made right after it.

    What goes past the end of the first finds the rest, if the tables are neighbours in memory.
    """
    rng = draw.rng
    if not draw.unborn:
        return
    half, child = 8, draw.unborn[0]
    slots = rng.sample(SLOTS, 3)
    whole = Range(slots[0], 0, 2 * half)
    low, high = replace(whole, count=half), replace(whole, page=half, count=half)
    end, start = Range(slots[1], 512 - half), Range(slots[2], 512)
    draw.set_folio(64)
    draw.add("map", actor, range=whole, word="anon")
    draw.add("write", actor, range=whole)
    if draw.theme == "lazyfree" or rng.random() < 0.3:
        draw.add("advise", actor, range=whole, word="free")
    draw.fork(actor)
    draw.areas[child] = []
    draw.add("move", actor, range=low, to=end, word="move")
    draw.add("move", child, range=high, to=start, word="move")
    draw.add("unmap", actor, range=high)
    draw.add("unmap", child, range=low)
    draw.add("resize", actor, range=replace(end, count=half), number=2 * half)
    draw.add("reclaim")


def _drop(draw: Draw, actor: int, _area: Area) -> None:
    """Of a droppable mapping, written to, maybe held."""
    area = draw.map(actor, "droppable")
    if draw.rng.random() < 0.4:
        draw.add("write", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.5:
        draw.add("hold", actor, to=draw.piece(area.where).address)
    draw.rng.choice((_reclaim_all, _page_out))(draw, actor, area)
    if draw.rng.random() < 0.3:
        draw.add("drop", actor)
        draw.add("reclaim")


def _walk(draw: Draw, actor: int, area: Area) -> None:
    """The reverse mapping of some pages, in use."""
    some = draw.part(area.where)
    draw.add("idle", actor, range=some)
    draw.add("look", actor, range=some)


def _merge_moved(draw: Draw, actor: int, area: Area) -> None:
    """Merged where the page index is not that of the address, maybe shared, and then walked."""
    draw.add("same", actor, range=draw.piece(area.where), number=1)
    draw.add("advise", actor, range=area.where, word="mergeable")
    _move_whole(draw, actor, area)
    moved = draw.areas[actor][-1]
    if draw.rng.random() < 0.3:
        draw.fork(actor)
    draw.add("ksm", number=draw.rng.choice(PASSES))
    for _ in range(draw.rng.choice((0, 0, 0, 1, 2))):
        draw.fork(actor)
    draw.rng.choice((_reclaim_all, _walk))(draw, actor, moved)


def _merge_onto(draw: Draw, actor: int, _area: Area) -> None:
    """Merged, and moved in the swap cache to where another place of the same page has been."""
    rng, area = draw.rng, draw.map(actor, draw.rng.choice(["anon", "anon", "file"]))
    where = replace(area.where, count=min(4, area.where.count))
    one, other = (replace(where, page=rng.randrange(where.page, where.end), count=1) for _ in "12")
    _merge(draw, actor, where, where)
    draw.add("hold", actor, to=where.address)
    draw.add("reclaim")
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
    rng.choice((_reclaim_all, _walk))(draw, mover, Area(one, area.kind))


def _child_not_mergeable(draw: Draw, actor: int, where: Range, seen: Range) -> int:
    """A child, if there can be one, whose pages `seen` ksmd meets.

    Others are swapped, in a mapping that is not mergeable any more.
    """
    draw.add("advise", actor, range=where, word="unmergeable")
    child = draw.fork(actor)
    child = actor if child is None else child
    draw.add("read", child, range=seen)
    draw.add("ksm", number=2)
    draw.add("reclaim")
    return child


def _merge_again(draw: Draw, actor: int, area: Area) -> None:
    """Merged, passed again, written to, maybe made equal again, passed; with smart scan or not."""
    rng = draw.rng
    if rng.random() < 0.7:
        draw.add("smart", word="on")
    if rng.random() < 0.3:
        area = draw.map(actor, "far")
    where, pair = area.where, rng.random() < 0.4
    if pair:  # nobody else to merge with
        where = replace(where, count=min(2, where.count))
    _merge(draw, actor, where, where)
    some = where if pair or rng.random() < 0.3 else draw.piece(where)
    draw.add("write" if rng.random() < 0.7 else "read", actor, range=some)
    if pair or rng.random() < 0.6:
        draw.add("ksm", number=rng.choice([1, 2, 5, 5, 8]))
    if pair or rng.random() < 0.7:
        draw.add("same", actor, range=some, number=1)
        draw.add("ksm", number=8 if pair else rng.choice([2, 5, 8, 8]))
    rng.choice((_reclaim_all, _walk))(draw, actor, area)


Mixer = Callable[[Draw, int, Range], None]
Action = Callable[[Draw, int, Area], None]
MIXERS: tuple[Mixer, ...] = (
    *(_redirty, _half_forked, _half_forked, _written_by_child, _soft_dirty, _accessed, _wp, _wp),
    *(_protect_some, _protect_some, _swapped, _swapped_some, _holes, _lock_some, _in_swap_cache),
)
ACTIONS: dict[str, tuple[Action, ...]] = {
    "mremap": (_move_whole, _move_whole, _move_some, _move_watched, _move_keep),
    "lazyfree": (
        *(_give_up, _page_out, _reclaim_all, _give_up_held),
        *(_give_up_mixed, _give_up_mixed, _give_up_mixed, _drop),
        *(_give_up_locked, _give_up_torn, _give_up_torn, _give_up_protected, _give_up_huge),
        _two_tables,
    ),
    "swapout": (
        *(_page_out, _page_out, _page_out, _reclaim_all, _reclaim_all, _reclaim_all),
        *(_page_out_pinned, _page_out_cached, _page_out_words, _page_out_crowded, _markers),
        *(_page_out_protected, _page_out_protected),
        *(_two_tables, _two_tables),
    ),
    "ksm": (
        *(_reclaim_all, _walk, _move_whole, _merge_moved, _merge_moved),
        *(_merge_again, _merge_again, _merge_onto, _merge_onto),
    ),
    "mixed": (_move_whole, _page_out, _reclaim_all, _give_up),
}
