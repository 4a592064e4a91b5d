# SPDX-License-Identifier: GPL-2.0
"""Delta debugging: the fewest items of a sequence with which something still happens.

The question is asked for many candidates at once: here an answer costs two boots, whatever the
number of candidates.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Items = tuple[T, ...]
# For each candidate: does it still happen?
Oracle = Callable[[Sequence[Items[T]]], Sequence[bool]]


def minimise(items: Items[T], happens: Oracle[T]) -> Items[T]:
    """A part of `items` with which it happens, of which no single item can be left out."""
    pieces = 2
    while len(items) > 1:
        pieces = min(pieces, len(items))
        chunks = _chunks(len(items), pieces)
        without = [_without(items, chunk) for chunk in chunks]
        gone = [chunk for chunk, yes in zip(chunks, happens(without), strict=True) if yes]
        if gone:
            items = _drop_most(items, gone, happens)
            pieces = max(2, pieces - len(gone))
        elif pieces == len(items):
            break
        else:
            pieces *= 2
    return items


def replace_each(
    items: Items[T], simpler: Callable[[T], Sequence[T]], happens: Oracle[T]
) -> Items[T]:
    """Each item by the first of its simpler forms with which it still happens, while any does."""
    changed = True
    while changed:
        trials = [(at, form) for at, item in enumerate(items) for form in simpler(item)]
        if not trials:
            break
        answers = happens([_put(items, {at: form}) for at, form in trials])
        best: dict[int, T] = {}
        for (at, form), yes in zip(trials, answers, strict=True):
            if yes:
                best.setdefault(at, form)
        changed = bool(best)
        if best:
            steps = [dict(list(best.items())[: n + 1]) for n in range(len(best))]
            together = happens([_put(items, step) for step in steps])
            # The first alone is known to do.
            last = max((n for n, yes in enumerate(together) if yes), default=0)
            items = _put(items, steps[last])
    return items


def _chunks(length: int, pieces: int) -> list[range]:
    """Ranges of about one size that cover 0 to `length`."""
    ends = [length * n // pieces for n in range(pieces + 1)]
    return [range(start, end) for start, end in itertools.pairwise(ends)]


def _without(items: Items[T], *chunks: range) -> Items[T]:
    return tuple(item for at, item in enumerate(items) if not any(at in c for c in chunks))


def _drop_most(items: Items[T], gone: list[range], happens: Oracle[T]) -> Items[T]:
    """Leave out as many of the chunks as can be at once; each alone can be."""
    trials = [_without(items, *gone[: n + 1]) for n in range(len(gone))]
    trials = [trial for trial in trials if trial]
    if len(trials) < 2:
        return trials[0] if trials else items
    answers = happens(trials)
    return max(
        (t for t, yes in zip(trials, answers, strict=True) if yes),
        key=_shortness,
        default=trials[0],
    )


def _shortness(items: Sequence[object]) -> int:
    return -len(items)


def _put(items: Items[T], new: dict[int, T]) -> Items[T]:
    return tuple(new.get(at, item) for at, item in enumerate(items))
