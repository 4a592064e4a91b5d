# SPDX-License-Identifier: GPL-2.0
"""Recipes: short sequences that single random operations would rarely produce.

First a mixer makes pages of one folio differ in what a batch must not mix up, often twice. Then an
action, chosen by the program's theme, treats the folio as a whole. A recipe that needs pages in a
known state begins with a new mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from quire.fuzz.generate import (
    collapse,
    cow,
    ksm,
    lazyfree,
    migrate,
    mixers,
    moves,
    reclaim,
    swapout,
)
from quire.fuzz.generate.draw import Area, Draw
from quire.fuzz.language.program import Range

T = TypeVar("T")
Mixer = Callable[[Draw, int, Range], None]
Action = Callable[[Draw, int, Area], None]
# How often each is drawn, compared with the others of its table.
MIXERS: dict[Mixer, int] = {
    mixers.redirty: 1,
    mixers.half_forked: 2,
    mixers.written_by_child: 1,
    mixers.soft_dirty: 1,
    mixers.accessed: 1,
    mixers.write_protect: 2,
    mixers.trap: 1,
    mixers.protect_some: 2,
    mixers.swapped: 1,
    mixers.swapped_some: 1,
    mixers.holes: 1,
    mixers.lock_some: 1,
    mixers.in_swap_cache: 1,
}
ACTIONS: dict[str, dict[Action, int]] = {
    "mremap": {
        moves.whole: 2,
        moves.some: 1,
        moves.watched: 1,
        moves.keep: 1,
        moves.low: 1,
        moves.tracked: 3,
    },
    "lazyfree": {
        lazyfree.give_up: 1,
        reclaim.page_out: 1,
        reclaim.everything: 1,
        lazyfree.held: 1,
        lazyfree.refilled: 2,
        lazyfree.mixed: 3,
        lazyfree.droppable: 1,
        lazyfree.locked: 1,
        lazyfree.torn: 2,
        lazyfree.protected: 1,
        lazyfree.huge: 1,
        lazyfree.by_child: 2,
        collapse.given_up: 2,
        reclaim.two_tables: 1,
    },
    "swapout": {
        reclaim.page_out: 3,
        reclaim.everything: 3,
        swapout.pinned: 1,
        swapout.cached: 1,
        swapout.words: 1,
        swapout.crowded: 1,
        swapout.markers: 1,
        swapout.protected: 2,
        collapse.paged_out: 1,
        moves.low: 1,
        reclaim.two_tables: 2,
    },
    "ksm": {
        reclaim.everything: 1,
        reclaim.walk: 1,
        moves.whole: 1,
        ksm.moved: 2,
        ksm.again: 2,
        ksm.onto: 2,
        ksm.apart: 2,
    },
    "migrate": {
        migrate.away: 3,
        migrate.and_back: 4,
        migrate.pinned: 2,
        migrate.compacted: 1,
        migrate.emptied: 1,
        migrate.hinted: 2,
        moves.low: 1,
        reclaim.two_tables: 1,
    },
    "cow": {
        cow.after_a_fork: 4,
        lazyfree.by_child: 1,
        reclaim.everything: 1,
    },
    "mixed": {
        moves.whole: 1,
        reclaim.page_out: 1,
        reclaim.everything: 1,
        lazyfree.give_up: 1,
        lazyfree.refilled: 2,
        lazyfree.by_child: 1,
        collapse.given_up: 1,
        moves.low: 1,
        moves.tracked: 1,
        cow.after_a_fork: 1,
    },
}


def recipe(draw: Draw, actor: int) -> None:
    """Some mixers and most often an action, all on one area; often on a new one."""
    area = draw.map(actor, "anon") if draw.rng.random() < 0.25 else draw.area(actor)
    for _ in range(draw.rng.choice([1, 1, 1, 2, 2, 3])):
        _one_of(draw, MIXERS)(draw, actor, area.where)
    # The mixers may have ended the process.
    if draw.rng.random() < 0.85 and actor in draw.areas:
        if draw.rng.random() < 0.15:
            draw.add("warm", actor)
        theme = draw.theme if draw.rng.random() < 0.8 else draw.rng.choice(_themes(draw))
        _one_of(draw, ACTIONS[theme])(draw, actor, area)


def _themes(draw: Draw) -> list[str]:
    return [name for name in ACTIONS if name != "migrate" or draw.migrating]


def _one_of(draw: Draw, table: Mapping[T, int]) -> T:
    return draw.rng.choice([step for step, times in table.items() for _ in range(times)])
