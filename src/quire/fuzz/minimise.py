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
# For each candidate: does it still happen? One that was not tried does not, for now.
Oracle = Callable[[Sequence[Items[T]]], Sequence[bool]]


def minimise(items: Items[T], happens: Oracle[T]) -> Items[T]:
    """A part of `items` with which it happens, of which no single item can be left out.

    Each round asks for what is left without each half, quarter and so on down to single items,
    and then for what is left without several of those that can go.
    """
    while len(items) > 1:
        chunks = _all_chunks(len(items))
        answers = happens([_without(items, chunk) for chunk in chunks])
        gone = [chunk for chunk, yes in zip(chunks, answers, strict=True) if yes]
        if not gone:
            break
        items = _drop_most(items, gone, happens)
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
            steps = [dict(list(best.items())[: n + 1]) for n in reversed(range(len(best)))]
            together = happens([_put(items, step) for step in steps])
            # The last, which is the first form alone, is known to do.
            items = _put(
                items, next((s for s, yes in zip(steps, together, strict=True) if yes), steps[-1])
            )
    return items


def _all_chunks(length: int) -> list[range]:
    """Halves, quarters, ... and single places of 0 to `length`, the longest first."""
    found: dict[range, None] = {}
    pieces = 2
    while True:
        pieces = min(pieces, length)
        ends = [length * n // pieces for n in range(pieces + 1)]
        found |= dict.fromkeys(range(start, end) for start, end in itertools.pairwise(ends))
        if pieces == length:
            return list(found)
        pieces *= 2


def _without(items: Items[T], *chunks: range) -> Items[T]:
    return tuple(item for at, item in enumerate(items) if not any(at in c for c in chunks))


def _drop_most(items: Items[T], gone: list[range], happens: Oracle[T]) -> Items[T]:
    """Leave out as many of the chunks as can be at once; each alone can be.

    The most is asked for first: not every oracle answers what comes after a yes.
    """
    trials = [_without(items, *gone[: n + 1]) for n in range(len(gone))]
    best, trials = trials[0], [trial for trial in reversed(trials[1:]) if trial]
    answers = happens(trials) if trials else []
    for trial, yes in zip(trials, answers, strict=True):
        if yes and len(trial) < len(best):
            best = trial
    return best


def _put(items: Items[T], new: dict[int, T]) -> Items[T]:
    return tuple(new.get(at, item) for at, item in enumerate(items))
