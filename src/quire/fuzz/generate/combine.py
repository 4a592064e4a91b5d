# SPDX-License-Identifier: GPL-2.0
"""Steps of recipes: operations of a process on the pages of an area, and how they combine.

Some are mixers: they make pages of one folio differ in state that a batch must keep apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from quire.fuzz.generate.draw import Area, Draw
from quire.fuzz.language.program import Range
from quire.fuzz.language.verbs import VERBS

# Adds operations of a process to a program under construction.
Step = Callable[[Draw, int, Area], object]
# Picks pages of a range.
Where = Callable[[Draw, Range], Range]
# Makes an area.
Make = Callable[[Draw, int], Area]

part, piece = Draw.part, Draw.piece
first_half, second_half = Draw.first_half, Draw.second_half


def whole(_draw: Draw, where: Range) -> Range:
    """Pick all pages."""
    return where


def first_page(_draw: Draw, where: Range) -> Range:
    """Pick the first page."""
    return replace(where, count=1)


def one_page(draw: Draw, where: Range) -> Range:
    """Pick any page."""
    return replace(where, page=draw.rng.randrange(where.page, where.end), count=1)


def mostly(chance: float, where: Where, other: Where) -> Where:
    """Pick `where` with probability `chance`, else `other`."""
    return lambda draw, pages: (where if draw.rng.random() < chance else other)(draw, pages)


def op(
    verbs: str,
    where: Where = whole,
    *,
    number: int | Sequence[int] = 0,
    word: str | tuple[str, ...] = "",
) -> Step:
    """Do an operation on these pages. Of several verbs, numbers or words, one is drawn."""
    names = verbs.split()

    def step(draw: Draw, actor: int, area: Area) -> None:
        verb = draw.rng.choice(names) if len(names) > 1 else names[0]
        grammar = VERBS[verb]
        pages = where(draw, area.where) if grammar.on_pages else None
        draw.add(
            verb,
            actor if grammar.actor else None,
            range=pages if "R" in grammar.takes else None,
            to=pages.address if pages and "A" in grammar.takes else None,
            number=number if isinstance(number, int) else draw.rng.choice(number),
            word=word if isinstance(word, str) else draw.rng.choice(word),
        )

    return step


def advise(word: str, where: Where = whole) -> Step:
    """Call madvise() on these pages."""
    return op("advise", where, word=word)


def all_of(*parts: Step) -> Step:
    """Do all steps, in order."""
    return lambda *scene: [part(*scene) for part in parts]


def maybe(chance: float, *parts: Step) -> Step:
    """Do all steps with probability `chance`, or none."""
    return either(chance, all_of(*parts), all_of())


def either(chance: float, first: Step, other: Step) -> Step:
    """Do `first` with probability `chance`, else `other`."""
    return lambda draw, *rest: (first if draw.rng.random() < chance else other)(draw, *rest)


def choose(*parts: Step) -> Step:
    """Do one of the steps; a step that is listed twice is twice as likely."""
    return lambda draw, *rest: draw.rng.choice(parts)(draw, *rest)


def repeat(times: Sequence[int], part: Step) -> Step:
    """Repeat a step; the number of times is one of these."""
    return lambda draw, *rest: [part(draw, *rest) for _ in range(draw.rng.choice(times))]


def on(where: Where, *parts: Step) -> Step:
    """Do all steps on the same pages of the area."""
    return lambda draw, actor, area: all_of(*parts)(
        draw, actor, Area(where(draw, area.where), area.kind)
    )


def on_new(make: Make, *parts: Step) -> Step:
    """Do all steps on a new area."""
    return lambda draw, actor, _area: all_of(*parts)(draw, actor, make(draw, actor))


def fresh(*sizes: int) -> Make:
    """Make one or two whole folios of one of these sizes, and write to all pages."""
    return lambda draw, actor: draw.fresh(actor, sizes) if sizes else draw.fresh(actor)


# Steps of most recipes.
FREE, PAGE_OUT, RECLAIM = advise("free"), advise("pageout"), op("reclaim")
# Page out the area, sometimes with warm TLB entries; reclaim all memory, maybe after clearing the
# accessed bits.
page_out = all_of(maybe(0.12, op("warm")), PAGE_OUT)
everything = all_of(maybe(0.5, op("clear-refs", number=1)), RECLAIM)
mostly_everything = choose(everything, everything, page_out)
everything_or_page_out = choose(everything, page_out)
# Walk the reverse mapping of some pages, twice.
walk = on(part, op("idle"), op("look"))


def fork_without(draw: Draw, actor: int, some: Range) -> int | None:
    """Fork a child without these pages. None at the maximum number of processes."""
    draw.add("advise", actor, range=some, word="dontfork")
    child = draw.fork(actor)
    draw.add("advise", actor, range=some, word="dofork")
    return child


def half_forked(draw: Draw, actor: int, area: Area) -> None:
    """Share a folio with a child, except for some pages, often the first ones."""
    some = draw.piece(area.where)
    fork_without(draw, actor, draw.first_half(area.where) if draw.rng.random() < 0.4 else some)


def written_by_child(draw: Draw, actor: int, area: Area) -> None:
    """Let a child copy some pages of a folio, and maybe exit."""
    child = draw.fork(actor)
    if child is not None:
        draw.add("write", child, range=draw.piece(area.where))
        if draw.rng.random() < 0.4:
            draw.exit(child)


# Free pages by MADV_FREE, and redirty some.
redirty = all_of(FREE, op("write", piece))
# Make only some pages soft-dirty, or accessed.
soft_dirty = on(piece, op("clear-refs", number=4), op("write"))
accessed = all_of(op("clear-refs", number=1), op("read", piece))
# Let userfaultfd write-protect all or some pages of a folio, or trap every access.
write_protect = all_of(
    maybe(0.3, op("watch")), op("wp", mostly(0.6, whole, piece)), maybe(0.5, op("unwp", piece))
)
trap = all_of(op("rwp", mostly(0.4, whole, piece)), maybe(0.5, op("unrwp", piece)))
# Make some pages read-only and writable again: the entries may stay write-protected.
protect_some = on(piece, op("protect", word="r"), op("protect", word="rw"))
# Swap everything out, and often bring some pages back; or swap some pages out.
swapped = all_of(PAGE_OUT, maybe(0.7, op("read write", piece)))
swapped_some = advise("pageout", piece)
holes = advise("dontneed", piece)
# Lock some pages, which splits their mapping.
lock_some = op("lock", piece)
# Let reclaim fail at the first page, which is locked, so that the folio stays in the swap cache.
cached = on(first_page, op("lock"), RECLAIM, op("unlock"))


def _cached_if_large(draw: Draw, actor: int, area: Area) -> None:
    # Reclaim does not swap out a large folio with extra references.
    if draw.folio_pages > 1:
        maybe(0.6, cached)(draw, actor, area)


# Take a reference, so that the folio stays in the swap cache, and map pages again from there.
in_swap_cache = all_of(
    _cached_if_large,
    op("hold", piece),
    either(0.5, PAGE_OUT, RECLAIM),
    maybe(0.75, on(mostly(0.6, whole, piece), op("read read write"))),
    maybe(0.5, op("drop")),
)
