# SPDX-License-Identifier: GPL-2.0
"""Recipes for copy-on-write: what a process writes after a fork, often to few pages of a folio."""

from __future__ import annotations

from dataclasses import replace

from quire.fuzz.generate import mixers
from quire.fuzz.generate.draw import Area, Draw


def after_a_fork(draw: Draw, actor: int, _area: Area) -> None:
    """Fork, most often let the child end, then write: single pages, or some, or all of them.

    A folio of 2 MiB is mapped by its entries first.
    """
    rng = draw.rng
    area = draw.fresh(actor, (4, 16, 64, 64, 128, 2048))
    where = area.where
    if draw.folio == 2048:
        mixers.protect_some(draw, actor, where)
    child = draw.fork(actor)
    if child is not None and rng.random() < 0.3:
        draw.add("write", child, range=draw.piece(where))
    if child is not None and rng.random() < 0.8:
        draw.exit(child)
    for _ in range(rng.choice((1, 2, 3))):
        some = draw.part(where)
        if rng.random() < 0.6:
            some = replace(where, page=rng.randrange(where.page, where.end), count=1)
        draw.add("write", actor, range=some)
