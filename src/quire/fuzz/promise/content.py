# SPDX-License-Identifier: GPL-2.0
"""Contents of pages: their words, and the names that records give them (guest/fuzz/content.c)."""

from functools import lru_cache

from quire.fuzz.language.program import SLOT_PAGES, SLOTS
from quire.fuzz.language.verbs import PAGE_WORDS

# The word from which a page was last filled (_follow(); 0: with zeroes), and the single words
# written since then, by number, in order.
Content = tuple[int, tuple[tuple[int, int], ...]]
ZERO: Content = (0, ())
UNREADABLE = "!"  # the name of a page that cannot be read

# Kinds of contents, as the guest numbers them.
REFUSED, ZEROES, TORN, CLASS, TAGGED, WORD = range(1, 7)
_WORDS, _STRIDE = 8, PAGE_WORDS // 8
_BY_TAG, _BY_CLASS = 0xF022, 0xC1A5
_GOLDEN, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


@lru_cache(65536)
def tagged(slot: str, page: int, tag: int) -> int:
    """Return the word that the operation `tag` writes to a page."""
    return _BY_TAG << 48 | tag << 32 | (SLOTS.index(slot) * SLOT_PAGES + page)


def classed(number: int) -> int:
    """Return the first word of pages with equal contents."""
    return _BY_CLASS << 48 | number


def with_words(content: Content, first: int) -> Content:
    """Return the content after writing the eight words that follow from the first."""
    return first, tuple(word for word in content[1] if word[0] % _STRIDE)


def with_word(content: Content, number: int, value: int) -> Content:
    """Return the content after writing one word."""
    first, single = content
    return first, tuple(sorted((dict(single) | {number % PAGE_WORDS: value}).items()))


@lru_cache(65536)
def name(content: Content, words: bool) -> str:
    """Return the content's name in a record; with `words`, single words have separate names."""
    kind, number, value = _read(content, words)
    if kind in (TAGGED, WORD):
        slot, page = divmod(value & 0xFFFFFFFF, SLOT_PAGES)
        at = f".{number}" if kind == WORD else ""
        return f"t{value >> 32 & 0xFFFF}{at}@{SLOTS[slot]}{page}"
    return {ZEROES: "0", TORN: f"h{value:08x}", CLASS: f"k{value}"}[kind]


def mixed(value: int, content: Content | None, *, words: bool) -> int:
    """Extend a hash by a page's content; None: the page cannot be read."""
    kind, number, first = _read(content, words) if content is not None else (REFUSED, 0, 0)
    return (value ^ kind ^ number ^ first) * _GOLDEN & _MASK


def _read(content: Content, words: bool) -> tuple[int, int, int]:
    """Return what the guest reads: a kind, the number of a single word, and the word or a hash."""
    first, single = content
    if not single:
        return _filled(first)
    held = {at * _STRIDE: _follow(first, at) for at in range(_WORDS)} if first else {}
    held |= single
    eight = [held.get(at * _STRIDE, 0) for at in range(_WORDS)]
    whole = all(word == _follow(eight[0], at) for at, word in enumerate(eight))
    if any(eight) and whole:
        return _filled(eight[0])
    if not (words or any(eight)):
        return ZEROES, 0, 0
    if words and len(held) == 1:
        return WORD, *single[0]
    value = 0
    for word in [held.get(at, 0) for at in range(PAGE_WORDS)] if words else eight:
        value = (value ^ word) * _GOLDEN & _MASK
    return TORN, 0, value >> 32


def _filled(first: int) -> tuple[int, int, int]:
    """Return what the guest reads from a page filled from this word."""
    if first >> 48 == _BY_CLASS:
        return CLASS, 0, first & 0xFFFFFFFF
    return TAGGED if first else ZEROES, 0, first


def _follow(first: int, at: int) -> int:
    return (first + at) * _GOLDEN & _MASK if at else first
