# SPDX-License-Identifier: GPL-2.0
"""Recipes: short sequences that single random operations would rarely produce.

First a mixer makes pages of one folio differ in what a batch must not mix up, often twice. Then an
action, chosen by the program's theme, treats the folio as a whole. A recipe that needs pages in a
known state begins with a new mapping.
"""

from collections.abc import Mapping

from quire.fuzz.generate import ksm, lazyfree, mixers, moves, swapout
from quire.fuzz.generate.draw import PLACES, Area, Draw
from quire.fuzz.generate.steps import (
    Step,
    choose,
    everything,
    everything_or_page_out,
    maybe,
    on_new,
    one_page,
    op,
    page_out,
    walk,
)
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
    maybe(0.15, mixers.half_forked)(draw, actor, area)
    draw.add("khugepaged", number=1)
    if read_only and rng.random() < 0.6:
        draw.add("protect", actor, range=whole, word="rw")
    return area


# Give a collapsed folio up, most often in a child, while the parent keeps it; or page it out.
collapsed_given_up = on_new(
    collapsed, choose(lazyfree.by_child, lazyfree.by_child, lazyfree.by_child, lazyfree.give_up)
)
collapsed_paged_out = on_new(collapsed, everything_or_page_out)


def after_a_fork(draw: Draw, actor: int, _area: Area) -> None:
    """Fork, most often let the child end, then write: single pages, or some, or all of them.

    A folio of 2 MiB is mapped by its entries first.
    """
    rng = draw.rng
    area = draw.fresh(actor, (4, 16, 64, 64, 128, 2048))
    if draw.folio == 2048:
        mixers.protect_some(draw, actor, area)
    child = draw.fork(actor)
    if child is not None and rng.random() < 0.3:
        draw.add("write", child, range=draw.piece(area.where))
    if child is not None and rng.random() < 0.8:
        draw.exit(child)
    for _ in range(rng.choice((1, 2, 3))):
        some = draw.part(area.where)
        if rng.random() < 0.6:
            some = one_page(draw, area.where)
        draw.add("write", actor, range=some)


# How often each is drawn, compared with the others of its table.
MIXERS: dict[Step, int] = {
    mixers.redirty: 1, mixers.half_forked: 2, mixers.written_by_child: 1, mixers.soft_dirty: 1,
    mixers.accessed: 1, mixers.write_protect: 2, mixers.trap: 1, mixers.protect_some: 2,
    mixers.swapped: 1, mixers.swapped_some: 1, mixers.holes: 1, mixers.lock_some: 1,
    mixers.in_swap_cache: 1,
}  # fmt: skip
ACTIONS: dict[str, dict[Step, int]] = {
    "mremap": {
        moves.move_all: 2, moves.move_some: 1, moves.watched: 1, moves.keep: 1, moves.low: 1,
        moves.tracked: 3,
    },
    "lazyfree": {
        lazyfree.give_up: 1, page_out: 1, everything: 1, lazyfree.held: 1, lazyfree.refilled: 2,
        lazyfree.mixed: 3, lazyfree.droppable: 1, lazyfree.locked: 1, lazyfree.torn: 2,
        lazyfree.protected: 1, lazyfree.huge: 1, lazyfree.by_child: 2, collapsed_given_up: 2,
        swapout.two_tables: 1,
    },
    "swapout": {
        page_out: 3, everything: 3, swapout.pinned: 1, swapout.cached: 1, swapout.words: 1,
        swapout.crowded: 1, swapout.markers: 1, swapout.protected: 2, collapsed_paged_out: 1,
        moves.low: 1, swapout.two_tables: 2,
    },
    "ksm": {
        everything: 1, walk: 1, moves.move_all: 1, ksm.moved: 2, ksm.again: 2, ksm.onto: 2,
        ksm.apart: 2,
    },
    "migrate": {
        moves.away: 3, moves.and_back: 4, moves.pinned: 2, op("compact"): 1, moves.emptied: 1,
        moves.hinted: 2, moves.low: 1, swapout.two_tables: 1,
    },
    "cow": {after_a_fork: 4, lazyfree.by_child: 1, everything: 1},
    "mixed": {
        moves.move_all: 1, page_out: 1, everything: 1, lazyfree.give_up: 1, lazyfree.refilled: 2,
        lazyfree.by_child: 1, collapsed_given_up: 1, moves.low: 1, moves.tracked: 1,
        after_a_fork: 1,
    },
}  # fmt: skip


def recipe(draw: Draw, actor: int) -> None:
    """Some mixers and most often an action, all on one area; often on a new one."""
    area = draw.map(actor, "anon") if draw.rng.random() < 0.25 else draw.area(actor)
    for _ in range(draw.rng.choice([1, 1, 1, 2, 2, 3])):
        _draw_from(draw, MIXERS)(draw, actor, area)
    if draw.rng.random() < 0.85:
        maybe(0.15, op("warm"))(draw, actor, area)
        themes = [name for name in ACTIONS if name != "migrate" or draw.migrating]
        theme = draw.theme if draw.rng.random() < 0.8 else draw.rng.choice(themes)
        _draw_from(draw, ACTIONS[theme])(draw, actor, area)


def _draw_from(draw: Draw, table: Mapping[Step, int]) -> Step:
    return draw.rng.choice([step for step, times in table.items() for _ in range(times)])
