# SPDX-License-Identifier: GPL-2.0
"""Programs from a seed: large folios on the paths that the series changes.

A program has a theme (mremap, lazyfree, swap-out, KSM, copy-on-write, userfaultfd, migration),
which weights operations and recipes. Recipes are short sequences that random operations would
rarely produce. In a recipe, one or two mixers make pages of a folio differ in state that a batch
must keep apart. Then an action treats the folio as a whole. An action that needs pages in a known
state begins with a new mapping.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from quire.fuzz.generate import combine as st
from quire.fuzz.generate import moves, reclaim
from quire.fuzz.generate.combine import Step
from quire.fuzz.generate.draw import PAGES_PER_TABLE, USUAL, Area, Draw, pick
from quire.fuzz.language.program import MAX_OPS, SLOT_PAGES, Op, Program, Range, check
from quire.fuzz.language.verbs import ACTORS, ADVICE, FOLIO_WEIGHTS, TABLE, VERBS

SHARE_OF_POOL = 0.4  # share of programs that are mutants of the pool
# Share of operations with a failing allocation, and the number of that allocation.
SHARE_FAULTY = 0.15
NTH = (1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 20, 40)
MIN_OPS, LONGEST = 3, 14

# How often each theme is drawn. The weights of operations are in language/verbs.py.
THEMES = {
    "mremap": 3, "lazyfree": 3, "swapout": 4, "ksm": 1.5, "cow": 1, "uffd": 3, "mixed": 1,
    # Only for the oracle. Stock splits a folio before it migrates a second time, so that two sides
    # differ in all that follows.
    "migrate": 3,
}  # fmt: skip
# khugepaged looks only at mappings that fill a page table. Since Linux 7.3 it makes folios of all
# sizes.
SIZES = (16, 32, 64, 64, 64, 256, 2048)


def collapsed(draw: Draw, actor: int) -> Area:
    """Make pages that khugepaged collapses into folios, often while they are read-only."""
    rng, kib = draw.rng, draw.rng.choice(SIZES)
    whole = Range(rng.choice(USUAL), rng.choice((0, 0, PAGES_PER_TABLE)), PAGES_PER_TABLE)
    # khugepaged registers the process if a size is enabled when it maps this.
    draw.set_folio(kib)
    count = min(draw.folio_pages * rng.choice((1, 1, 2)), PAGES_PER_TABLE)
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


# Free a collapsed folio by MADV_FREE, usually in a child while the parent keeps it; or page it out.
collapsed_freed = st.on_new(
    collapsed,
    st.choose(
        reclaim.freed_by_child, reclaim.freed_by_child, reclaim.freed_by_child, reclaim.freed
    ),
)
collapsed_paged_out = st.on_new(collapsed, st.everything_or_page_out)


def shared_collapsed(draw: Draw, actor: int) -> Area:
    """Make shared memory in a huge folio that is mapped by PTEs, then by a PMD."""
    whole = Range(draw.rng.choice(USUAL), draw.rng.choice((0, 0, PAGES_PER_TABLE)), PAGES_PER_TABLE)
    draw.set_folio(4)
    area = draw.put(actor, whole, "shared")
    draw.add("read", actor, range=draw.part(whole))
    # The page table stays, so that PTEs map the next folio.
    draw.add("advise", actor, range=whole, word="remove")
    draw.set_folio(2048)
    st.all_of(st.op("read"), st.op("write", st.part))(draw, actor, area)
    st.maybe(0.2, st.written_by_child)(draw, actor, area)
    st.advise("collapse")(draw, actor, area)
    return area


shared_paged_out = st.on_new(shared_collapsed, st.everything_or_page_out)


def after_a_fork(draw: Draw, actor: int, _area: Area) -> None:
    """Fork, usually let the child exit, then write to one, some or all pages.

    A folio of 2 MiB is mapped by PTEs first.
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


# Weights, relative to the others in the same table.
MIXERS: dict[Step, int] = {
    st.redirty: 1, st.half_forked: 2, st.written_by_child: 1, st.soft_dirty: 1,
    st.accessed: 1, st.write_protect: 2, st.trap: 1, st.protect_some: 2,
    st.swapped: 1, st.swapped_some: 1, st.holes: 1, st.lock_some: 1,
    st.in_swap_cache: 1,
}  # fmt: skip
ACTIONS: dict[str, dict[Step, int]] = {
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
        shared_paged_out: 1,
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
    "uffd": {
        moves.taken: 5, moves.nearby: 2, moves.scanned: 4,
    },
    "mixed": {
        moves.move_all: 1, st.page_out: 1, st.everything: 1, reclaim.freed: 1,
        reclaim.freed_refilled: 2, reclaim.freed_by_child: 1, collapsed_freed: 1, moves.low: 1,
        moves.tracked: 1, after_a_fork: 1,
    },
}  # fmt: skip


def recipe(draw: Draw, actor: int) -> None:
    """Do some mixers and usually an action, all on one area, which is often new."""
    area = draw.map(actor, "anon") if draw.rng.random() < 0.25 else draw.area(actor)
    for _ in range(draw.rng.choice([1, 1, 1, 2, 2, 3])):
        _draw_from(draw, MIXERS)(draw, actor, area)
    if draw.rng.random() < 0.85:
        st.maybe(0.15, st.op("warm"))(draw, actor, area)
        themes = [name for name in ACTIONS if name != "migrate" or draw.migrating]
        theme = draw.theme if draw.rng.random() < 0.8 else draw.rng.choice(themes)
        _draw_from(draw, ACTIONS[theme])(draw, actor, area)


