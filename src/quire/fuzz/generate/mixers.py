# SPDX-License-Identifier: GPL-2.0
"""Mixers: they make pages of one folio differ in what a batch must not mix up."""

from quire.fuzz.generate.draw import Area, Draw
from quire.fuzz.generate.steps import (
    FREE,
    PAGE_OUT,
    RECLAIM,
    advise,
    either,
    first_page,
    maybe,
    mostly,
    on,
    op,
    piece,
    steps,
    whole,
)
from quire.fuzz.language.program import Range


def fork_without(draw: Draw, actor: int, some: Range) -> int | None:
    """Fork a child that lacks these pages. None if there are enough processes."""
    draw.add("advise", actor, range=some, word="dontfork")
    child = draw.fork(actor)
    draw.add("advise", actor, range=some, word="dofork")
    return child


def half_forked(draw: Draw, actor: int, area: Area) -> None:
    """Share a folio with a child but for some pages, often its first."""
    some = draw.piece(area.where)
    fork_without(draw, actor, draw.first_half(area.where) if draw.rng.random() < 0.4 else some)


def written_by_child(draw: Draw, actor: int, area: Area) -> None:
    """Let a child copy some pages of a folio, and maybe exit."""
    child = draw.fork(actor)
    if child is not None:
        draw.add("write", child, range=draw.piece(area.where))
        if draw.rng.random() < 0.4:
            draw.exit(child)


# Give pages up, and write to some again.
redirty = steps(FREE, op("write", piece))
# Make some pages the only soft-dirty ones, or the only accessed ones.
soft_dirty = on(piece, op("clear-refs", number=4), op("write"))
accessed = steps(op("clear-refs", number=1), op("read", piece))
# Let userfaultfd protect all or some pages of a folio from writes, or trap every access.
write_protect = steps(
    maybe(0.3, op("watch")), op("wp", mostly(0.6, whole, piece)), maybe(0.5, op("unwp", piece))
)
trap = steps(op("rwp", mostly(0.4, whole, piece)), maybe(0.5, op("unrwp", piece)))
# Make some pages read-only and writable again: the entries may stay write-protected.
protect_some = on(piece, op("protect", word="r"), op("protect", word="rw"))
# Swap everything out, and often bring some pages back; or swap some pages out.
swapped = steps(PAGE_OUT, maybe(0.7, op("read write", piece)))
swapped_some = advise("pageout", piece)
holes = advise("dontneed", piece)
# Lock some pages, which splits their mapping.
lock_some = op("lock", piece)
# Let reclaim fail at the first page, which is locked: the folio is in the swap cache then.
cached = on(first_page, op("lock"), RECLAIM, op("unlock"))


def _cached_if_large(draw: Draw, actor: int, area: Area) -> None:
    # Reclaim does not swap a large folio that is held.
    if draw.folio_pages > 1:
        maybe(0.6, cached)(draw, actor, area)


# Hold a folio, so that it stays in the swap cache, and map pages again from there.
in_swap_cache = steps(
    _cached_if_large,
    op("hold", piece),
    either(0.5, PAGE_OUT, RECLAIM),
    maybe(0.75, on(mostly(0.6, whole, piece), op("read read write"))),
    maybe(0.5, op("drop")),
)
