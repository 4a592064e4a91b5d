# SPDX-License-Identifier: GPL-2.0
"""The excuses of KSM: what ksmd may merge differently on side b, which has the KSM series.

With the series, an item that leaves the stable tree loses its old checksum and age. So a page that
was merged, and then written or swapped in, is merged again one pass later than on side a, or
earlier with smart scan. TABLE lists what may differ in each phase of a program.
"""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum, auto

from quire.fuzz.difference.excuses import Excuses, Rule
from quire.fuzz.language.program import Address, Op
from quire.fuzz.language.record import PageState

MAX_SHARING = 256  # how many mappings share one KSM page at most (ksmd's initial max_page_sharing)
SETTLED = 6  # passes after which ksmd has merged everything again
# The same with smart scan: an old page is scanned in one of nine passes, and two must meet.
SMART_SETTLED = 27
_MERGING = "xL"  # letters of a page's state that merging removes: mapped once, in a large folio
# This letter depends on which of several equal pages is kept: if that is lazyfree, all are.
_LAZY = "z"


class Phase(Enum):
    """Phases of a program that determine how ksmd may treat its pages differently."""

    # Both sides have merged the same pages: nothing left them after a pass.
    TOGETHER = auto()
    # Merged pages were written or swapped in: each side merges them again at a different time.
    LATER = auto()
    # ksmd has merged everything again, the same on both sides.
    SETTLED = auto()
    # Smart scan may take a page for an old one, and skip it, on side a only. Then the sides may
    # differ, for all pages of that content in any process, in which page is merged and with which
    # others reclaim finds it.
    SKIPPING = auto()
    SKIPPING_SETTLED = auto()


class How(Enum):
    """How a page that KSM can merge differs between the sides."""

    # One side has it in memory, the other in swap, unread, because it merged the page later before.
    SWAPPED = auto()
    SWAPPED_AFTER = auto()
    # One side split a folio to merge a page that the other side did not meet.
    SPLIT = auto()
    # The sides kept different ones of equal pages, of which one is lazyfree.
    LAZY = auto()
    # One side has merged it; side b alone has merged it.
    MERGED = auto()
    MERGED_ON_B = auto()


_OFTEN = {How.SWAPPED_AFTER, How.SPLIT, How.LAZY}
# What may differ in each phase by the rule MERGED_LATER: in pages, and whether all sums of smaps
# may, or only shares of merged pages. All else is compared.
TABLE: Mapping[Phase, tuple[Set[How], bool]] = {
    Phase.TOGETHER: ({How.SWAPPED_AFTER}, False),
    Phase.LATER: (_OFTEN | {How.MERGED, How.MERGED_ON_B}, False),
    Phase.SETTLED: (_OFTEN, False),
    Phase.SKIPPING: (_OFTEN | {How.SWAPPED, How.MERGED, How.MERGED_ON_B}, True),
    Phase.SKIPPING_SETTLED: (_OFTEN | {How.SWAPPED, How.MERGED_ON_B}, True),
}


