# SPDX-License-Identifier: GPL-2.0
"""What reclaim and reverse walks do to a folio: the last step of many recipes."""

from __future__ import annotations

from dataclasses import replace

from quire.fuzz.generate.draw import PLACES, Area, Draw
from quire.fuzz.language.program import LOW, Range


def page_out(draw: Draw, actor: int, area: Area) -> None:
    """Page out one area by MADV_PAGEOUT."""
    if draw.rng.random() < 0.12:
        draw.add("warm", actor)
    draw.add("advise", actor, range=area.where, word="pageout")


def everything(draw: Draw, actor: int, _area: Area) -> None:
    """Reclaim all memory of all processes, maybe after the accessed bits were cleared."""
    if draw.rng.random() < 0.5:
        draw.add("clear-refs", actor, number=1)
    draw.add("reclaim")


def walk(draw: Draw, actor: int, area: Area) -> None:
    """Walk the reverse mapping of some pages, twice."""
    some = draw.part(area.where)
    draw.add("idle", actor, range=some)
    draw.add("look", actor, range=some)


def two_tables(draw: Draw, actor: int, _area: Area) -> None:
    """Move half a folio to the end of a page table, and the rest to the start of a child's.

    The child's table is allocated right after. If the two are neighbours in memory, a walk past
    the end of the first table finds the rest of the folio. If the rest is at a low address, so does
    a walk that begins where the folio would.
    """
    rng = draw.rng
    if not draw.unborn:
        return
    half, child = 8, draw.unborn[0]
    slots, far = rng.sample(PLACES, 3), rng.random() < 0.6
    whole = Range(slots[0], 0, 2 * half)
    low, high = replace(whole, count=half), replace(whole, page=half, count=half)
    end, start = Range(slots[1], 512 - half), Range(slots[2], 512) if far else Range(LOW, 0)
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
