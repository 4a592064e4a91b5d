# SPDX-License-Identifier: GPL-2.0
"""Recipes for pages given up by MADV_FREE, and then changed, held or locked."""

from quire.fuzz.generate import mixers
from quire.fuzz.generate.draw import Area, Draw
from quire.fuzz.generate.steps import (
    FREE,
    PAGE_OUT,
    RECLAIM,
    choose,
    either,
    everything_or_page_out,
    fresh,
    maybe,
    mostly,
    mostly_everything,
    on_new,
    one_page,
    op,
    page_out,
    part,
    piece,
    repeat,
    second_half,
    steps,
    whole,
)

give_up = steps(FREE, page_out)
held = steps(FREE, op("hold", part), page_out)

# Write to given up pages again and take references: only the hardware marked them dirty, for a
# write after MADV_FREE raises no fault.
refilled = on_new(fresh(), FREE, op("write", mostly(0.5, whole, piece)), op("hold hold pin", piece))

# Make given up pages differ, and prevent the drop: reclaim must restore each exactly.
mixed = steps(
    FREE,
    repeat(
        (1, 1, 2),
        choose(mixers.half_forked, mixers.write_protect, mixers.protect_some, mixers.soft_dirty),
    ),
    either(0.75, op("write", piece), op("hold", piece)),
    mostly_everything,
)

# Make a given up range read-only and lock some pages: mlock() leaves them clean.
locked = on_new(
    fresh(),
    FREE,
    op("protect", word="r"),
    op("lock", mostly(0.6, second_half, piece)),
    everything_or_page_out,
)

# Give up a PMD-mapped folio, and most often write to it again.
huge = on_new(fresh(2048), FREE, maybe(0.8, op("write", one_page)), everything_or_page_out)

# Reclaim a droppable mapping, maybe written to again, maybe held.
droppable = on_new(
    lambda draw, actor: draw.map(actor, "droppable"),
    maybe(0.4, op("write", piece)),
    maybe(0.5, op("hold", piece)),
    everything_or_page_out,
    maybe(0.3, op("drop"), RECLAIM),
)


def by_child(draw: Draw, actor: int, area: Area) -> None:
    """Let a child give an area up that it shares with its parent, who keeps it."""
    child = draw.fork(actor)
    if child is None:
        return
    draw.add("advise", child, range=draw.part(area.where), word="free")
    if draw.rng.random() < 0.3:
        draw.exit(child)
    mostly_everything(draw, actor, area)


def _fork_briefly(draw: Draw, actor: int, area: Area) -> None:
    child = mixers.fork_without(draw, actor, mostly(0.4, second_half, piece)(draw, area.where))
    if child is not None:
        draw.exit(child)


# Give pages up, of which a child takes the write permission of some: reclaim drops runs. Unlike
# `reclaim`, MADV_PAGEOUT tries once.
torn = on_new(fresh(), FREE, repeat((1, 1, 2), _fork_briefly), PAGE_OUT)


def protected(draw: Draw, actor: int, _area: Area) -> None:
    """Give up read-only pages whose bits differ, and hold one: reclaim must restore the bits."""
    area = draw.fresh(actor)
    where = area.where
    some = mostly(0.4, second_half, piece)(draw, where)
    watched = draw.rng.random() < 0.5
    if not watched:
        draw.add("clear-refs", actor, number=4)
        draw.add("write", actor, range=some)
    draw.add("advise", actor, range=where, word="free")
    draw.add("protect", actor, range=where, word="r")
    if watched:
        # Under one registered range: the mapping stays whole.
        draw.add("wp", actor, range=where)
        draw.add("unwp", actor, range=some)
    steps(op("hold", piece), everything_or_page_out)(draw, actor, area)