@dataclass
class KsmExcuses:
    """Tracks the pages that ksmd may have treated differently on the two sides."""

    excuses: Excuses
    # Pages that have differed because another one of their content is shared.
    apart: set[Address] = field(default_factory=set)
    # Pages that one side has merged and the other has not merged yet.
    late: set[Address] = field(default_factory=set)
    # The pages that were late one operation ago.
    before: set[Address] = field(default_factory=set)
    # Pages that one side has merged; the other side had not, and so could swap them.
    away: set[Address] = field(default_factory=set)
    ever: bool = False  # one side alone has merged a page
    # ksmd has passed; a merged page was unmerged after that; passes since the last time.
    passed: bool = False
    unmerged: bool = False
    since: int = 0
    out: bool = False  # merged pages may have been swapped out
    back: bool = False  # and ksmd may have met them again
    smart: bool = False
    moved: bool = False  # a mapping moved
    held: bool = False  # the program took a reference to some page
    crowded: bool = False  # more mappings were merged than one KSM page may have

    @property
    def phase(self) -> Phase:
        """The phase of the program.

        A page with extra references cannot be merged, and may block all equal pages in each pass.
        A KSM page with the maximum number of mappings takes no more: a page may come too late, or
        be merged into another one, which may be locked.
        """
        if not self.unmerged and not self.crowded:
            return Phase.TOGETHER
        passes = SMART_SETTLED if self.smart else SETTLED
        settled = self.since >= passes and not self.held and not self.crowded
        if self.smart or self.crowded:
            return Phase.SKIPPING_SETTLED if settled else Phase.SKIPPING
        return Phase.SETTLED if settled else Phase.LATER

    @property
    def merges_apart(self) -> bool:
        """Whether the sides may have merged a page with different pages, or at different times."""
        return self.phase is not Phase.TOGETHER and Rule.MERGED_LATER in self.excuses

    @property
    def unlike(self) -> set[Address]:
        """Pages that differ between the sides."""
        return self.apart | self.late | self.away

    def apply(self, op: Op, outcome: str) -> None:
        """Follow one operation."""
        self.passed |= op.verb == "ksm"
        self.moved |= op.verb == "move"
        self.held |= op.entry.holds
        self.smart |= op.verb == "smart" and op.word == "on"
        self.since += op.number if op.verb == "ksm" else 0
        self.back |= op.verb == "ksm" and self.out
        entry = op.entry
        self.out |= self.passed and entry.reclaims
        self.unmerged |= (self.passed and entry.unmerges) or self.back
        if entry.unmerges or entry.reclaims:
            self.since = 0
        self.crowded |= merged(outcome) >= MAX_SHARING

    def excuse(self, page: Address, a: PageState, b: PageState) -> Rule | None:
        """Return the rule of KSM that covers a page's difference, if one does and it applies."""
        how = self._how(page, a, b)
        swapped = how in (How.SWAPPED, How.SWAPPED_AFTER)
        if how in TABLE[self.phase][0] and Rule.MERGED_LATER in self.excuses:
            self.ever = True
            self.late.add(page)
            if swapped:
                self.away.add(page)
            elif how is How.SPLIT or _LAZY in a.differs_in(b):
                self.apart.add(page)
            return Rule.MERGED_LATER
        reached = swapped and a.state[0] == "p" and self.passed and self.moved
        if reached and Rule.FOUND in self.excuses:
            self.away.add(page)
            return Rule.FOUND
        if self.away and _mergeable(a) and _as_merged(a) == _as_merged(b):
            return Rule.FOLLOWS  # one side shares it, the other read it from swap for each mapping
        return None

    def counts_differ(self, a: str, b: str) -> bool:
        """Return whether a pass of ksmd may count pages differently, because some are merged later.

        With more mappings than a KSM page may have, there may be one more page with the same sum.
        """
        same = merged(a) == merged(b) != 0
        may = self.ever or (self.unmerged and (same or self.held))
        return may and Rule.MERGED_LATER in self.excuses

    def _how(self, page: Address, a: PageState, b: PageState) -> How | None:
        if _merged_and_swapped(a, b):
            return How.SWAPPED_AFTER if page in self.before | self.away else How.SWAPPED
        if not a.content or _as_merged(a) != _as_merged(b):
            return None
        if a.without("L") == b.without("L"):
            return How.SPLIT
        alone = "x" in a.state, "x" in b.state
        lazy = _LAZY in a.differs_in(b)
        if a.without(_LAZY) == b.without(_LAZY) or (lazy and all(alone)):
            return None if any(alone) else How.LAZY
        return How.MERGED_ON_B if alone == (True, False) else How.MERGED


def merged(outcome: str) -> int:
    """Return how many mappings share KSM pages after passes of ksmd."""
    counts = re.fullmatch(r"shared=(\d+) sharing=(\d+)", outcome)
    return sum(map(int, counts.groups())) if counts else 0


def _as_merged(page: PageState) -> PageState:
    """Return the page without what merging changes, if KSM can merge it."""
    return page.without(_MERGING + _LAZY) if _mergeable(page) else page


def _mergeable(page: PageState) -> bool:
    """Return whether other pages can have its content: written by `same`, or all zero."""
    return page.content.startswith("k") or page.content == "0"


def _merged_and_swapped(a: PageState, b: PageState) -> bool:
    """Return whether one side has a page for KSM in memory, and the other in swap, unread."""
    present, away = (a, b) if "s" in b.state else (b, a)
    same = _mergeable(present) and not away.content
    bits = present.without(_MERGING).state.replace("p", "s")
    return same and bits == away.without(_MERGING).state
