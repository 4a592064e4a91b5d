# SPDX-License-Identifier: GPL-2.0
"""Delta debugging: find the fewest items of a sequence for which something still happens.

The oracle gets many candidates at once: here an answer costs two boots, for any number of them.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Items = tuple[T, ...]
# Positions to leave out together.
Chunks = tuple[range, ...]
# Whether it still happens, for each candidate; False for candidates not tried yet.
Oracle = Callable[[Sequence[Items[T]]], Sequence[bool]]
PAIRS_OF = range(6, 17)  # with that many items left, pairs are tried when no item can go alone
# With more items than this, the tail is cut off first.
LONG = 16
PREFIXES = 8


def minimise(items: Items[T], happens: Oracle[T]) -> Items[T]:
    """Return a part of `items` with which it happens, where each single item is needed.

    Each round tries to leave out each half, each quarter and so on down to single items, and then
    several of those that can go at once. When none can go, it tries pairs: of two items, one may
    undo what the other does.
    """
    if len(items) > LONG:
        prefixes = [items[: len(items) * n // PREFIXES] for n in range(1, PREFIXES)]
        tried = zip(prefixes, happens(prefixes), strict=True)
        items = next((prefix for prefix, yes in tried if yes), items)
    while len(items) > 1:
        length = len(items)
        single = [range(at, at + 1) for at in range(length)] if length in PAIRS_OF else []
        for choices in (_all_chunks(length), list(itertools.combinations(single, 2))):
            answers = happens([_without(items, *chunks) for chunks in choices]) if choices else []
            gone = [chunks for chunks, yes in zip(choices, answers, strict=True) if yes]
            if gone:
                items = _drop_most(items, gone, happens)
                break
        else:
            break
    return items


def replace_each(
    items: Items[T], simpler: Callable[[T], Sequence[T]], happens: Oracle[T]
) -> Items[T]:
    """Replace items by their first simpler form with which it still happens, while any does."""
    while True:
        trials = [(at, form) for at, item in enumerate(items) for form in simpler(item)]
        answers = happens([_put(items, {at: form}) for at, form in trials]) if trials else []
        best: dict[int, T] = {}
        for (at, form), yes in zip(trials, answers, strict=True):
            if yes:
                best.setdefault(at, form)
        if not best:
            return items
        steps = [dict(list(best.items())[: n + 1]) for n in reversed(range(len(best)))]
        together = happens([_put(items, step) for step in steps])
        # The last step replaces one item only, and is known to do.
        best = next((s for s, yes in zip(steps, together, strict=True) if yes), steps[-1])
        items = _put(items, best)


def _all_chunks(length: int) -> list[Chunks]:
    """Return halves, quarters, ... and single positions below `length`, the longest first."""
    chunks: dict[range, None] = {}
    for pieces in (*(2**n for n in range(1, length.bit_length()) if 2**n < length), length):
        ends = [length * n // pieces for n in range(pieces + 1)]
        chunks |= dict.fromkeys(range(start, end) for start, end in itertools.pairwise(ends))
    return [(chunk,) for chunk in chunks]


def _without(items: Items[T], *chunks: range) -> Items[T]:
    return tuple(item for at, item in enumerate(items) if not any(at in c for c in chunks))


def _drop_most(items: Items[T], gone: list[Chunks], happens: Oracle[T]) -> Items[T]:
    """Leave out as many chunks at once as possible; each alone can go.

    The trial that leaves out most comes first: after a yes there may be no answers.
    """
    trials = [_without(items, *itertools.chain(*gone[: n + 1])) for n in range(len(gone))]
    best, trials = trials[0], [trial for trial in reversed(trials[1:]) if trial]
    answers = happens(trials) if trials else []
    showing = [trial for trial, yes in zip(trials, answers, strict=True) if yes]
    return min(best, *showing, key=len) if showing else best


def _put(items: Items[T], new: dict[int, T]) -> Items[T]:
    return tuple(new.get(at, item) for at, item in enumerate(items))
