# SPDX-License-Identifier: GPL-2.0
"""What a program did, as far as it explains why a page differs between the sides.

Side b has the series and side a does not: the rules know the direction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quire.fuzz.difference import tracking
from quire.fuzz.difference.excuses import Excuses, Rule
from quire.fuzz.difference.ksm import KsmExcuses
from quire.fuzz.difference.tracking import TrackedPage
from quire.fuzz.language.program import Op, Range
from quire.fuzz.language.record import Page, Step, pages


@dataclass
class Model:
    """Pages given up by MADV_FREE, and pages that differ with an excuse; `ksm` has KSM's part."""

    excuses: Excuses
    ksm: KsmExcuses = field(init=False)
    lazy: set[TrackedPage] = field(default_factory=set)
    # Pages of droppable mappings, which both sides treat alike.
    droppable: set[TrackedPage] = field(default_factory=set)
    # Pages that have differed, with an excuse.
    apart: set[TrackedPage] = field(default_factory=set)
    # What was seen on both sides after each operation so far.
    seen: list[tuple[Step, Step]] = field(default_factory=list)
    # The program dropped a reference that it had taken to a page.
    let_go: bool = False
    # Pages were given up; something was written, or reclaimed, after that.
    freed: bool = False
    written: bool = False
    reclaimed: bool = False
    # Entries were changed or moved, which can be done in batches.
    changed: bool = False
    # A process forked: pages were shared with another, which may be gone.
    forked: bool = False

    def __post_init__(self) -> None:
        self.ksm = KsmExcuses(self.excuses)

    @property
    def held(self) -> bool:
        """Whether the program took a reference to some page."""
        return self.ksm.held

    @property
    def unlike(self) -> set[TrackedPage]:
        """Pages that differ between the sides, with an excuse."""
        return self.apart | self.ksm.unlike

    def apply(self, op: Op, outcome: str) -> None:
        """Follow one operation."""
        outcome = outcome.partition(" before=")[0]
        self.ksm.apply(op, outcome)
        where = tracking.within(op.actor, op.range)
        self.let_go |= self.held and op.verb in ("drop", "exit")
        self.freed |= op.word in ("free", "droppable")
        self.changed |= op.verb in ("protect", "wp", "unwp", "rwp", "unrwp", "move")
        self.forked |= op.verb in ("fork", "crowd")
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
        """Follow the end of a program, where a process writes to all of its pages."""
        self.lazy = {page for page in self.lazy if page[0] != actor}

    def excuse(self, page: TrackedPage, a: Page, b: Page) -> Rule | None:
        """The rule that covers a page's difference, if one does and it applies."""
        if page in self.apart or page in self.ksm.apart:
            return Rule.FOLLOWS
        rule = self._given_up(page, a, b) or self.ksm.excuse(page, a, b)
        if rule:
            return rule
        if self._back_from_swap(page, a, b):
            return Rule.SLOTS
        if rule := self._kept_whole(a, b):
            return rule
        near = any((actor, slot) == page[:2] for actor, slot, _ in self.unlike)
        alike = a.empty == b.empty and _same_bits(a, b) and _same_content(a, b)
        return Rule.FOLLOWS if near and alike else None

    def _given_up(self, page: TrackedPage, a: Page, b: Page) -> Rule | None:
        """The rule by which a lazyfree page may be there on one side only, or still be lazyfree.

        The program or the kernel says which pages are lazyfree: a process can give up a page that
        another process maps, too. A held page stays.
        """
        lazy = page in self.lazy or "z" in a.state or "z" in b.state
        if not lazy or page in self.droppable:
            return None
        gone = a.empty or b.empty
        if not gone and not (_same_bits(a, b) and _same_content(a, b)):
            return None
        causes = {
            Rule.HELD: self.held and (self.let_go or not gone),
            Rule.DROPPED_IN_PART: self.written,
        }
        return self._first(causes)

    def _back_from_swap(self, page: TrackedPage, a: Page, b: Page) -> bool:
        """Whether the page left for swap as a small folio, and one side alone brought it back as
        part of a large one.
        """
        if a.without("L") != b.without("L"):
            return False
        return all(_swapped_alone(seen, page) for seen in zip(*self.seen, strict=True))

    def _kept_whole(self, a: Page, b: Page) -> Rule | None:
        """The rule by which side b alone may still have the large folio, with the same page."""
        if "L" not in b.state or "L" in a.state or a.without("L") != b.without("L"):
            return None
        return self._first({Rule.REUSED: self.forked})

    def _first(self, causes: Mapping[Rule, bool]) -> Rule | None:
        """The first rule that applies and has its cause."""
        return next((rule for rule, yes in causes.items() if yes and rule in self.excuses), None)

    def touches(self, op: Op) -> bool:
        """Whether an operation's outcome can depend on pages that differ."""
        return bool(tracking.touched(op) & self.unlike if op.range else self.unlike)

    def apart_in(self, actor: int, slot: str = "") -> bool:
        """Whether a process has pages that differ, in that slot or in any."""
        return any(who == actor and slot in ("", where) for who, where, _ in self.unlike)


def _swapped_alone(steps: Sequence[Step], page: TrackedPage) -> bool:
    """Whether a page was in swap after the last of these steps, and in a small folio before."""
    actor, slot, number = page
    key, at = f"m {actor} {slot}", Range(slot, number)
    known = None
    for step in reversed(steps):
        before = pages(step.states[key], slot).get(at) if key in step.states else None
        if not before or "s" not in before.state:
            # A page without an earlier state has moved while it was in swap.
            return bool(known) and not (before and "L" in before.state)
        known = before
    return bool(known)


def _same_bits(a: Page, b: Page) -> bool:
    """Whether soft-dirty and uffd-wp agree."""
    return not a.differs_in(b) & {*"dw"}


def _same_content(a: Page, b: Page) -> bool:
    """Whether the contents agree, where both were read: only present pages are."""
    return a.content == b.content or not (a.content and b.content)
