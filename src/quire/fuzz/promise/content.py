# SPDX-License-Identifier: GPL-2.0
"""Contents of pages: their words, and the names that records give them (guest/fuzz/content.c)."""

from functools import lru_cache

from quire.fuzz.language.program import PAGE_WORDS, SLOT_PAGES, SLOTS

# The words that are not zero, by their number, in order.
Content = tuple[tuple[int, int], ...]
ZERO: Content = ()
UNREADABLE = "!"  # the name of a page that cannot be read

# Kinds of contents, as the guest numbers them.
REFUSED, ZEROES, TORN, CLASS, TAGGED, WORD = range(1, 7)
_WORDS, _STRIDE = 8, PAGE_WORDS // 8
_BY_TAG, _BY_CLASS = 0xF022, 0xC1A5
_GOLDEN, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


@lru_cache(65536)
def tagged(slot: str, page: int, tag: int) -> int:
    """The word that the operation `tag` writes to a page."""
    return _BY_TAG << 48 | tag << 32 | (SLOTS.index(slot) * SLOT_PAGES + page)


def classed(number: int) -> int:
    """The first word of the pages that are equal."""
    return _BY_CLASS << 48 | number


@lru_cache(65536)
def with_words(content: Content, first: int) -> Content:
    """The content after the eight words were written that follow from the first."""
    words = dict(content)
    words |= {at * _STRIDE: _follow(first, at) for at in range(_WORDS)}
    return tuple(sorted(words.items()))


@lru_cache(65536)
def with_word(content: Content, number: int, value: int) -> Content:
    """The content after one word was written."""
    return tuple(sorted((dict(content) | {number % PAGE_WORDS: value}).items()))


@lru_cache(65536)
def name(content: Content, words: bool) -> str:
    """The content's name in a record; with `words`, pages with a single word have their own."""
    kind, number, value = _read(content, words)
    if kind in (TAGGED, WORD):
        slot, page = divmod(value & 0xFFFFFFFF, SLOT_PAGES)
        at = f".{number}" if kind == WORD else ""
        return f"t{value >> 32 & 0xFFFF}{at}@{SLOTS[slot]}{page}"
    return {ZEROES: "0", TORN: f"h{value:08x}", CLASS: f"k{value}"}[kind]


def mixed(value: int, content: Content | None, *, words: bool) -> int:
    """A hash, continued with a page's content; None: it cannot be read."""
    kind, number, first = _read(content, words) if content is not None else (REFUSED, 0, 0)
    return (value ^ kind ^ number ^ first) * _GOLDEN & _MASK


@lru_cache(65536)
def _read(content: Content, words: bool) -> tuple[int, int, int]:
    """What the guest reads: a kind, the number of a single word, and the word or a hash."""
    held = dict(content)
    eight = [held.get(at * _STRIDE, 0) for at in range(_WORDS)]
    whole = all(word == _follow(eight[0], at) for at, word in enumerate(eight))
    if any(eight) and whole:
        classed = eight[0] >> 48 == _BY_CLASS
        return (CLASS, 0, eight[0] & 0xFFFFFFFF) if classed else (TAGGED, 0, eight[0])
    if not content or not (words or any(eight)):
        return ZEROES, 0, 0
    if words and len(content) == 1:
        return WORD, *content[0]
    value = 0
    for word in [held.get(at, 0) for at in range(PAGE_WORDS)] if words else eight:
        value = (value ^ word) * _GOLDEN & _MASK
    return TORN, 0, value >> 32


def _follow(first: int, at: int) -> int:
    return (first + at) * _GOLDEN & _MASK if at else first
