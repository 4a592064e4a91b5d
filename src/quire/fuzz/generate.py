# SPDX-License-Identifier: GPL-2.0
"""Programs from a seed: large folios that meet what the series change.

A program has a theme (mremap, lazyfree, swap-out, KSM), which says how often each operation comes.
Recipes are short idioms that no draw of single operations would hit often enough: they make pages
of one folio differ in what a batch must not mix up.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from quire.fuzz.program import (
    ACTORS,
    MAX_OPS,
    PAGE_WORDS,
    SLOT_PAGES,
    SLOTS,
    Op,
    Program,
    Range,
    check,
)

SHARE_OF_POOL = 0.4
# Of operations that are to meet a fault, and at which of their allocations.
SHARE_FAULTY = 0.15
NTH = (1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 20, 40)
MIN_OPS, LONGEST = 3, 14

# How often an operation comes: everywhere, and by theme in place of that.
COMMON = {
    "write": 8.0, "read": 2.0, "fork": 3.0, "exit": 1.0, "protect": 2.5, "unmap": 1.5, "map": 1.0,
    "move": 2.5, "resize": 0.3, "clear-refs": 1.5, "wp": 1.5, "unwp": 0.7, "watch": 0.2,
    "unwatch": 0.2, "lock": 0.5, "unlock": 0.4, "hold": 0.6, "drop": 0.5, "warm": 0.2, "split": 0.5,
    "pin": 0.3, "crowd": 0.05, "word": 0.3,
    "folio": 0.7, "swap": 0.3, "reclaim": 2.0, "idle": 0.6, "look": 0.6, "same": 0.4, "ksm": 0.1,
    "free": 1.5, "pageout": 3.0, "cold": 0.6, "dontneed": 1.0, "dontfork": 1.0, "dofork": 1.0,
    "mergeable": 0.1, "collapse": 0.7, "populate-read": 0.5, "populate-write": 0.5,
    "willneed": 0.4, "wipeonfork": 0.2, "keeponfork": 0.1, "hugepage": 0.2, "nohugepage": 0.2,
    "recipe": 9.0,
}  # fmt: skip
THEMES: dict[str, tuple[float, dict[str, float]]] = {
    "mremap": (3, {"move": 12, "wp": 3, "watch": 0.8, "free": 2}),
    "lazyfree": (3, {"free": 8, "pageout": 6, "reclaim": 5, "hold": 0.3}),
    "swapout": (4, {"pageout": 10, "reclaim": 6, "read": 4, "dontfork": 2, "dofork": 2,
                    "crowd": 0.15, "word": 1, "pin": 1}),
    "ksm": (1.5, {"same": 10, "ksm": 8, "mergeable": 5, "unmergeable": 1, "smart": 0.3,
                  "reclaim": 5, "idle": 2, "look": 2, "move": 4, "merge": 4}),
    "mixed": (1, {}),
}  # fmt: skip
FOLIO_WEIGHTS = {4: 1, 16: 3, 32: 2, 64: 8, 128: 2, 256: 1, 512: 0.5, 1024: 0.3, 2048: 1}
# Of ksmd: a page that was written to since it was merged needs up to four to be merged again.
PASSES = (2, 4, 4, 5, 8)
MAPPING_WEIGHTS = {
    "anon": 20, "file": 1.5, "shared": 1.5, "shfile": 1.5, "far": 0.5, "droppable": 1,
}  # fmt: skip
# Around groups of words that are looked at together, and anywhere.
WORDS = (0, 1, 8, 31, 32, 64, 255, 256, 448, 480, 510, 511)
# More sharers than a byte of the swap map counts, and a few.
CROWDS = (2, 65, 65)


@dataclass
class Area:
    """Pages that a process has mapped, as far as the generator knows."""

    where: Range
    kind: str


@dataclass
class Draw:
    """A program in the making."""

    rng: random.Random
    theme: str = "mixed"
    folio: int = 64
    ops: list[Op] = field(default_factory=list)
    areas: dict[int, list[Area]] = field(default_factory=lambda: {0: []})
    weights: dict[str, float] = field(default_factory=dict)

    @property
    def folio_pages(self) -> int:
        """Of the wanted folios."""
        return max(self.folio // 4, 1)

    def add(self, verb: str, actor: int | None = None, **rest: object) -> None:
        """Append an operation."""
        self.ops.append(check(Op(verb, actor, **rest)))  # type: ignore[arg-type]

    def someone(self) -> int:
        """A process that lives, most often the first."""
        alive = sorted(self.areas)
        return 0 if 0 in alive and self.rng.random() < 0.55 else self.rng.choice(alive)

    def area(self, actor: int) -> Area:
        """One of a process's areas; a new one if it has none."""
        if not self.areas[actor]:
            self.map(actor)
        return self.rng.choice(self.areas[actor])

    def part(self, where: Range) -> Range:
        """All of an area, some of its folios, some pages, or a single page."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.4 or where.count == 1:
            return where
        if kind < 0.6 and where.count > self.folio_pages:
            folios = where.count // self.folio_pages
            first = rng.randrange(folios)
            count = rng.randint(1, folios - first) * self.folio_pages
            return replace(where, page=where.page + first * self.folio_pages, count=count)
        first = rng.randrange(where.count)
        longest = 1 if kind < 0.8 else where.count - first
        return replace(where, page=where.page + first, count=rng.randint(1, longest))

    def piece(self, where: Range) -> Range:
        """Some pages of one folio of an area, mostly from its start or up to its end."""
        rng, size = self.rng, min(self.folio_pages, where.count)
        if size < 2 or rng.random() < 0.15:
            return self.part(where)
        first = where.page + rng.randrange(where.count // size) * size
        half, some = size // 2, rng.randrange(1, size)
        start, count = rng.choice(
            [
                *((0, 1), (0, half), (0, size - 1), (0, some), (0, some), (some, size - some)),
                *((size - 1, 1), (half, size - half), (1, size - 1), (some, 1)),
            ]
        )
        return replace(where, page=first + start, count=count)

    def map(self, actor: int, kind: str | None = None) -> Area:
        """A new mapping: mostly whole folios, sometimes across the end of a page table."""
        rng, pages = self.rng, self.folio_pages
        kind = kind or pick(rng, MAPPING_WEIGHTS)
        if self.theme == "ksm" and rng.random() < 0.3:
            kind = rng.choice(["file", "file", "far"])
        most = max(1, min(4, 96 // pages))
        count = pages * rng.randint(1, most) if pages > 1 else rng.randint(1, 24)
        page = rng.choice([0, 0, 0, 512 - pages, 512 - count // 2, 3, 512])
        page = max(0, min(page, SLOT_PAGES - count))
        where = Range(rng.choice(SLOTS), page, count)
        self.add("map", actor, range=where, word=kind)
        area = Area(where, kind)
        self.areas[actor].append(area)
        if rng.random() < 0.85:
            self.add("write", actor, range=where)
        return area


def pick(rng: random.Random, weights: dict[str, float]) -> str:
    """A key, as often as its weight says."""
    return rng.choices(list(weights), list(weights.values()))[0]


def generate(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    theme = pick(rng, {name: weight for name, (weight, _) in THEMES.items()})
    draw = Draw(rng, theme, weights={**COMMON, **THEMES[theme][1]})
    draw.folio = rng.choices(list(FOLIO_WEIGHTS), list(FOLIO_WEIGHTS.values()))[0]
    draw.add("folio", number=draw.folio)
    draw.map(0, None if rng.random() < 0.25 else "anon")
    if theme == "ksm":
        _merged(draw, 0, draw.area(0).where)
    for _ in range(rng.randint(MIN_OPS, LONGEST)):
        step(draw)
    return tuple(draw.ops[:MAX_OPS])


def following(seed: int, pool: Sequence[Program]) -> Program:
    """The program of a seed, or, where some have reached new code, often one near those."""
    rng = random.Random(f"{seed} from the pool")
    if pool and rng.random() < SHARE_OF_POOL:
        return mutate(rng, rng.choice(pool), rng.choice(pool))
    return generate(seed)


def with_faults(seed: int, program: Program) -> Program:
    """The same with allocations that fail, in some of its operations."""
    rng = random.Random(f"{seed} faults")
    ops: list[Op] = []
    for op in program:
        if op.actor is not None and op.verb not in ("warm", "exit") and rng.random() < SHARE_FAULTY:
            ops.append(check(Op("fail", op.actor, number=rng.choice(NTH))))
        ops.append(op)
    return tuple(ops[:MAX_OPS])


def step(draw: Draw) -> None:
    """One more operation, or a recipe."""
    actor = draw.someone()
    name = pick(draw.rng, draw.weights)
    if name in STEPS:
        STEPS[name](draw, actor)
    elif name in RANGED:
        draw.add(name, actor, range=draw.part(draw.area(actor).where))
    else:
        draw.add("advise", actor, range=draw.part(draw.area(actor).where), word=name)


def mutate(rng: random.Random, program: Program, other: Program) -> Program:
    """A program near this one; `other` lends its operations."""
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
    """The same operation on other pages, or by another process."""
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


# Operations that take a range and nothing else.
RANGED = frozenset("write read unmap wp unwp unwatch lock unlock split idle look".split())


def _map(draw: Draw, actor: int) -> None:
    draw.map(actor)


def _fork(draw: Draw, actor: int) -> None:
    free = [n for n in range(ACTORS) if n not in draw.areas]
    if free:
        draw.add("fork", actor, number=free[0])
        draw.areas[free[0]] = list(draw.areas[actor])


def _exit(draw: Draw, actor: int) -> None:
    if len(draw.areas) > 1:
        draw.add("exit", actor)
        del draw.areas[actor]


def _move(draw: Draw, actor: int) -> None:
    area = draw.area(actor)
    _move_part(draw, actor, area, draw.part(area.where))


def _move_part(draw: Draw, actor: int, area: Area, what: Range) -> None:
    """Somewhere else; of the whole area, nothing is left behind then, as far as we know."""
    to = _target(draw, what)
    keep = area.kind == "anon" and draw.rng.random() < 0.12
    draw.add("move", actor, range=what, to=to, word="keep" if keep else "move")
    if what == area.where and not keep:
        draw.areas[actor] = [other for other in draw.areas[actor] if other is not area]
    draw.areas[actor].append(Area(replace(what, slot=to.slot, page=to.page), area.kind))


def _protect(draw: Draw, actor: int) -> None:
    word = pick(draw.rng, {"rw": 4, "r": 4, "none": 1})
    draw.add("protect", actor, range=draw.part(draw.area(actor).where), word=word)


def _resize(draw: Draw, actor: int) -> None:
    where = draw.area(actor).where
    number = max(1, min(SLOT_PAGES - where.page, where.count + draw.rng.randint(-20, 20)))
    draw.add("resize", actor, range=where, number=number)


def _hold(draw: Draw, actor: int) -> None:
    where = draw.part(draw.area(actor).where)
    draw.add("hold", actor, to=Range(where.slot, where.page))


def _pin(draw: Draw, actor: int) -> None:
    where = draw.part(draw.area(actor).where)
    draw.add("pin", actor, to=Range(where.slot, where.page))


def _word(draw: Draw, actor: int) -> None:
    _write_word(draw, actor, draw.part(draw.area(actor).where))


def _write_word(draw: Draw, actor: int, where: Range) -> None:
    number = draw.rng.choice([draw.rng.choice(WORDS), draw.rng.randrange(PAGE_WORDS)])
    draw.add("word", actor, range=where, number=number)


def _crowd(draw: Draw, actor: int) -> None:
    draw.add("crowd", actor, number=draw.rng.choice([*CROWDS, 0]))


def _folio(draw: Draw, _actor: int) -> None:
    sizes = list(FOLIO_WEIGHTS)
    draw.folio = draw.rng.choices(sizes, list(FOLIO_WEIGHTS.values()))[0]
    draw.add("folio", number=draw.folio)


def _same(draw: Draw, actor: int) -> None:
    where = draw.part(draw.area(actor).where)
    draw.add("same", actor, range=where, number=draw.rng.choice([1, 1, 1, 2, 3]))


def _clear_refs(draw: Draw, actor: int) -> None:
    draw.add("clear-refs", actor, number=draw.rng.choice([1, 4, 4]))


def _switch(verb: str) -> Callable[[Draw, int], None]:
    return lambda draw, _actor: draw.add(verb, word=draw.rng.choice(["on", "off"]))


STEPS: dict[str, Callable[[Draw, int], None]] = {
    "map": _map,
    "fork": _fork,
    "exit": _exit,
    "move": _move,
    "protect": _protect,
    "resize": _resize,
    "hold": _hold,
    "pin": _pin,
    "word": _word,
    "crowd": _crowd,
    "folio": _folio,
    "same": _same,
    "clear-refs": _clear_refs,
    "swap": _switch("swap"),
    "smart": _switch("smart"),
    "merge": lambda draw, actor: _merged(draw, actor, draw.area(actor).where),
    "drop": lambda draw, actor: draw.add("drop", actor),
    "warm": lambda draw, actor: draw.add("warm", actor),
    "watch": lambda draw, actor: draw.add("watch", actor),
    "reclaim": lambda draw, _actor: draw.add("reclaim"),
    "ksm": lambda draw, _actor: draw.add("ksm", number=draw.rng.choice(PASSES)),
}


# Recipes: first something that makes pages of one folio differ (a mixer), often two of them, then
# something that takes the folio as a whole (an action, by the program's theme).


def _recipe(draw: Draw, actor: int) -> None:
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
        some = replace(where, count=max(1, min(where.count, draw.folio_pages) // 2))
    draw.add("advise", actor, range=some, word="dontfork")
    _fork(draw, actor)
    draw.add("advise", actor, range=some, word="dofork")


def _written_by_child(draw: Draw, actor: int, where: Range) -> None:
    """A child copies some pages of a folio, and may be gone afterwards."""
    before = set(draw.areas)
    _fork(draw, actor)
    for child in set(draw.areas) - before:
        draw.add("write", child, range=draw.piece(where))
        if draw.rng.random() < 0.4:
            _exit(draw, child)


def _soft_dirty(draw: Draw, actor: int, where: Range) -> None:
    """Soft-dirty is cleared everywhere and set again on some pages."""
    draw.add("clear-refs", actor, number=4)
    draw.add("write", actor, range=draw.piece(where))


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


def _merged(draw: Draw, actor: int, where: Range) -> None:
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


def _in_swap_cache(draw: Draw, actor: int, where: Range) -> None:
    """A reference keeps a folio in the swap cache, from where all or some pages come back."""
    draw.add("hold", actor, to=Range(where.slot, draw.piece(where).page))
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
    _move_part(draw, actor, area, area.where)


def _move_some(draw: Draw, actor: int, area: Area) -> None:
    _move_part(draw, actor, area, draw.part(area.where))


def _move_keep(draw: Draw, actor: int, area: Area) -> None:
    """The mapping stays behind, empty: what the TLB still knows of its pages shows."""
    if draw.rng.random() < 0.7:
        draw.add("warm", actor)
    draw.add("move", actor, range=area.where, to=_target(draw, area.where), word="keep")


def _target(draw: Draw, what: Range) -> Range:
    """A place with the same offset in a folio, or another."""
    rng = draw.rng
    shift = rng.choice([0, 0, 0, 16, 1, -1, 3, 512, rng.randint(-64, 64)])
    return Range(rng.choice(SLOTS), max(0, min(SLOT_PAGES - what.count, what.page + shift)))


def _move_watched(draw: Draw, actor: int, area: Area) -> None:
    """Write-protected in part by a userfaultfd that is told of moves: the bits go along."""
    draw.add("watch", actor)
    draw.add("wp", actor, range=area.where)
    if draw.rng.random() < 0.7:
        draw.add("unwp", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.2:
        _swapped_some(draw, actor, area.where)
    _move_part(draw, actor, area, area.where)


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
    draw.add("pin", actor, to=Range(area.where.slot, draw.piece(area.where).page))
    draw.rng.choice((_page_out, _reclaim_all, _reclaim_all))(draw, actor, area)


def _page_out_crowded(draw: Draw, actor: int, area: Area) -> None:
    """Shared by so many that their swap entries need more than a count in the map."""
    if draw.rng.random() < 0.5:
        draw.rng.choice((_swapped_some, _written_by_child))(draw, actor, area.where)
    draw.add("crowd", actor, number=draw.rng.choice(CROWDS))
    draw.add("reclaim")
    if draw.rng.random() < 0.5:
        draw.add("read", actor, range=draw.piece(area.where))
        draw.add("reclaim")
    draw.add("crowd", actor, number=0)


def _page_out_words(draw: Draw, actor: int, area: Area) -> None:
    """Pages that are zero but for a word, or all zero."""
    draw.add("advise", actor, range=area.where, word="dontneed")
    _write_word(draw, actor, area.where if draw.rng.random() < 0.5 else draw.piece(area.where))
    _page_out(draw, actor, area)


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
    draw.add("hold", actor, to=Range(area.where.slot, draw.part(area.where).page))
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
        draw.add("hold", actor, to=Range(where.slot, draw.piece(where).page))
    draw.rng.choice((_reclaim_all, _reclaim_all, _page_out))(draw, actor, area)


def _give_up_locked(draw: Draw, actor: int, area: Area) -> None:
    """Given up, and some pages locked where nothing may be written: mlock() leaves them clean."""
    where = area.where
    draw.add("advise", actor, range=where, word="free")
    draw.add("protect", actor, range=where, word="r")
    draw.add("lock", actor, range=draw.piece(where))
    draw.rng.choice((_reclaim_all, _page_out))(draw, actor, area)


def _two_tables(draw: Draw, actor: int, _area: Area) -> None:
    """Half a folio at the end of a table, the rest in a child's next one, made right after it.

    What goes past the end of the first finds the rest, if the tables are neighbours in memory.
    """
    rng = draw.rng
    children = [n for n in range(ACTORS) if n not in draw.areas]
    if not children:
        return
    half, child = 8, children[0]
    slots = rng.sample(SLOTS, 3)
    whole = Range(slots[0], 0, 2 * half)
    low, high = replace(whole, count=half), replace(whole, page=half, count=half)
    end, start = Range(slots[1], 512 - half), Range(slots[2], 512)
    draw.add("folio", number=64)
    draw.add("map", actor, range=whole, word="anon")
    draw.add("write", actor, range=whole)
    if draw.theme == "lazyfree" or rng.random() < 0.3:
        draw.add("advise", actor, range=whole, word="free")
    draw.add("fork", actor, number=child)
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
        draw.add("hold", actor, to=Range(area.where.slot, draw.piece(area.where).page))
    draw.rng.choice((_reclaim_all, _page_out))(draw, actor, area)


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
        _fork(draw, actor)
    draw.add("ksm", number=draw.rng.choice(PASSES))
    for _ in range(draw.rng.choice((0, 0, 0, 1, 2))):
        _fork(draw, actor)
    draw.rng.choice((_reclaim_all, _walk))(draw, actor, moved)


def _merge_onto(draw: Draw, actor: int, _area: Area) -> None:
    """Merged, and moved in the swap cache to where another place of the same page has been."""
    rng, area = draw.rng, draw.map(actor, draw.rng.choice(["anon", "anon", "file"]))
    where = replace(area.where, count=min(4, area.where.count))
    one, other = (replace(where, page=rng.randrange(where.page, where.end), count=1) for _ in "12")
    _merge(draw, actor, where, where)
    draw.add("hold", actor, to=Range(where.slot, where.page))
    draw.add("reclaim")
    mover = actor
    if rng.random() < 0.6:
        mover = _child_not_mergeable(draw, actor, other, one)
    draw.add("move", mover, range=other, to=Range(one.slot, one.page), word="move")
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
    before = set(draw.areas)
    _fork(draw, actor)
    child = max(set(draw.areas) - before, default=actor)
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
        *(_give_up_locked, _two_tables),
    ),
    "swapout": (
        *(_page_out, _page_out, _page_out, _reclaim_all, _reclaim_all, _reclaim_all),
        *(_page_out_pinned, _page_out_pinned, _page_out_words, _page_out_crowded, _markers),
        _two_tables,
    ),
    "ksm": (
        *(_reclaim_all, _walk, _move_whole, _merge_moved, _merge_moved),
        *(_merge_again, _merge_again, _merge_onto, _merge_onto),
    ),
    "mixed": (_move_whole, _page_out, _reclaim_all, _give_up),
}
STEPS["recipe"] = _recipe
