# SPDX-License-Identifier: GPL-2.0
"""What KSM may merge otherwise on the series: what is followed of it, and what that excuses.

An item that leaves the stable tree starts anew with the series. So a page that was merged and
written to since is merged again a pass later, or earlier with smart scan, than on stock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from quire.fuzz.language.program import Op
from quire.fuzz.language.record import Page
from quire.fuzz.oracle import tracking
from quire.fuzz.oracle.tracking import Place

# What writes to pages, and so takes merged ones apart: mlock() does where writing is allowed.
WRITING = {"write", "same", "word", "lock", "resize"}
WRITING_ADVICE = {"populate-write", "unmergeable"}
# So many places one page can have (max_page_sharing, which ksmd starts with).
MAX_SHARING = 256
# Passes after which ksmd has merged again what it can.
SETTLED = 6
# Letters of a page's state that merging takes away: mapped once, of a large folio.
_MERGING = "xL"
# What depends on which of equal pages is shared: soft-dirty and uffd-wp, which the others lose (on
# stock, too), and whether it is lazyfree, which they become.
_LOST = "dwz"


@dataclass
class Merging:
    """What ksmd may have made of pages on one kernel alone."""

    # Pages that have differed in what depends on which one is shared.
    apart: set[Place] = field(default_factory=set)
    # Pages that are merged on one kernel and not yet on the other.
    late: set[Place] = field(default_factory=set)
    # Those that were so one operation ago.
    before: set[Place] = field(default_factory=set)
    # Pages that are merged on one kernel and were not, and so could be swapped, on the other.
    away: set[Place] = field(default_factory=set)
    # Pages that are soft-dirty on one kernel alone, since another of their content is shared.
    soft: set[Place] = field(default_factory=set)
    # Pages of mergeable mappings; whether some were taken out of them.
    mergeable: set[Place] = field(default_factory=set)
    taken_out: bool = False
    # Some have ever been merged on one kernel alone.
    ever: bool = False
    # ksmd has passed; something was written since; how often it has passed after that.
    passed: bool = False
    unmerged: bool = False
    since: int = 0
    smart: bool = False
    # A mapping moved.
    moved: bool = False
    # A reference was taken to some page.
    held: bool = False
    # More places were merged than one page can have.
    crowded: bool = False

    @property
    def ages(self) -> bool:
        """Whether smart scan may take a page for an old one on stock alone.

        Which page is merged, and with whom reclaim finds it, may differ then for all of its
        content, in whatever process.
        """
        return self.smart and self.unmerged

    @property
    def settled(self) -> bool:
        """Whether ksmd has merged all that it can, and the same on both kernels.

        A page that is held cannot be merged. If ksmd meets it first, it spoils that for all of
        its content, in each pass, unless others were merged before. A page that has as many
        places as it can have takes no more, and who comes a pass later may come too late.
        """
        return self.since >= SETTLED and not self.held and not self.crowded

    @property
    def unlike(self) -> set[Place]:
        """Pages that are not the same on both kernels."""
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
        where = tracking.within(op.actor, op.range)
        self.taken_out |= op.word == "unmergeable"
        if op.word == "mergeable":
            self.mergeable |= where
        elif op.word == "unmergeable" or tracking.remaps(op):
            self.mergeable -= where
        if tracking.empties(op):
            for known in (self.apart, self.soft, self.away):
                known.difference_update(where)
        elif op.verb == "clear-refs" and op.number == 4:
            self.soft -= {place for place in self.soft if place[0] == op.actor}
        tracking.follow((self.apart, self.soft, self.away, self.mergeable), op, outcome)

    def look(self) -> None:
        """What is late now is to be seen anew."""
        self.before, self.late = self.late, set()

    def later(self, place: Place, stock: Page, patched: Page) -> bool:
        """Whether one kernel has merged the page and the other one need not yet."""
        if not self._later(place, stock, patched):
            return False
        self.ever = True
        self.late.add(place)
        return True

    def _later(self, place: Place, stock: Page, patched: Page) -> bool:
        if place in self.soft:
            stock, patched = stock.without("d"), patched.without("d")
        if stock == patched:
            return True
        if _merged_and_swapped(stock, patched):
            if self.ages or place in self.before | self.away:
                self.away.add(place)
                return True
            return False
        if not self._otherwise(stock, patched):
            return False
        differ = stock.differs_in(patched)
        if differ & {"w", "z"} or differ == {"L"}:
            self.apart.add(place)
        elif "d" in differ:
            self.soft.add(place)
        return True

    def _otherwise(self, stock: Page, patched: Page) -> bool:
        """Whether the pages differ in being merged, or in which one is shared, and may."""
        if not self.unmerged or not stock.content or _as_merged(stock) != _as_merged(patched):
            return False
        alone = ["x" in page.state for page in (stock, patched)]
        if stock.without("L") == patched.without("L"):
            return True  # one was split to be merged, with a page that the other did not meet
        lost = stock.differs_in(patched) & {*_LOST}
        if stock.without(_LOST) == patched.without(_LOST) or (lost and all(alone)):
            return not any(alone)
        return not self.settled or (self.ages and alone == [True, False])

    def reclaimed(self, place: Place, stock: Page, patched: Page) -> str:
        """The name of what explains that one kernel alone found a merged page; empty if nothing."""
        if self.passed and self.moved and _merged_and_swapped(stock, patched):
            there = stock.state[0] == "p"
            if there or (self.taken_out and place not in self.mergeable):
                self.away.add(place)
                return "found" if there else "lost"
        if self.away and _mergeable(stock) and _as_merged(stock) == _as_merged(patched):
            return "follows"  # shared on one kernel, read from swap by each on the other
        return ""

    def counts_differ(self, stock: str, patched: str) -> bool:
        """Whether ksmd may count pages otherwise: those without places, or that somebody holds, go
        later; one more is needed for more places than a page can have, with the same sum then.
        """
        same = merged(stock) == merged(patched) != 0
        return self.ever or (self.unmerged and (same or self.held))


def merged(outcome: str) -> int:
    """Of passes of ksmd: how many places are merged, whatever the number of pages for them."""
    counts = re.fullmatch(r"shared=(\d+) sharing=(\d+)", outcome)
    return sum(map(int, counts.groups())) if counts else 0


def _as_merged(page: Page) -> Page:
    """What does not depend on whether it is merged, for pages that can be."""
    return page.without(_MERGING + _LOST) if _mergeable(page) else page


def _mergeable(page: Page) -> bool:
    """Whether others can have its content: written to be the same, or all zero."""
    return page.content.startswith("k") or page.content == "0"


def _merged_and_swapped(one: Page, other: Page) -> bool:
    """Whether one kernel has a page for KSM in memory and the other in swap, where none is read."""
    there, away = (one, other) if "s" in other.state else (other, one)
    same = _mergeable(there) and not away.content
    bits = there.without(_MERGING).state.replace("p", "s")
    return same and bits == away.without(_MERGING).state
