# SPDX-License-Identifier: GPL-2.0
"""Recipes for migration: to the other node, back, and while a page is pinned."""

from __future__ import annotations

from quire.fuzz.generate import mixers
from quire.fuzz.generate.draw import Area, Draw


def away(draw: Draw, actor: int, area: Area) -> None:
    """Move one area to the second node, which is not where its pages come from."""
    draw.add("migrate", actor, range=area.where, number=1)


def and_back(draw: Draw, actor: int, area: Area) -> None:
    """Move one area away; change a part of its folios; move it back."""
    away(draw, actor, area)
    if draw.rng.random() < 0.5:
        mixer = draw.rng.choice((mixers.half_forked, mixers.write_protect, mixers.protect_some))
        mixer(draw, actor, area.where)
    if actor in draw.areas:
        draw.add("migrate", actor, range=area.where, number=0)


def pinned(draw: Draw, actor: int, area: Area) -> None:
    """Pin a page of which the folio is to move: its entries must be put back."""
    if draw.rng.random() < 0.6:
        mixer = draw.rng.choice((mixers.half_forked, mixers.write_protect))
        mixer(draw, actor, area.where)
    if actor not in draw.areas:
        return
    draw.add("pin", actor, to=draw.piece(area.where).address)
    away(draw, actor, area)


def hinted(draw: Draw, actor: int, area: Area) -> None:
    """Give NUMA hints, maybe where the pages are on the other node."""
    if draw.rng.random() < 0.5:
        away(draw, actor, area)
    draw.add("hint", actor)


def compacted(draw: Draw, _actor: int, _area: Area) -> None:
    """Compact all memory."""
    draw.add("compact")


def emptied(draw: Draw, actor: int, area: Area) -> None:
    """Empty the memory of one area, as when it is unplugged; most often nothing is held there."""
    if draw.rng.random() < 0.7:
        draw.add("drop", actor)
    draw.add("offline", actor, to=draw.piece(area.where).address)
