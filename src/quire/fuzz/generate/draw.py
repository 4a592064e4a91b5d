# SPDX-License-Identifier: GPL-2.0
"""A program under construction: its processes, their mappings, and operations on those."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from quire.fuzz.language.program import LOW, SLOT_PAGES, SLOTS, Op, Range, check
from quire.fuzz.language.verbs import ACTORS, PAGE_WORDS, VERBS

T = TypeVar("T")

# The slots of new and moved mappings. Only Draw.low() uses the low slot.
USUAL = SLOTS.replace(LOW, "")
# The pages that a page table maps.
PAGES_PER_TABLE = 512
# Words at the edges of the groups that the zero check reads together, and a few others.
WORDS = (0, 1, 8, 31, 32, 64, 255, 256, 448, 480, 510, 511)


@dataclass
class Area:
    """Pages that a process has mapped, as far as the generator knows."""

    where: Range
    kind: str


@dataclass
class Draw:
    """A program under construction."""

    rng: random.Random
    theme: str = "mixed"
    folio: int = 64
    ops: list[Op] = field(default_factory=list)
    areas: dict[int, list[Area]] = field(default_factory=lambda: {0: []})
    weights: dict[str, float] = field(default_factory=dict)
    migrating: bool = False

    @property
    def folio_pages(self) -> int:
        """The number of pages in a folio of the current size."""
        return max(self.folio // 4, 1)

    @property
    def unborn(self) -> list[int]:
        """Unused process numbers."""
        return [n for n in range(ACTORS) if n not in self.areas]

    def add(self, verb: str, actor: int | None = None, **rest: object) -> None:
        self.ops.append(check(Op(verb, actor, **rest)))  # type: ignore[arg-type]

    def someone(self) -> int:
        """Pick a live process, most often the first."""
        alive = sorted(self.areas)
        return 0 if 0 in alive and self.rng.random() < 0.55 else self.rng.choice(alive)

    def area(self, actor: int) -> Area:
        """Pick one of a process's areas; make one if it has none."""
        if not self.areas[actor]:
            self.map(actor)
        return self.rng.choice(self.areas[actor])

    def part(self, where: Range) -> Range:
        """Pick all of an area, some of its folios, some pages, or a single page."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.4 or where.count == 1:
            return where
        if kind < 0.6 and where.count > self.folio_pages:
            folios = where.count // self.folio_pages
            first = rng.randrange(folios)
            count = rng.randint(1, folios - first) * self.folio_pages
            return replace(where, page=where.page + first * self.folio_pages, count=count)
        first = rng.randrange(where.count)
        longest = 1 if kind < 0.8 else where.count - first
        return replace(where, page=where.page + first, count=rng.randint(1, longest))

    def piece(self, where: Range) -> Range:
        """Pick some pages of one folio of an area, mostly at its start or its end."""
        rng, size = self.rng, min(self.folio_pages, where.count)
        if size < 2 or rng.random() < 0.15:
            return self.part(where)
        first = where.page + rng.randrange(where.count // size) * size
        half, some = size // 2, rng.randrange(1, size)
        starts = (0, 1), (0, half), (0, size - 1), (0, some), (0, some), (some, size - some)
        ends = (size - 1, 1), (half, size - half), (1, size - 1), (some, 1)
        start, count = rng.choice((*starts, *ends))
        return replace(where, page=first + start, count=count)

    def map(self, actor: int, kind: str | None = None) -> Area:
        """Make a new mapping: mostly whole folios, sometimes across the end of a page table."""
        rng, pages = self.rng, self.folio_pages
        kind = kind or pick(rng, VERBS["map"].words)
        if self.theme == "ksm" and rng.random() < 0.3:
            kind = rng.choice(["file", "file", "far"])
        most = max(1, min(4, 96 // pages))
        count = pages * rng.randint(1, most) if pages > 1 else rng.randint(1, 24)
        page = rng.choice([0, 0, 0, 512 - pages, 512 - count // 2, 3, 512])
        page = max(0, min(page, SLOT_PAGES - count))
        where = Range(rng.choice(USUAL), page, count)
        area = self.put(actor, where, kind)
        if rng.random() < 0.85:
            self.add("write", actor, range=where)
        return area

    def fresh(self, actor: int, sizes: Sequence[int] = (16, 32, 64, 64, 64, 128)) -> Area:
        """Make one or two whole folios in a new mapping, and write to all pages."""
        folio = self.rng.choice(sizes)
        if self.folio != folio:
            self.set_folio(folio)
        count = min(self.folio_pages * self.rng.choice([1, 1, 2]), SLOT_PAGES // 2)
        where = Range(self.rng.choice(USUAL), self.rng.choice([0, 0, SLOT_PAGES // 2]), count)
        area = self.put(actor, where, "anon")
        self.add("write", actor, range=where)
        return area

    def put(self, actor: int, where: Range, kind: str) -> Area:
        """Map these pages."""
        self.add("map", actor, range=where, word=kind)
        area = Area(where, kind)
        self.areas[actor].append(area)
        return area

    def set_folio(self, kib: int) -> None:
        """Set the size of new folios."""
        self.folio = kib
        self.add("folio", number=kib)

    def first_half(self, where: Range) -> Range:
        """Return the first half of the first folio of a range."""
        return replace(where, count=max(1, min(where.count, self.folio_pages) // 2))

    def second_half(self, where: Range) -> Range:
        """Return the second half of the first folio of a range."""
        first = self.first_half(where)
        return replace(first, page=first.end)

    def fork(self, actor: int) -> int | None:
        """Fork a child. Return its number, or None at the maximum number of processes."""
        if not self.unborn:
            return None
        child = self.unborn[0]
        self.add("fork", actor, number=child)
        self.areas[child] = list(self.areas[actor])
        return child

    def exit(self, actor: int) -> None:
        """End the process, unless it is the last one."""
        if len(self.areas) > 1:
            self.add("exit", actor)
            del self.areas[actor]

    def move(self, actor: int, area: Area, what: Range, to: Range | None = None) -> None:
        """Move pages of an area to this or any address; if all pages move, remove the area."""
        to = to or self.target(what)
        keep = area.kind == "anon" and self.rng.random() < 0.12
        self.add("move", actor, range=what, to=to, word="keep" if keep else "move")
        if what == area.where and not keep:
            self.areas[actor] = [other for other in self.areas[actor] if other is not area]
        self.areas[actor].append(Area(replace(what, slot=to.slot, page=to.page), area.kind))

    def target(self, what: Range) -> Range:
        """Return an address for a move, with the same or another offset within a folio."""
        rng = self.rng
        shift = rng.choice([0, 0, 0, 16, 1, -1, 3, 512, rng.randint(-64, 64)])
        return Range(rng.choice(USUAL), max(0, min(SLOT_PAGES - what.count, what.page + shift)))

    def low(self, what: Range) -> Range:
        """Return an address so low that the folio of these pages would begin below address 0."""
        before = what.page % self.folio_pages
        return Range(LOW, self.rng.choice([0, 0, 1, max(before - 1, 0), self.rng.randint(0, 16)]))

    def word(self, actor: int, where: Range) -> None:
        """Write one word of each page, often at the edge of a group that is read together."""
        number = self.rng.choice([self.rng.choice(WORDS), self.rng.randrange(PAGE_WORDS)])
        self.add("word", actor, range=where, number=number)


def pick(rng: random.Random, weights: Mapping[T, float]) -> T:
    """Pick a key with a probability proportional to its weight."""
    return rng.choices(list(weights), list(weights.values()))[0]