def _draw_from(draw: Draw, table: Mapping[Step, int]) -> Step:
    return draw.rng.choice([step for step, times in table.items() for _ in range(times)])


def weights(theme: str) -> dict[str, float]:
    """Return the weights of operations and recipes for this theme."""
    common = {name: verb.weight for name, verb in TABLE.items() if verb.weight}
    themed = {name: verb.themes[theme] for name, verb in TABLE.items() if theme in verb.themes}
    return {**common, "recipe": 9, **themed, **({"merge": 4} if theme == "ksm" else {})}


def generate(seed: int, *, migrating: bool = False) -> Program:
    """Return the program of a seed; with `migrating`, it may migrate pages."""
    rng = random.Random(seed)
    themes = {name: THEMES[name] for name in THEMES if migrating or name != "migrate"}
    theme = pick(rng, themes)
    draw = Draw(rng, theme, weights=weights(theme), migrating=migrating)
    draw.set_folio(pick(rng, FOLIO_WEIGHTS))
    draw.map(0, None if rng.random() < 0.25 else "anon")
    if theme == "ksm":
        moves.merge_some(draw, 0, draw.area(0))
    for _ in range(rng.randint(MIN_OPS, LONGEST)):
        step(draw)
    return tuple(draw.ops[:MAX_OPS])


def following(seed: int, pool: Sequence[Program], *, migrating: bool = False) -> Program:
    """Return the program of a seed, or often a mutant of a program that reached new code."""
    rng = random.Random(f"{seed} from the pool")
    if pool and rng.random() < SHARE_OF_POOL:
        return mutate(rng, rng.choice(pool), rng.choice(pool))
    return generate(seed, migrating=migrating)


def with_faults(seed: int, program: Program) -> Program:
    """Return the same program with failing allocations in some operations."""
    rng = random.Random(f"{seed} faults")
    ops: list[Op] = []
    for op in program:
        if op.actor is not None and op.verb not in ("warm", "exit") and rng.random() < SHARE_FAULTY:
            ops.append(check(Op("fail", op.actor, number=rng.choice(NTH))))
        ops.append(op)
    return tuple(ops[:MAX_OPS])


def _protect(draw: Draw, actor: int) -> None:
    word = pick(draw.rng, VERBS["protect"].words)
    draw.add("protect", actor, range=draw.part(draw.area(actor).where), word=word)


def _resize(draw: Draw, actor: int) -> None:
    where = draw.area(actor).where
    number = max(1, min(SLOT_PAGES - where.page, where.count + draw.rng.randint(-20, 20)))
    draw.add("resize", actor, range=where, number=number)


# Operations that need more than a verb with random pages, numbers and words.
SPECIAL: dict[str, Callable[[Draw, int], object]] = {
    "map": Draw.map,
    "fork": Draw.fork,
    "exit": Draw.exit,
    "move": lambda draw, actor: moves.move_some(draw, actor, draw.area(actor)),
    "take": lambda draw, actor: moves.take_some(draw, actor, draw.area(actor)),
    "scan": lambda draw, actor: moves.scan_some(draw, actor, draw.area(actor)),
    "protect": _protect,
    "resize": _resize,
    "word": lambda draw, actor: draw.word(actor, draw.part(draw.area(actor).where)),
    "folio": lambda draw, _actor: draw.set_folio(pick(draw.rng, FOLIO_WEIGHTS)),
    "merge": lambda draw, actor: moves.merge_some(draw, actor, draw.area(actor)),
    "recipe": recipe,
}


def step(draw: Draw) -> None:
    """Add an operation, or a recipe."""
    actor = draw.someone()
    name = pick(draw.rng, draw.weights)
    if name in SPECIAL:
        SPECIAL[name](draw, actor)
    elif name.startswith(ADVICE):
        st.advise(name.removeprefix(ADVICE), st.part)(draw, actor, draw.area(actor))
    else:
        verb = VERBS[name]
        area = draw.area(actor) if verb.on_pages else Area(Range("", 0), "")
        word = tuple(verb.words) or ""
        st.op(name, st.part, number=verb.numbers, word=word)(draw, actor, area)


def mutate(rng: random.Random, program: Program, other: Program) -> Program:
    """Return a mutant of this program, which may contain operations of `other`."""
    ops = list(program)
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        at = rng.randrange(len(ops))
        if kind < 0.25 and len(ops) > 3:
            del ops[at]
        elif kind < 0.5:
            ops[at] = _vary(rng, ops[at])
        elif kind < 0.7:
            ops.insert(rng.randrange(len(ops) + 1), ops[at])
        elif kind < 0.85:
            ops.insert(at, rng.choice(other))
        else:
            ops = ops[:at] + list(other[rng.randrange(len(other)) :])
    return tuple(ops[:MAX_OPS]) or program


def _vary(rng: random.Random, op: Op) -> Op:
    """Return the operation with other pages or another process."""
    if op.actor is not None and rng.random() < 0.3:
        return replace(op, actor=rng.randrange(ACTORS))
    if not op.range:
        return op
    longest = max(1, min(op.range.count + 2, 64))
    count = rng.randint(1, longest)
    limit = SLOT_PAGES - count
    page = min(limit, max(0, op.range.page + rng.randint(-3, 3)))
    try:
        return check(replace(op, range=replace(op.range, page=page, count=count)))
    except ValueError:
        return op
