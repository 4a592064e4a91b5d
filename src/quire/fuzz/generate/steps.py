# SPDX-License-Identifier: GPL-2.0
"""Steps of recipes: operations of a process on the pages of an area, and how they combine."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from quire.fuzz.generate.draw import Area, Draw
from quire.fuzz.language.program import VERBS, Range

# Adds operations of a process to a program under construction.
Step = Callable[[Draw, int, Area], object]
# Chooses pages of a range.
Where = Callable[[Draw, Range], Range]
# Makes an area.
Make = Callable[[Draw, int], Area]

part, piece = Draw.part, Draw.piece
first_half, second_half = Draw.first_half, Draw.second_half


def whole(_draw: Draw, where: Range) -> Range:
    """All pages."""
    return where


def first_page(_draw: Draw, where: Range) -> Range:
    """The first page."""
    return replace(where, count=1)


def one_page(draw: Draw, where: Range) -> Range:
    """Any page."""
    return replace(where, page=draw.rng.randrange(where.page, where.end), count=1)


def mostly(chance: float, where: Where, other: Where) -> Where:
    """By that chance the one, else the other."""
    return lambda draw, pages: (where if draw.rng.random() < chance else other)(draw, pages)


def op(
    verbs: str,
    where: Where = whole,
    *,
    number: int | Sequence[int] = 0,
    word: str | tuple[str, ...] = "",
) -> Step:
    """An operation on these pages, or at the first of them, as its verb takes it.

    One of several verbs, numbers or words is drawn.
    """
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
    """Advice about these pages."""
    return op("advise", where, word=word)


def steps(*parts: Step) -> Step:
    """All of them, in order."""

    def step(draw: Draw, actor: int, area: Area) -> None:
        for part in parts:
            part(draw, actor, area)

    return step


def maybe(chance: float, *parts: Step) -> Step:
    """All of them by that chance, or none."""
    return either(chance, steps(*parts), steps())


def either(chance: float, first: Step, other: Step) -> Step:
    """By that chance the one, else the other."""
    return lambda draw, *rest: (first if draw.rng.random() < chance else other)(draw, *rest)


def choose(*parts: Step) -> Step:
    """One of them; one that is there twice is twice as likely."""
    return lambda draw, *rest: draw.rng.choice(parts)(draw, *rest)


def repeat(times: Sequence[int], part: Step) -> Step:
    """The same, as often as one of these numbers says."""

    def step(draw: Draw, actor: int, area: Area) -> None:
        for _ in range(draw.rng.choice(times)):
            part(draw, actor, area)

    return step


def on(where: Where, *parts: Step) -> Step:
    """All of them, on the same pages of the area."""
    return lambda draw, actor, area: steps(*parts)(
        draw, actor, Area(where(draw, area.where), area.kind)
    )


def on_new(make: Make, *parts: Step) -> Step:
    """All of them, on an area that is made for it."""
    return lambda draw, actor, _area: steps(*parts)(draw, actor, make(draw, actor))


def fresh(*sizes: int) -> Make:
    """One or two whole folios of one of these sizes, all written to."""
    return lambda draw, actor: draw.fresh(actor, sizes) if sizes else draw.fresh(actor)


# What most recipes need.
FREE, PAGE_OUT, RECLAIM = advise("free"), advise("pageout"), op("reclaim")
# Page out the area, sometimes with warm translations; reclaim all memory, or the bits first.
page_out = steps(maybe(0.12, op("warm")), PAGE_OUT)
everything = steps(maybe(0.5, op("clear-refs", number=1)), RECLAIM)
mostly_everything = choose(everything, everything, page_out)
everything_or_page_out = choose(everything, page_out)
# Walk the reverse mapping of some pages, twice.
walk = on(part, op("idle"), op("look"))
