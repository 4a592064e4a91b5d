# SPDX-License-Identifier: GPL-2.0
"""Programs from a seed: large folios on the paths that the series changes.

A program has a theme (mremap, lazyfree, swap-out, KSM, copy-on-write, migration), which weights the
operations.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from quire.fuzz.generate import moves, steps
from quire.fuzz.generate.draw import CROWDS, FOLIO_WEIGHTS, NOWHERE, PASSES, Draw, pick
from quire.fuzz.generate.recipes import recipe
from quire.fuzz.language.program import (
    ACTORS,
    MAX_OPS,
    SLOT_PAGES,
    SWITCH,
    VERBS,
    Op,
    Program,
    check,
)

SHARE_OF_POOL = 0.4  # share of programs that are mutants of the pool's
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
    # Only for the oracle. Stock splits a folio before it moves a second time, so that two sides
    # differ in all that follows.
    "migrate": (3, {"migrate": 14, "compact": 0.5, "offline": 0.3, "dontfork": 2, "dofork": 2,
                    "pin": 1, "hold": 1, "free": 3, "word": 1, "hint": 1}),
}  # fmt: skip


def generate(seed: int, *, migrating: bool = False) -> Program:
    """The program of a seed; if wanted, it may migrate pages."""
    rng = random.Random(seed)
    weights = {name: weight for name, (weight, _) in THEMES.items()}
    if not migrating:
        del weights["migrate"]
    theme = pick(rng, weights)
    draw = Draw(rng, theme, weights={**COMMON, **THEMES[theme][1]}, migrating=migrating)
    draw.set_folio(pick(rng, FOLIO_WEIGHTS))
    draw.map(0, None if rng.random() < 0.25 else "anon")
    if theme == "ksm":
        moves.merge_some(draw, 0, draw.area(0))
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


def _protect(draw: Draw, actor: int) -> None:
    word = pick(draw.rng, {"rw": 4, "r": 4, "none": 1})
    draw.add("protect", actor, range=draw.part(draw.area(actor).where), word=word)


def _resize(draw: Draw, actor: int) -> None:
    where = draw.area(actor).where
    number = max(1, min(SLOT_PAGES - where.page, where.count + draw.rng.randint(-20, 20)))
    draw.add("resize", actor, range=where, number=number)


# Operations that are more than a verb with pages, numbers and words drawn for it.
SPECIAL: dict[str, Callable[[Draw, int], object]] = {
    "map": Draw.map,
    "fork": Draw.fork,
    "exit": Draw.exit,
    "move": lambda draw, actor: moves.move_some(draw, actor, draw.area(actor)),
    "protect": _protect,
    "resize": _resize,
    "word": lambda draw, actor: draw.word(actor, draw.part(draw.area(actor).where)),
    "folio": lambda draw, _actor: draw.set_folio(pick(draw.rng, FOLIO_WEIGHTS)),
    "merge": lambda draw, actor: moves.merge_some(draw, actor, draw.area(actor)),
    "recipe": recipe,
}
NUMBERS: dict[str, int | tuple[int, ...]] = {
    "same": (1, 1, 1, 2, 3), "clear-refs": (1, 4, 4), "migrate": (0, 1, 1), "khugepaged": 1,
    "crowd": (*CROWDS, 0), "ksm": PASSES,
}  # fmt: skip


def step(draw: Draw) -> None:
    """One more operation, or a recipe."""
    actor = draw.someone()
    name = pick(draw.rng, draw.weights)
    if name in SPECIAL:
        SPECIAL[name](draw, actor)
    elif name in VERBS:
        word = SWITCH if VERBS[name].words == SWITCH else ""
        area = draw.area(actor) if VERBS[name].on_pages else NOWHERE
        steps.op(name, steps.part, number=NUMBERS.get(name, 0), word=word)(draw, actor, area)
    else:
        steps.advise(name, steps.part)(draw, actor, draw.area(actor))


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
