# SPDX-License-Identifier: GPL-2.0
"""Mixers: they make pages of one folio differ in what a batch must not mix up."""

from __future__ import annotations

from dataclasses import replace

from quire.fuzz.generate.draw import Draw
from quire.fuzz.language.program import Range


def redirty(draw: Draw, actor: int, where: Range) -> None:
    """Give pages up, and write to some again."""
    draw.add("advise", actor, range=where, word="free")
    draw.add("write", actor, range=draw.piece(where))


def half_forked(draw: Draw, actor: int, where: Range) -> None:
    """Share a folio with a child but for some pages, often its first."""
    some = draw.piece(where)
    if draw.rng.random() < 0.4:
        some = draw.first_half(where)
    fork_without(draw, actor, some)


def fork_without(draw: Draw, actor: int, some: Range) -> int | None:
    """Fork a child that lacks these pages. None if there are enough processes."""
    draw.add("advise", actor, range=some, word="dontfork")
    child = draw.fork(actor)
    draw.add("advise", actor, range=some, word="dofork")
    return child


def written_by_child(draw: Draw, actor: int, where: Range) -> None:
    """Let a child copy some pages of a folio, and maybe exit."""
    child = draw.fork(actor)
    if child is not None:
        draw.add("write", child, range=draw.piece(where))
        if draw.rng.random() < 0.4:
            draw.exit(child)


def soft_dirty(draw: Draw, actor: int, where: Range) -> None:
    """Clear soft-dirty everywhere, and set it again on some pages."""
    dirty_again(draw, actor, draw.piece(where))


def dirty_again(draw: Draw, actor: int, some: Range) -> None:
    """Make these pages the only soft-dirty ones."""
    draw.add("clear-refs", actor, number=4)
    draw.add("write", actor, range=some)


def accessed(draw: Draw, actor: int, where: Range) -> None:
    """Make some pages the only accessed ones."""
    draw.add("clear-refs", actor, number=1)
    draw.add("read", actor, range=draw.piece(where))


def write_protect(draw: Draw, actor: int, where: Range) -> None:
    """Write-protect all or some pages of a folio by userfaultfd."""
    if draw.rng.random() < 0.3:
        draw.add("watch", actor)
    draw.add("wp", actor, range=where if draw.rng.random() < 0.6 else draw.piece(where))
    if draw.rng.random() < 0.5:
        draw.add("unwp", actor, range=draw.piece(where))


def write_protect_but(draw: Draw, actor: int, where: Range, some: Range) -> None:
    """Write-protect all pages but some, under one registered range: the mapping stays whole."""
    draw.add("wp", actor, range=where)
    draw.add("unwp", actor, range=some)


def trap(draw: Draw, actor: int, where: Range) -> None:
    """Let userfaultfd trap every access to all or some pages of a folio."""
    draw.add("rwp", actor, range=where if draw.rng.random() < 0.4 else draw.piece(where))
    if draw.rng.random() < 0.5:
        draw.add("unrwp", actor, range=draw.piece(where))


def protect_some(draw: Draw, actor: int, where: Range) -> None:
    """Make some pages read-only and writable again: the entries may stay write-protected."""
    some = draw.piece(where)
    draw.add("protect", actor, range=some, word="r")
    draw.add("protect", actor, range=some, word="rw")


def swapped(draw: Draw, actor: int, where: Range) -> None:
    """Swap everything out, and often bring some pages back."""
    draw.add("advise", actor, range=where, word="pageout")
    if draw.rng.random() < 0.7:
        draw.add(draw.rng.choice(["read", "write"]), actor, range=draw.piece(where))


def swapped_some(draw: Draw, actor: int, where: Range) -> None:
    """Swap some pages out."""
    draw.add("advise", actor, range=draw.piece(where), word="pageout")


def holes(draw: Draw, actor: int, where: Range) -> None:
    """Drop some pages."""
    draw.add("advise", actor, range=draw.piece(where), word="dontneed")


def lock_some(draw: Draw, actor: int, where: Range) -> None:
    """Lock some pages, which splits their mapping."""
    draw.add("lock", actor, range=draw.piece(where))


def cached(draw: Draw, actor: int, where: Range) -> None:
    """Let reclaim fail at the first page, which is locked: the folio is in the swap cache then."""
    locked = replace(where, count=1)
    draw.add("lock", actor, range=locked)
    draw.add("reclaim")
    draw.add("unlock", actor, range=locked)


def in_swap_cache(draw: Draw, actor: int, where: Range) -> None:
    """Hold a folio, so that it stays in the swap cache, and map pages again from there."""
    if draw.folio_pages > 1 and draw.rng.random() < 0.6:
        cached(draw, actor, where)  # reclaim does not swap a large folio that is held
    draw.add("hold", actor, to=draw.piece(where).address)
    if draw.rng.random() < 0.5:
        draw.add("advise", actor, range=where, word="pageout")
    else:
        draw.add("reclaim")
    if draw.rng.random() < 0.75:
        some = where if draw.rng.random() < 0.6 else draw.piece(where)
        draw.add(draw.rng.choice(["read", "read", "write"]), actor, range=some)
    if draw.rng.random() < 0.5:
        draw.add("drop", actor)
