# SPDX-License-Identifier: GPL-2.0
"""The excuses of UFFDIO_MOVE: side b moves a large folio whole, and side a splits it.

From then on side a has small folios: each is dirty, reclaimed, held and given up by itself. On side
b all of that is one for the folio. Contents and protection are compared as before.
"""

from dataclasses import dataclass, field

from quire.fuzz.difference.excuses import Excuses, Rule
from quire.fuzz.language.program import Op
from quire.fuzz.language.record import Page
from quire.fuzz.language.tracker import Address


@dataclass
class TakenExcuses:
    """The pages that UFFDIO_MOVE has moved, and those of them that differ with an excuse."""

    excuses: Excuses
    taken: set[Address] = field(default_factory=set)
    apart: set[Address] = field(default_factory=set)
    keeps: bool = False  # the program has held, pinned or locked a page

    def apply(self, op: Op) -> None:
        """Follow one operation, before the pages that it moves."""
        self.keeps |= op.entry.holds or op.verb == "lock"

    def excuse(self, page: Address, a: Page, b: Page, *, lazy: bool) -> Rule | None:
        """The rule if it covers a page's difference; `lazy`: the program has given the page up."""
        if Rule.TAKEN not in self.excuses or page not in self.taken:
            return None
        if not (_whole(a, b, lazy=lazy) or (page in self.apart and _by_itself(a, b, lazy=lazy))):
            return None
        self.apart.add(page)
        return Rule.TAKEN

    def ends_elsewhere(self, pages: set[Address], a: str) -> Rule | None:
        """The rule if a `take` that came to `a` on side a may end elsewhere on side b."""
        if Rule.TAKEN_HELD not in self.excuses:
            return None
        held = self.keeps and a.startswith("EBUSY")
        return Rule.TAKEN_HELD if held or pages & self.apart else None

    def counts_differ(self, op: Op, pages: set[Address], *, freed: bool) -> bool:
        """Whether an operation on these pages may come to something else.

        `freed`: pages were given up, and one side alone may have dropped some, as `warm` reads.
        """
        return bool(pages & self.apart) and (freed or op.entry.counts)


def _whole(a: Page, b: Page, *, lazy: bool) -> bool:
    """Whether side b alone has a large folio, with the same page."""
    if _zero_page(a) and b.content == "0":
        return a.without("od").state == b.without("xLdz" if lazy else "xLd").state
    return "L" in b.state and a == b.without("L")


def _zero_page(page: Page) -> bool:
    """What a page of zeroes becomes by the split: it is not soft-dirty, nor swapped."""
    return "o" in page.state and page.content == "0"


def _by_itself(a: Page, b: Page, *, lazy: bool) -> bool:
    """Whether one side alone may have swapped a page, dropped it, or made a folio of it."""
    told = a.content == b.content or not (a.content and b.content)
    where = {a.state[0], b.state[0]}
    if told and where == {*"ps"}:
        kept = ("od" if _zero_page(a) else "") + ("z" if lazy else "")
        return a.without(f"psxL{kept}").state == b.without(f"psxL{kept}").state
    if a.without("L") == b.without("L"):
        return True
    # A clean page of a dirty folio stays with it.
    return lazy and (a.empty or (told and a.without("zL").state == b.without("zL").state))
