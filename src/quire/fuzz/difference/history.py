# SPDX-License-Identifier: GPL-2.0
"""The history of a program, which may explain why a page differs between the sides.

Side b has the series and side a does not; the rules depend on that. The history of a page moves
with it, and children inherit it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from quire.fuzz.difference.excuses import Excuses, Rule
from quire.fuzz.difference.ksm import KsmExcuses
from quire.fuzz.language.program import Address, Op, addresses, follow, moved, touched
from quire.fuzz.language.record import PageState, StepRecord, pages


@dataclass
class TakenExcuses:
    """Pages moved by UFFDIO_MOVE, and those of them that differ with an excuse."""

    excuses: Excuses
    taken: set[Address] = field(default_factory=set)
    apart: set[Address] = field(default_factory=set)
    keeps: bool = False  # the program has referenced, pinned or locked a page

    def excuse(self, page: Address, a: PageState, b: PageState, *, lazy: bool) -> Rule | None:
        """Return the rule if it covers a page's difference; `lazy`: MADV_FREE freed the page."""
        if Rule.TAKEN not in self.excuses or page not in self.taken:
            return None
        if not (_whole(a, b, lazy=lazy) or (page in self.apart and _by_itself(a, b, lazy=lazy))):
            return None
        self.apart.add(page)
        return Rule.TAKEN

    def ends_elsewhere(self, pages: set[Address], a: str) -> Rule | None:
        """Return the rule if a `take` with outcome `a` on side a may end elsewhere on side b."""
        if Rule.TAKEN_HELD not in self.excuses:
            return None
        held = self.keeps and a.startswith("EBUSY")
        return Rule.TAKEN_HELD if held or pages & self.apart else None

    def counts_differ(self, op: Op, pages: set[Address], *, freed: bool) -> bool:
        """Return whether an operation on these pages may have another outcome.

        `freed`: there are lazyfree pages, and reads by `warm` may show that one side dropped some.
        """
        return bool(pages & self.apart) and (freed or op.entry.counts)


def _whole(a: PageState, b: PageState, *, lazy: bool) -> bool:
    """Return whether side b alone has a large folio, with the same page."""
    if _zero_page(a) and b.content == "0":
        return a.without("od").state == b.without("xLdz" if lazy else "xLd").state
    return "L" in b.state and a == b.without("L")


def _zero_page(page: PageState) -> bool:
    """Return whether a split replaced a page of zeroes: neither soft-dirty nor swapped."""
    return "o" in page.state and page.content == "0"


def _by_itself(a: PageState, b: PageState, *, lazy: bool) -> bool:
    """Return whether only one side may have swapped or dropped a page, or put it in a folio."""
    told = a.content == b.content or not (a.content and b.content)
    where = {a.state[0], b.state[0]}
    if told and where == {*"ps"}:
        kept = ("od" if _zero_page(a) else "") + ("z" if lazy else "")
        return a.without(f"psxL{kept}").state == b.without(f"psxL{kept}").state
    if a.without("L") == b.without("L"):
        return True
    # A clean page of a dirty folio stays with it.
    return lazy and (a.empty or (told and a.without("zL").state == b.without("zL").state))


