# SPDX-License-Identifier: GPL-2.0
"""Recipes for mremap(): a folio moves as a whole, in part, or watched by userfaultfd."""

from __future__ import annotations

from quire.fuzz.generate import mixers
from quire.fuzz.generate.draw import Area, Draw


def whole(draw: Draw, actor: int, area: Area) -> None:
    """Move an area."""
    draw.move(actor, area, area.where)


def some(draw: Draw, actor: int, area: Area) -> None:
    """Move a part of an area."""
    draw.move(actor, area, draw.part(area.where))


def keep(draw: Draw, actor: int, area: Area) -> None:
    """Move the pages and keep the mapping, which shows stale TLB entries."""
    if draw.rng.random() < 0.7:
        draw.add("warm", actor)
    draw.add("move", actor, range=area.where, to=draw.target(area.where), word="keep")


def watched(draw: Draw, actor: int, area: Area) -> None:
    """Move write-protected pages under a userfaultfd that gets move events: the bits go along."""
    draw.add("watch", actor)
    draw.add("wp", actor, range=area.where)
    if draw.rng.random() < 0.7:
        draw.add("unwp", actor, range=draw.piece(area.where))
    if draw.rng.random() < 0.2:
        mixers.swapped_some(draw, actor, area.where)
    draw.move(actor, area, area.where)
