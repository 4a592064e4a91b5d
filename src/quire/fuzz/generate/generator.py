# SPDX-License-Identifier: GPL-2.0
"""Programs from a seed: large folios on the paths that the series changes.

A program has a theme (mremap, lazyfree, swap-out, KSM, copy-on-write, migration), which weights the
operations.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from quire.fuzz.generate import ksm
from quire.fuzz.generate.draw import CROWDS, FOLIO_WEIGHTS, PASSES, Draw, pick
from quire.fuzz.generate.recipes import recipe
from quire.fuzz.language.program import ACTORS, MAX_OPS, SLOT_PAGES, Op, Program, check

# Share of programs that are mutants of the pool's.
SHARE_OF_POOL = 0.4
# Share of operations with a fault, and the number of the allocation that fails.
SHARE_FAULTY = 0.15
NTH = (1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 20, 40)
MIN_OPS, LONGEST = 3, 14

# The weight of each operation, and the weights by which a theme replaces some.
COMMON = {
    "write": 8.0, "read": 2.0, "fork": 3.0, "exit": 1.0, "protect": 2.5, "unmap": 1.5, "map": 1.0,
    "move": 2.5, "resize": 0.3, "clear-refs": 1.5, "wp": 1.5, "unwp": 0.7, "watch": 0.2,
    "unwatch": 0.2, "lock": 0.5, "unlock": 0.4, "hold": 0.6, "drop": 0.5, "warm": 0.2, "split": 0.5,
    "pin": 0.3, "crowd": 0.05, "word": 0.3, "rwp": 0.5, "unrwp": 0.4, "khugepaged": 0.1,
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
    "ksm": (1.5, {"same": 10, "ksm": 8, "mergeable": 5, "unmergeable": 1.5, "smart": 0.3,
                  "reclaim": 5, "idle": 2, "look": 2, "move": 4, "merge": 4}),
    "cow": (1, {"fork": 6, "exit": 3, "write": 12}),
    "mixed": (1, {}),
}  # fmt: skip
# Only for the oracle. Stock splits a folio before it moves a second time, so that two sides differ
# in all that follows.
MIGRATING: dict[str, tuple[float, dict[str, float]]] = {
    "migrate": (3, {"migrate": 14, "compact": 0.5, "offline": 0.3, "dontfork": 2, "dofork": 2,
                    "pin": 1, "hold": 1, "free": 3, "word": 1, "hint": 1}),
}  # fmt: skip


def generate(seed: int, *, migrating: bool = False) -> Program:
    """The program of a seed; if wanted, it may migrate pages."""
    rng = random.Random(seed)
    themes = {**THEMES, **MIGRATING} if migrating else THEMES
    theme = pick(rng, {name: weight for name, (weight, _) in themes.items()})
    draw = Draw(rng, theme, weights={**COMMON, **themes[theme][1]}, migrating=migrating)
    draw.set_folio(pick(rng, FOLIO_WEIGHTS))
    draw.map(0, None if rng.random() < 0.25 else "anon")
    if theme == "ksm":
        ksm.merge_some(draw, 0, draw.area(0).where)
    for _ in range(rng.randint(MIN_OPS, LONGEST)):
        step(draw)
    return tuple(draw.ops[:MAX_OPS])


def following(seed: int, pool: Sequence[Program], *, migrating: bool = False) -> Program:
    """The program of a seed, or often a mutant of the pool: programs that reached new code."""
    rng = random.Random(f"{seed} from the pool")
    if pool and rng.random() < SHARE_OF_POOL:
        return mutate(rng, rng.choice(pool), rng.choice(pool))
    return generate(seed, migrating=migrating)


def with_faults(seed: int, program: Program) -> Program:
    """The same program, with an allocation that fails in some of its operations."""
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
    """A mutant of this program, maybe with operations of `other`."""
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
    """The operation on other pages, or by another process."""
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


# Operations that take only a range.
RANGED = frozenset("write read unmap wp unwp rwp unrwp unwatch lock unlock split idle look".split())


def _move(draw: Draw, actor: int) -> None:
    area = draw.area(actor)
    draw.move(actor, area, draw.part(area.where))


def _protect(draw: Draw, actor: int) -> None:
    word = pick(draw.rng, {"rw": 4, "r": 4, "none": 1})
    draw.add("protect", actor, range=draw.part(draw.area(actor).where), word=word)


def _resize(draw: Draw, actor: int) -> None:
    where = draw.area(actor).where
    number = max(1, min(SLOT_PAGES - where.page, where.count + draw.rng.randint(-20, 20)))
    draw.add("resize", actor, range=where, number=number)


def _refer(verb: str) -> Callable[[Draw, int], None]:
    return lambda draw, actor: draw.add(verb, actor, to=draw.part(draw.area(actor).where).address)


def _word(draw: Draw, actor: int) -> None:
    draw.word(actor, draw.part(draw.area(actor).where))


def _crowd(draw: Draw, actor: int) -> None:
    draw.add("crowd", actor, number=draw.rng.choice([*CROWDS, 0]))


def _folio(draw: Draw, _actor: int) -> None:
    draw.set_folio(pick(draw.rng, FOLIO_WEIGHTS))


def _same(draw: Draw, actor: int) -> None:
    where = draw.part(draw.area(actor).where)
    draw.add("same", actor, range=where, number=draw.rng.choice([1, 1, 1, 2, 3]))


def _clear_refs(draw: Draw, actor: int) -> None:
    draw.add("clear-refs", actor, number=draw.rng.choice([1, 4, 4]))


def _migrate(draw: Draw, actor: int) -> None:
    where = draw.part(draw.area(actor).where)
    draw.add("migrate", actor, range=where, number=draw.rng.choice([0, 1, 1]))


def _switch(verb: str) -> Callable[[Draw, int], None]:
    return lambda draw, _actor: draw.add(verb, word=draw.rng.choice(["on", "off"]))


STEPS: dict[str, Callable[[Draw, int], object]] = {
    "map": Draw.map,
    "fork": Draw.fork,
    "exit": Draw.exit,
    "move": _move,
    "protect": _protect,
    "resize": _resize,
    "hold": _refer("hold"),
    "pin": _refer("pin"),
    "word": _word,
    "crowd": _crowd,
    "folio": _folio,
    "same": _same,
    "clear-refs": _clear_refs,
    "swap": _switch("swap"),
    "smart": _switch("smart"),
    "merge": lambda draw, actor: ksm.merge_some(draw, actor, draw.area(actor).where),
    "drop": lambda draw, actor: draw.add("drop", actor),
    "warm": lambda draw, actor: draw.add("warm", actor),
    "watch": lambda draw, actor: draw.add("watch", actor),
    "reclaim": lambda draw, _actor: draw.add("reclaim"),
    "compact": lambda draw, _actor: draw.add("compact"),
    "khugepaged": lambda draw, _actor: draw.add("khugepaged", number=1),
    "migrate": _migrate,
    "hint": lambda draw, actor: draw.add("hint", actor),
    "offline": _refer("offline"),
    "recipe": recipe,
    "ksm": lambda draw, _actor: draw.add("ksm", number=draw.rng.choice(PASSES)),
}
