# SPDX-License-Identifier: GPL-2.0
"""The excuses of KSM: what ksmd may merge differently on side b, which has the KSM series.

With the series, an item that leaves the stable tree starts anew, without its old checksum and age.
So a page that was merged and then written to is merged again a pass later than on side a, or
earlier with smart scan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from quire.fuzz.difference import tracking
from quire.fuzz.difference.excuses import Excuses, Rule
from quire.fuzz.difference.tracking import TrackedPage
from quire.fuzz.language.program import Op
from quire.fuzz.language.record import Page

# These write to pages, and so unmerge them; mlock() writes where writing is allowed.
WRITING = {"write", "same", "word", "lock", "resize"}
WRITING_ADVICE = {"populate-write", "unmergeable"}
# How many mappings share one KSM page at most (ksmd's initial max_page_sharing).
MAX_SHARING = 256
# Passes after which ksmd has merged again all that it can.
SETTLED = 6
# Letters of a page's state that merging takes away: mapped once, of a large folio.
_MERGING = "xL"
# The letter that depends on which of equal pages is shared: the others become lazyfree if that is.
_LAZY = "z"


@dataclass
class KsmExcuses:
    """Tracks the pages that ksmd may have treated differently on the two sides."""

    excuses: Excuses
    # Pages that have differed because another one of their content is shared.
    apart: set[TrackedPage] = field(default_factory=set)
    # Pages that one side has merged and the other has not merged yet.
    late: set[TrackedPage] = field(default_factory=set)
    # The pages that were late one operation ago.
    before: set[TrackedPage] = field(default_factory=set)
    # Pages that one side has merged; the other side had not, and so could swap them.
    away: set[TrackedPage] = field(default_factory=set)
    # One side alone has merged some page at some time.
    ever: bool = False
    # ksmd has passed; something was written after that; passes since the last write.
    passed: bool = False
    unmerged: bool = False
    since: int = 0
    smart: bool = False
    # A mapping moved.
    moved: bool = False
    # The program took a reference to some page.
    held: bool = False
    # More mappings were merged than one KSM page can have.
    crowded: bool = False

    @property
    def ages(self) -> bool:
        """Whether smart scan may take a page for an old one, and skip it, on side a only.

        Then the sides may differ, for all pages of that content in any process, in which page is
        merged and with which others reclaim finds it.
        """
        return self.smart and self.unmerged

    @property
    def settled(self) -> bool:
        """Whether ksmd has merged all that it can, and the same on both sides.

        A held page cannot be merged. If ksmd meets it first, it blocks all pages of its content in
        each pass, unless others were merged before. A KSM page that has as many mappings as
        allowed takes no more, so a page that comes a pass later may come too late.
        """
        return self.since >= SETTLED and not self.held and not self.crowded

    @property
    def unlike(self) -> set[TrackedPage]:
        """Pages that differ between the sides."""
        return self.apart | self.late | self.away

    def apply(self, op: Op, outcome: str) -> None:
        """Follow one operation."""
        self.passed |= op.verb == "ksm"
        self.moved |= op.verb == "move"
        self.held |= op.verb in ("hold", "pin")
        self.smart |= op.verb == "smart" and op.word == "on"
        self.since += op.number if op.verb == "ksm" else 0
        if op.verb in WRITING or op.word in WRITING_ADVICE:
            self.unmerged |= self.passed
            self.since = 0
        self.crowded |= merged(outcome) >= MAX_SHARING
        if tracking.empties(op):
            where = tracking.within(op.actor, op.range)
            for known in (self.apart, self.away):
                known.difference_update(where)
        tracking.follow((self.apart, self.away), op, outcome)

    def start_step(self) -> None:
        """Start a new step: forget which pages are late, but for one operation."""
        self.before, self.late = self.late, set()

    def excuse(self, page: TrackedPage, a: Page, b: Page) -> Rule | None:
        """The rule of KSM that covers a page's difference, if one does and it applies."""
        if Rule.MERGED_LATER in self.excuses and self._later(page, a, b):
            self.ever = True
            self.late.add(page)
            return Rule.MERGED_LATER
        rule = self._reclaimed(a, b)
        if rule in self.excuses:
            self.away.add(page)
            return rule
        if self.away and _mergeable(a) and _as_merged(a) == _as_merged(b):
            return Rule.FOLLOWS  # one side shares it, the other read it from swap for each mapping
        return None

    def counts_differ(self, a: str, b: str) -> bool:
        """Whether a pass of ksmd may count pages differently.

        KSM pages without mappings, or that are held, go later. With more mappings than a KSM page
        can have, there may be one page more, with the same sum.
        """
        same = merged(a) == merged(b) != 0
        may = self.ever or (self.unmerged and (same or self.held))
        return may and Rule.MERGED_LATER in self.excuses

    def _later(self, page: TrackedPage, a: Page, b: Page) -> bool:
        """Whether one side has merged the page, and the other need not have yet."""
        if a == b:
            return True
        if _merged_and_swapped(a, b):
            if self.ages or page in self.before | self.away:
                self.away.add(page)
                return True
            return False
        if not self._differ_in_merging(a, b):
            return False
        differ = a.differs_in(b)
        if _LAZY in differ or differ == {"L"}:
            self.apart.add(page)
        return True

    def _differ_in_merging(self, a: Page, b: Page) -> bool:
        """Whether only one is merged, or another page is the shared one, where that is excused."""
        if not self.unmerged or not a.content or _as_merged(a) != _as_merged(b):
            return False
        alone = ["x" in page.state for page in (a, b)]
        if a.without("L") == b.without("L"):
            return True  # one side split a folio to merge a page that the other side did not meet
        lazy = _LAZY in a.differs_in(b)
        if a.without(_LAZY) == b.without(_LAZY) or (lazy and all(alone)):
            return not any(alone)
        return not self.settled or (self.ages and alone == [True, False])

    def _reclaimed(self, a: Page, b: Page) -> Rule | None:
        """The rule by which reclaim on one side alone may find a merged page, if one matches."""
        if not self.passed or not self.moved or not _merged_and_swapped(a, b):
            return None
        return Rule.FOUND if a.state[0] == "p" else None


def merged(outcome: str) -> int:
    """Of passes of ksmd: how many mappings share KSM pages, whatever the number of pages."""
    counts = re.fullmatch(r"shared=(\d+) sharing=(\d+)", outcome)
    return sum(map(int, counts.groups())) if counts else 0


def _as_merged(page: Page) -> Page:
    """The page without what merging changes, if KSM can merge it."""
    return page.without(_MERGING + _LAZY) if _mergeable(page) else page


def _mergeable(page: Page) -> bool:
    """Whether other pages can have its content: written by `same`, or all zero."""
    return page.content.startswith("k") or page.content == "0"


def _merged_and_swapped(one: Page, other: Page) -> bool:
    """Whether one side has a page for KSM in memory, and the other has it in swap, unread."""
    there, away = (one, other) if "s" in other.state else (other, one)
    same = _mergeable(there) and not away.content
    bits = there.without(_MERGING).state.replace("p", "s")
    return same and bits == away.without(_MERGING).state
