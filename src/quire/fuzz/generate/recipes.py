# SPDX-License-Identifier: GPL-2.0
"""Recipes: short sequences that single random operations would rarely produce.

First a mixer makes pages of one folio differ in what a batch must not mix up, often twice. Then an
action, chosen by the program's theme, treats the folio as a whole. A recipe that needs pages in a
known state begins with a new mapping.
"""

from collections.abc import Mapping

from quire.fuzz.generate import moves, reclaim
from quire.fuzz.generate import steps as st
from quire.fuzz.generate.draw import PLACES, Area, Draw
from quire.fuzz.language.program import Range

# khugepaged looks only at mappings that fill a page table. Since Linux 7.3 it makes folios of all
# sizes.
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
    st.maybe(0.15, st.half_forked)(draw, actor, area)
    draw.add("khugepaged", number=1)
    if read_only and rng.random() < 0.6:
        draw.add("protect", actor, range=whole, word="rw")
    return area


# Give a collapsed folio up, most often in a child, while the parent keeps it; or page it out.
collapsed_freed = st.on_new(
    collapsed,
    st.choose(
        reclaim.freed_by_child, reclaim.freed_by_child, reclaim.freed_by_child, reclaim.freed
    ),
)
collapsed_paged_out = st.on_new(collapsed, st.everything_or_page_out)


def after_a_fork(draw: Draw, actor: int, _area: Area) -> None:
    """Fork, most often let the child end, then write: single pages, or some, or all of them.

    A folio of 2 MiB is mapped by its entries first.
    """
    rng = draw.rng
    area = draw.fresh(actor, (4, 16, 64, 64, 128, 2048))
    if draw.folio == 2048:
        st.protect_some(draw, actor, area)
    child = draw.fork(actor)
    if child is not None and rng.random() < 0.3:
        draw.add("write", child, range=draw.piece(area.where))
    if child is not None and rng.random() < 0.8:
        draw.exit(child)
    for _ in range(rng.choice((1, 2, 3))):
        some = draw.part(area.where)
        if rng.random() < 0.6:
            some = st.one_page(draw, area.where)
        draw.add("write", actor, range=some)


# How often each is drawn, compared with the others of its table.
MIXERS: dict[st.Step, int] = {
    st.redirty: 1, st.half_forked: 2, st.written_by_child: 1, st.soft_dirty: 1,
    st.accessed: 1, st.write_protect: 2, st.trap: 1, st.protect_some: 2,
    st.swapped: 1, st.swapped_some: 1, st.holes: 1, st.lock_some: 1,
    st.in_swap_cache: 1,
}  # fmt: skip
ACTIONS: dict[str, dict[st.Step, int]] = {
    "mremap": {
        moves.move_all: 2, moves.move_some: 1, moves.watched: 1, moves.keep: 1, moves.low: 1,
        moves.tracked: 3,
    },
    "lazyfree": {
        reclaim.freed: 1, st.page_out: 1, st.everything: 1, reclaim.freed_held: 1,
        reclaim.freed_refilled: 2, reclaim.freed_mixed: 3, reclaim.droppable: 1,
        reclaim.freed_locked: 1, reclaim.freed_torn: 2, reclaim.freed_read_only: 1,
        reclaim.freed_huge: 1, reclaim.freed_by_child: 2, collapsed_freed: 2,
        reclaim.two_tables: 1,
    },
    "swapout": {
        st.page_out: 3, st.everything: 3, reclaim.pinned_in_cache: 1, reclaim.pinned_and_mapped: 1,
        reclaim.zero_but_words: 1, reclaim.crowded: 1, reclaim.markers: 1,
        reclaim.swapped_read_only: 2, collapsed_paged_out: 1, moves.low: 1, reclaim.two_tables: 2,
    },
    "ksm": {
        st.everything: 1, st.walk: 1, moves.move_all: 1, moves.merged_and_moved: 2,
        moves.merged_again: 2, moves.merged_onto: 2, moves.merged_apart: 2,
    },
    "migrate": {
        moves.away: 3, moves.and_back: 4, moves.pinned: 2, st.op("compact"): 1, moves.emptied: 1,
        moves.hinted: 2, moves.low: 1, reclaim.two_tables: 1,
    },
    "cow": {
        after_a_fork: 4, reclaim.freed_by_child: 1, st.everything: 1,
    },
    "mixed": {
        moves.move_all: 1, st.page_out: 1, st.everything: 1, reclaim.freed: 1,
        reclaim.freed_refilled: 2, reclaim.freed_by_child: 1, collapsed_freed: 1, moves.low: 1,
        moves.tracked: 1, after_a_fork: 1,
    },
}  # fmt: skip


def recipe(draw: Draw, actor: int) -> None:
    """Some mixers and most often an action, all on one area; often on a new one."""
    area = draw.map(actor, "anon") if draw.rng.random() < 0.25 else draw.area(actor)
    for _ in range(draw.rng.choice([1, 1, 1, 2, 2, 3])):
        _draw_from(draw, MIXERS)(draw, actor, area)
    if draw.rng.random() < 0.85:
        st.maybe(0.15, st.op("warm"))(draw, actor, area)
        themes = [name for name in ACTIONS if name != "migrate" or draw.migrating]
        theme = draw.theme if draw.rng.random() < 0.8 else draw.rng.choice(themes)
        _draw_from(draw, ACTIONS[theme])(draw, actor, area)


def _draw_from(draw: Draw, table: Mapping[st.Step, int]) -> st.Step:
    return draw.rng.choice([step for step, times in table.items() for _ in range(times)])