@dataclass
class History:
    """Lazyfree pages, and pages that differ with an excuse.

    `ksm` tracks pages for KSM, `taken` for UFFDIO_MOVE.
    """

    excuses: Excuses
    ksm: KsmExcuses = field(init=False)
    taken: TakenExcuses = field(init=False)
    lazy: set[Address] = field(default_factory=set)
    # Pages of droppable mappings, which both sides treat alike.
    droppable: set[Address] = field(default_factory=set)
    apart: set[Address] = field(default_factory=set)  # pages that have differed, with an excuse
    differed: bool = False  # there were such pages, or swap entries left by them, which may be gone
    tables: bool = False  # one side has a page table where the other can have a huge mapping
    # The states of both sides after each operation so far.
    seen: list[tuple[StepRecord, StepRecord]] = field(default_factory=list)
    let_go: bool = False  # the program dropped a reference to a page
    # MADV_FREE freed pages, and something was written or reclaimed after that.
    freed: bool = False
    written: bool = False
    reclaimed: bool = False
    changed: bool = False  # PTEs were changed or moved, perhaps in batches
    met: bool = False  # the last operation met pages that differed; it may have emptied them
    forked: bool = False  # a process forked: pages were shared with another, which may be gone

    def __post_init__(self) -> None:
        self.ksm = KsmExcuses(self.excuses)
        self.taken = TakenExcuses(self.excuses)

    @property
    def unlike(self) -> set[Address]:
        """Pages that differ between the sides, with an excuse."""
        return self.apart | self.ksm.unlike

    def apply(self, op: Op, outcome: str) -> None:
        """Record one operation."""
        met = touched(op)
        self.met = bool(met & self.unlike) or self.taken.counts_differ(op, met, freed=self.freed)
        self.ksm.apply(op, outcome)
        self.taken.keeps |= op.entry.holds or op.verb == "lock"
        where = addresses(op.actor, op.range)
        self.let_go |= self.ksm.held and op.verb in ("drop", "exit")
        self.freed |= op.word in ("free", "droppable")
        self.changed |= op.entry.batched
        self.forked |= op.verb in ("fork", "crowd")
        if op.entry.writes:
            self.written |= self.freed
            if outcome.endswith("segv=0 bus=0"):
                self.lazy -= where
        elif op.word == "free":
            self.lazy |= where
        gone = self.lazy, self.apart, self.ksm.apart, self.ksm.away, self.taken.apart
        # The call fails at a locked mapping, and empties nothing after it.
        for known in gone if op.entry.empties and outcome != "EINVAL" else ():
            known.difference_update(where)
        if op.entry.remaps:
            self.droppable -= where
            self.droppable |= where if op.word == "droppable" else set()
        follow((*gone, self.droppable, self.taken.taken), op, outcome)
        if op.verb == "take":
            self.taken.taken |= {(op.actor or 0, *new) for _, new in moved(op, outcome)}
        if op.entry.reclaims:
            self.reclaimed |= self.freed

    def excuse(self, page: Address, a: PageState, b: PageState) -> Rule | None:
        """Return the rule that covers a page's difference, if one does and it applies."""
        if page in self.apart or page in self.ksm.apart:
            return Rule.FOLLOWS
        lazy = page in self.lazy or "z" in a.state or "z" in b.state
        # A lazyfree folio that was partly redirtied and kept stays large on side b alone.
        rule = self.taken.excuse(page, a, b, lazy=lazy or self.freed)
        rule = rule or self._given_up(page, a, b, lazy=lazy) or self.ksm.excuse(page, a, b)
        rule = rule or self._from_swap(page, a, b)
        if rule:
            return rule
        # Side b alone may still have the large folio, lazyfree or not, with the same page. Its last
        # owner also keeps one whose mapping was left huge.
        whole = self.forked and "L" in b.state and a == b.without("zL")
        if whole and (Rule.REUSED in self.excuses or self.put_back):
            return Rule.REUSED if Rule.REUSED in self.excuses else Rule.BITS_OF_A_RUN
        if self.tables and _split_rest(a, b):
            return Rule.BITS_OF_A_RUN
        # A batch of lazyfree pages ends sooner if one of them is in a large folio.
        if lazy and (self.unlike or self.taken.apart) and a.without("z") == b.without("z"):
            return Rule.FOLLOWS
        # A page that one side swaps out before a fork is exclusive after swap-in.
        known = self.forked or "x" not in a.differs_in(b)
        unlike = self.unlike | (self.taken.apart if known else set())
        near = any((actor, slot) == page[:2] for actor, slot, _ in unlike)
        # It may have moved before one side alone split the folio.
        near |= bool(unlike) and _split_rest(a, b)
        # The rest of a folio that was split may be zeroes, which are not swapped.
        rest = "0" in (a.content, b.content) and "s" in (a.state[0], b.state[0])
        alike = (a.empty == b.empty or rest) and _same_bits(a, b) and _same_content(a, b)
        return Rule.FOLLOWS if near and alike else None

    def _from_swap(self, page: Address, a: PageState, b: PageState) -> Rule | None:
        """Return the rule by which a page may have been swapped in differently."""

        def was_there(*, alone: bool) -> bool:
            both = zip(*self.seen, strict=True)
            return all(_swapped(seen, page, alone=alone) for seen in both)

        if a.without("L") == b.without("L") or self._with_others(a, b):
            # It was swapped out in a small folio, and swapped in to a large one on one side alone.
            # Where pages differed, their slots differ, and folios of any size may.
            alone = not (self.differed or self.taken.apart)
            return Rule.SLOTS if was_there(alone=alone) else None
        # It was merged when swapped out, and each side may merge it with other pages.
        shared = self.ksm.merges_apart and a.without("x") == b.without("x")
        return Rule.FOLLOWS if shared and was_there(alone=False) else None

    @property
    def put_back(self) -> bool:
        """Whether reclaim may have restored PTEs that side b left alone."""
        kept = self.reclaimed and (self.written or self.ksm.held)
        return kept and Rule.BITS_OF_A_RUN in self.excuses

    def _with_others(self, a: PageState, b: PageState) -> bool:
        """Return whether one side alone swapped a page in to a large folio."""
        back = {a.state[0], b.state[0]} == {*"ps"} and "L" in a.state + b.state
        return back and bool(self.differed or self.taken.apart) and _same_bits(a, b)

    def _given_up(self, page: Address, a: PageState, b: PageState, *, lazy: bool) -> Rule | None:
        """Return the rule by which one side alone may have a lazyfree page, or have it lazyfree.

        The program or the kernel tells which pages are lazyfree: MADV_FREE may free a page that
        another process maps as well. A page with extra references stays.
        """
        if not lazy or page in self.droppable:
            return None
        gone = a.empty != b.empty or "-" in (a.state[0], b.state[0])
        if not gone and not (_same_bits(a, b) and _same_content(a, b)):
            return None
        if self.ksm.held and (self.let_go or not gone) and Rule.HELD in self.excuses:
            return Rule.HELD
        applies = self.written and Rule.DROPPED_IN_PART in self.excuses
        return Rule.DROPPED_IN_PART if applies else None

    def ends_elsewhere(self, op: Op, a: str, b: str) -> Rule | None:
        """Return the rule if one side may move more pages than the other; then all may differ."""
        if a == b or op.verb != "take":
            return None
        met = touched(op)
        rule = self.taken.ends_elsewhere(met, a)
        rule = rule or (Rule.FOLLOWS if met & self.apart else None)
        self.apart |= met if rule else set()
        return rule

    def touches(self, op: Op) -> bool:
        """Return whether an operation's outcome can depend on pages that differ."""
        return self.met or bool(touched(op) & self.unlike if op.range else self.unlike)

    def apart_in(self, actor: int, slot: str = "") -> bool:
        """Return whether a process has pages that differ, in that slot or in any."""
        unlike = self.unlike | self.taken.apart
        return any(who == actor and slot in ("", where) for who, where, _ in unlike)


def _swapped(steps: Sequence[StepRecord], page: Address, *, alone: bool) -> bool:
    """Return whether a page was in swap after the steps; `alone`: in a small folio before."""
    actor, slot, number = page
    key, known = f"m {actor} {slot}", None
    for step in reversed(steps):
        before = pages(step.states[key]).get(number) if key in step.states else None
        if not before or "s" not in before.state:
            # A page without an earlier state has moved while it was in swap.
            return bool(known) and not (alone and before and "L" in before.state)
        known = before
    return bool(known)


def _split_rest(a: PageState, b: PageState) -> bool:
    """Return whether one side alone has a page in a large folio, and the other in a small one.

    Zero pages are mapped in place of zeroes.
    """
    zeroes = a.content == b.content == "0" and a.differs_in(b) - {*"dx"} == {*"Lo"}
    return zeroes or (a.content == b.content and a.differs_in(b) == {"L"})


def _same_bits(a: PageState, b: PageState) -> bool:
    """Return whether soft-dirty and uffd-wp agree."""
    return not a.differs_in(b) & {*"dw"}


def _same_content(a: PageState, b: PageState) -> bool:
    """Return whether the contents agree, if both were read; only present pages are read."""
    return a.content == b.content or not (a.content and b.content)
