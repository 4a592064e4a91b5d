# SPDX-License-Identifier: GPL-2.0
"""What a program did, as far as it explains that a page is not the same on both kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from quire.fuzz.language.program import Op, Range
from quire.fuzz.language.record import Page, Step, pages
from quire.fuzz.oracle import tracking
from quire.fuzz.oracle.ksm import Merging
from quire.fuzz.oracle.tracking import Place


@dataclass
class Model:
    """Pages given up by MADV_FREE, and what follows from them; `merging` has KSM's part."""

    merging: Merging = field(default_factory=Merging)
    lazy: set[Place] = field(default_factory=set)
    # Pages of droppable mappings, of which stock and the series make the same.
    droppable: set[Place] = field(default_factory=set)
    # Pages that have differed, with an excuse.
    apart: set[Place] = field(default_factory=set)
    # What was seen of both kernels after each operation so far.
    seen: list[tuple[Step, Step]] = field(default_factory=list)
    # A reference was given back that was taken to a page.
    let_go: bool = False
    # Pages were given up; something was written, or reclaimed, since.
    freed: bool = False
    written: bool = False
    reclaimed: bool = False

    @property
    def held(self) -> bool:
        """Whether a reference was taken to some page."""
        return self.merging.held

    @property
    def unlike(self) -> set[Place]:
        """Pages that are not the same on both kernels, for whatever reason."""
        return self.apart | self.merging.unlike

    def apply(self, op: Op, outcome: str) -> None:
        """Follow one operation."""
        outcome = outcome.partition(" before=")[0]
        self.merging.apply(op, outcome)
        where = tracking.within(op.actor, op.range)
        self.let_go |= self.held and op.verb in ("drop", "exit")
        self.freed |= op.word in ("free", "droppable")
        if op.verb in ("write", "same", "word"):
            self.written |= self.freed
            if outcome.endswith("segv=0 bus=0"):
                self.lazy -= where
        elif op.word == "free":
            self.lazy |= where
        if tracking.empties(op):
            self.lazy -= where
            self.apart -= where
        if tracking.remaps(op):
            self.droppable -= where
            self.droppable |= where if op.word == "droppable" else set()
        tracking.follow((self.lazy, self.apart, self.droppable), op, outcome)
        if op.verb == "reclaim" or op.word == "pageout":
            self.reclaimed |= self.freed

    def written_in_the_end(self, actor: int) -> None:
        """The last of a program's operations: a process has written to all of its pages."""
        self.lazy = {place for place in self.lazy if place[0] != actor}

    def excuse(self, place: Place, stock: Page, patched: Page) -> str:
        """The name of the explanation that covers a page's difference; empty if none does."""
        if place in self.apart or place in self.merging.apart:
            return "follows"
        if self._given_up(place, stock, patched):
            return "held" if self.held else "dropped in part"
        if self.merging.later(place, stock, patched):
            return "merged later"
        reclaimed = self.merging.reclaimed(place, stock, patched)
        if reclaimed:
            return reclaimed
        if self._back_from_swap(place, stock, patched):
            return "slots"
        near = any((who, slot) == place[:2] for who, slot, _ in self.unlike)
        alike = stock.empty == patched.empty and _same_bits(stock, patched)
        return "follows" if near and alike and _same_content(stock, patched) else ""

    def _given_up(self, place: Place, stock: Page, patched: Page) -> bool:
        """Whether the page is lazyfree, and may be there on one kernel alone, or still lazyfree.

        It is by what the program did or by what the kernel says: a process can give up a page that
        another one maps, too. While somebody holds it, it stays.
        """
        lazy = place in self.lazy or "z" in stock.state or "z" in patched.state
        if not lazy or place in self.droppable:
            return False
        if stock.empty or patched.empty:
            return self.written or (self.held and self.let_go)
        kept = self.held or self.written
        return kept and _same_bits(stock, patched) and _same_content(stock, patched)

    def _back_from_swap(self, place: Place, stock: Page, patched: Page) -> bool:
        """Whether the page was in swap, where it went alone, and is of a large folio now on one
        kernel only.
        """
        if stock.without("L") != patched.without("L"):
            return False
        return all(_swapped_alone(seen, place) for seen in zip(*self.seen, strict=True))

    def touches(self, op: Op) -> bool:
        """Whether an operation's outcome can depend on pages that are not the same."""
        return bool(tracking.touched(op) & self.unlike if op.range else self.unlike)

    def apart_in(self, actor: int, slot: str = "") -> bool:
        """Whether a process has pages that are not the same, in that slot or any."""
        return any(who == actor and slot in ("", where) for who, where, _ in self.unlike)


def _swapped_alone(steps: Sequence[Step], place: Place) -> bool:
    """Whether a page was in swap after the last of these, and not of a large folio before."""
    actor, slot, page = place
    key, at = f"m {actor} {slot}", Range(slot, page)
    known = None
    for step in reversed(steps):
        before = pages(step.states[key], slot).get(at) if key in step.states else None
        if not before or "s" not in before.state:
            # If it is not known from where it came, it has moved while in swap.
            return bool(known) and not (before and "L" in before.state)
        known = before
    return bool(known)


def _same_bits(one: Page, other: Page) -> bool:
    """Whether they are both soft-dirty or not, and write-protected by userfaultfd or not."""
    return not one.differs_in(other) & {*"dw"}


def _same_content(one: Page, other: Page) -> bool:
    """Whether they do, as far as it was read: what is not there was not."""
    return one.content == other.content or not (one.content and other.content)
