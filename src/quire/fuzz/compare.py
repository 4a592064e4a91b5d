# SPDX-License-Identifier: GPL-2.0
"""Two records of one program: what differs, and which of that is meant to.

Everything is compared. Where the series do something else on purpose, EXPLANATIONS names it, and
only pages are excused that it can concern: those given up by MADV_FREE and not written since. What
follows from such a page (it may be there on one kernel and gone on the other) is excused as well,
by following the page through moves and forks; all other pages must still agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quire.fuzz.program import Op, Program, Range
from quire.fuzz.record import Page, Record, Step, pages, steps

EXPLANATIONS = {
    "dropped in part": "of a lazyfree folio that was written to in part, stock drops the pages "
    "before the first written one, and the series keep them all; either may be done",
    "held": "a clean lazyfree folio with a reference too many stays lazyfree; stock makes it "
    "swap-backed, with contents that nobody wants",
    "bits of a run": "a run that is put back has the accessed and dirty bits of all its pages, and "
    "arm64 folds it to a block, whose bits hold for all of it: sums in smaps move from clean to "
    "dirty, and huge mappings of redirtied folios stay",
    "merged later": "a page that was merged by KSM and written to since starts anew with the "
    "series: it may be merged again a pass later, and is not skipped as an old one by smart scan; "
    "with smart scan, other pages of its content may be merged and swapped otherwise, too; and of "
    "equal pages it may be another that the rest is merged into, and that stays soft-dirty and "
    "write-protected by userfaultfd, or makes the others lazyfree",
    "found": "a merged page is found by reclaim where a mapping has moved, with the series alone: "
    "stock looks for it only at the address where ksmd saw it",
    "slots": "small folios that went to swap come back as a large one if their slots lie in a row, "
    "and aligned; that depends on how many pages took slots before, the executor's own among them",
    "a fault": "an allocation was made to fail, and which one is the Nth is each kernel's own "
    "affair: from then on only complaints, hangs and leaks count",
    "follows": "a page next to excused ones, or a sum that has such pages in it",
}

# Fields of smaps that tell of accessed and dirty bits, or of a huge mapping.
_BITS = re.compile(
    r",(?:Referenced|LazyFree|AnonHugePages|Pss_Dirty|(?:Private|Shared)_(?:Clean|Dirty))=\d+"
)
_SUMS = re.compile(r",[A-Z]\w+=\d+")
# What a process bears of a merged page depends on how many others have it, and of pages with more
# than 256 places there are several. What is locked is such a share, too; and the one that is shared
# keeps its accessed bit.
_SHARES = re.compile(r",(?:Pss|Pss_Dirty|SwapPss|Locked|Referenced)=\d+")
# What else depends on which pages are merged, or shared with a process that has lost them.
_SPLIT = re.compile(
    r",(?:Pss|Pss_Dirty|SwapPss|Locked|KSM|Referenced|(?:Private|Shared)_(?:Clean|Dirty))=\d+"
)
# What writes to pages, and so takes merged ones apart: mlock() does where writing is allowed.
WRITING = {"write", "same", "word", "lock", "resize"}
WRITING_ADVICE = {"populate-write", "unmergeable"}
# Letters of a page's state that merging takes away: mapped once, of a large folio.
_MERGING = str.maketrans("", "", "xL")
# What depends on which of equal pages is shared: soft-dirty and uffd-wp, which the others lose (on
# stock, too), and whether it is lazyfree, which they become.
_SOFT = str.maketrans("", "", "d")
_LOST = str.maketrans("", "", "dwz")
_LARGE = str.maketrans("", "", "L")
# So many places one page can have (max_page_sharing, which ksmd starts with).
MAX_SHARING = 256
# Passes after which ksmd has merged again what it can.
SETTLED = 6
# Ranges are few pages; a place is (process, slot, page).
Place = tuple[int, str, int]


@dataclass
class Verdict:
    """What a comparison found: differences nobody can explain, and how often each excuse served."""

    differences: list[str] = field(default_factory=list)
    excused: Counter[str] = field(default_factory=Counter)


@dataclass
class Model:
    """What the program did, as far as excuses depend on it."""

    lazy: set[Place] = field(default_factory=set)
    # Pages that have differed, with an excuse.
    apart: set[Place] = field(default_factory=set)
    # Pages that are merged on one kernel and not yet on the other.
    late: set[Place] = field(default_factory=set)
    # Those that were so one operation ago.
    before: set[Place] = field(default_factory=set)
    # Some have ever been.
    merged_apart: bool = False
    # Pages that are merged on one kernel and were not, and so could be swapped, on the other.
    away: set[Place] = field(default_factory=set)
    # Pages that are soft-dirty on one kernel alone, since another of their content is shared.
    soft: set[Place] = field(default_factory=set)
    # What was seen of both kernels after each operation so far.
    seen: list[tuple[Step, Step]] = field(default_factory=list)
    # Pages of droppable mappings, of which stock and the series make the same.
    droppable: set[Place] = field(default_factory=set)
    # A reference was taken to a page; and given back.
    held: bool = False
    let_go: bool = False
    # Pages were given up; something was written, or reclaimed, since.
    freed: bool = False
    written: bool = False
    reclaimed: bool = False
    # ksmd has passed; something was written since; how often it has passed after that.
    passed: bool = False
    unmerged: bool = False
    since: int = 0
    smart: bool = False
    # A mapping moved.
    moved: bool = False
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
        """Pages that are not the same on both kernels, for whatever reason."""
        return self.apart | self.late | self.away

    @property
    def _followed(self) -> tuple[set[Place], ...]:
        """What goes along with a page to where it is moved, and to a child."""
        return self.lazy, self.apart, self.soft, self.away, self.droppable

    def apply(self, op: Op, outcome: str) -> None:
        """Follow one operation."""
        outcome = outcome.partition(" before=")[0]
        actor = op.actor if op.actor is not None else -1
        where = _places(actor, op.range)
        self.held |= op.verb in ("hold", "pin")
        self.let_go |= self.held and op.verb in ("drop", "exit")
        self._follow_merging(op)
        self.crowded |= _merged(outcome) >= MAX_SHARING
        if op.verb in ("write", "same", "word"):
            self.written |= self.freed
            if outcome.endswith("segv=0 bus=0"):
                self.lazy -= where
        elif op.verb == "advise" and op.word == "free":
            self.freed = True
            self.lazy |= where
        self.freed |= op.word == "droppable"  # lazyfree from the start
        self._follow_pages(op, outcome, actor, where)
        if op.verb == "reclaim" or op.word == "pageout":
            self.reclaimed |= self.freed

    def _follow_pages(self, op: Op, outcome: str, actor: int, where: set[Place]) -> None:
        if op.verb in ("map", "unmap") or op.word in ("dontneed", "remove"):
            for known in self._followed:
                if known is not self.droppable or op.verb in ("map", "unmap"):
                    known.difference_update(where)
            self.droppable |= where if op.word == "droppable" else set()
        elif op.verb == "clear-refs" and op.number == 4:
            self.soft = {place for place in self.soft if place[0] != actor}
        elif op.verb == "move" and outcome == "ok" and op.range and op.to:
            for known in self._followed:
                _move(known, actor, op.range, op.to, op.word == "keep")
        elif op.verb == "fork" and outcome == "ok":
            for known in self._followed:
                born = {(op.number, slot, page) for who, slot, page in known if who == actor}
                known.update(born)

    def _follow_merging(self, op: Op) -> None:
        self.passed |= op.verb == "ksm"
        self.moved |= op.verb == "move"
        self.smart |= op.verb == "smart" and op.word == "on"
        self.since += op.number if op.verb == "ksm" else 0
        if op.verb in WRITING or op.word in WRITING_ADVICE:
            self.unmerged |= self.passed
            self.since = 0

    def excuse(self, place: Place, stock: Page, patched: Page) -> str:
        """The name of the explanation that covers a page's difference; empty if none does."""
        both = stock.content and patched.content
        if place in self.apart:
            return "follows"
        same = (
            not both or "0" in (stock.content, patched.content) or stock.content == patched.content
        )
        if same and self._given_up(place, stock, patched) and self._may_go(place, stock, patched):
            return "held" if self.held else "dropped in part"
        if self._merged_later(place, stock, patched):
            self.merged_apart = True
            return "merged later"
        reclaimed = self._reclaimed_otherwise(place, stock, patched)
        if reclaimed:
            return reclaimed
        near = any(who == place[0] and slot == place[1] for who, slot, _ in self.unlike)
        if (
            near
            and _empty(stock) == _empty(patched)
            and _same_bits(stock, patched)
            and (not both or stock.content == patched.content)
        ):
            return "follows"
        return ""

    def _merged_later(self, place: Place, stock: Page, patched: Page) -> bool:
        """Whether one kernel has merged the page and the other one need not yet."""
        if place in self.soft:
            stock, patched = (_without(_SOFT, page) for page in (stock, patched))
        if stock == patched:
            return True
        if _merged_and_swapped(stock, patched):
            if self.ages or place in self.before | self.away:
                self.away.add(place)
                return True
            return False
        if not self._merged_otherwise(stock, patched):
            return False
        differ = {*stock.state} ^ {*patched.state}
        if differ & {"w", "z"} or differ == {"L"}:
            self.apart.add(place)
        elif "d" in differ:
            self.soft.add(place)
        return True

    def _merged_otherwise(self, stock: Page, patched: Page) -> bool:
        """Whether the pages differ in being merged, or in which one is shared, and may."""
        if not self.unmerged or not stock.content or _as_merged(stock) != _as_merged(patched):
            return False
        one, other = (_without(_LOST, page) for page in (stock, patched))
        alone = ["x" in page.state for page in (stock, patched)]
        if _without(_LARGE, stock) == _without(_LARGE, patched):
            return True  # one was split to be merged, with a page that the other did not meet
        lost = ({*stock.state} ^ {*patched.state}) & {*"dwz"}
        if one == other or (lost and all(alone)):
            return not any(alone)
        return not self.settled or (self.ages and alone == [True, False])

    def _reclaimed_otherwise(self, place: Place, stock: Page, patched: Page) -> str:
        there = stock.state[0] == "p"
        if self.passed and self.moved and there and _merged_and_swapped(stock, patched):
            self.away.add(place)
            return "found"
        if self.away and _mergeable(stock) and _as_merged(stock) == _as_merged(patched):
            return "follows"  # shared on one kernel, read from swap by each on the other
        return "slots" if self._back_from_swap(place, stock, patched) else ""

    def _back_from_swap(self, place: Place, stock: Page, patched: Page) -> bool:
        """Whether the page was in swap, where it went alone, and is of a large folio now on one
        kernel only.
        """
        if _without(_LARGE, stock) != _without(_LARGE, patched):
            return False
        return all(_swapped_alone(seen, place) for seen in zip(*self.seen, strict=True))

    def _may_go(self, place: Place, stock: Page, patched: Page) -> bool:
        """Whether a page that was given up may be there on one kernel alone, or still be lazyfree.

        While somebody holds it, it stays.
        """
        if place in self.droppable:
            return False
        if not _empty(stock) and not _empty(patched):
            return (self.held or self.written) and _same_bits(stock, patched)
        return self.written or (self.held and self.let_go)

    def _given_up(self, place: Place, stock: Page, patched: Page) -> bool:
        """Whether the page is lazyfree, by what the program did or by what the kernel says.

        A process can give up a page that another one maps, too.
        """
        return place in self.lazy or "z" in stock.state or "z" in patched.state

    def touches(self, op: Op) -> bool:
        """Whether an operation's outcome can depend on pages that are apart."""
        if op.range is None:
            return bool(self.unlike)
        actor = op.actor if op.actor is not None else -1
        where = _places(actor, op.range)
        if op.to:  # pages that were apart have moved there by now
            where |= _places(actor, replace(op.to, count=op.range.count))
        return bool(where & self.unlike)

    def counts_differ(self, stock: str, patched: str) -> bool:
        """Whether ksmd may count pages otherwise: those without places, or that somebody holds, go
        later; one more is needed for more places than a page can have, with the same sum then.
        """
        same = _merged(stock) == _merged(patched) != 0
        return self.merged_apart or (self.unmerged and (same or self.held))

    def apart_in(self, actor: int, slot: str = "") -> bool:
        """Whether a process has pages that are apart, in that slot or any."""
        return any(who == actor and slot in ("", where) for who, where, _ in self.unlike)


def _swapped_alone(steps_: Sequence[Step], place: Place) -> bool:
    """Whether a page was in swap after the last of these, and not of a large folio before."""
    actor, slot, page = place
    key, at = f"m {actor} {slot}", Range(slot, page)
    known = None
    for step in reversed(steps_):
        before = pages(step.states[key], slot).get(at) if key in step.states else None
        if not before or "s" not in before.state:
            # If it is not known from where it came, it has moved while in swap.
            return bool(known) and not (before and "L" in before.state)
        known = before
    return bool(known)


def _places(actor: int, where: Range | None) -> set[Place]:
    if not where:
        return set()
    return {(actor, where.slot, page) for page in range(where.page, where.end)}


def _move(known: set[Place], actor: int, what: Range, to: Range, keep: bool) -> None:
    source = _places(actor, what) & known
    known -= _places(actor, Range(to.slot, to.page, what.count))
    if not keep:
        known -= source
    known |= {(actor, to.slot, page - what.page + to.page) for _, _, page in source}


def _without(letters: dict[int, int | None], page: Page) -> Page:
    return Page(page.state.translate(letters), page.content)


def _as_merged(page: Page) -> Page:
    """What does not depend on whether it is merged, for pages that can be."""
    return _without(_MERGING | _LOST, page) if _mergeable(page) else page


def _mergeable(page: Page) -> bool:
    """Whether others can have its content: written to be the same, or all zero."""
    return page.content.startswith("k") or page.content == "0"


def _merged_and_swapped(one: Page, other: Page) -> bool:
    """Whether one kernel has a page for KSM in memory and the other in swap, where none is read."""
    there, away = (one, other) if "s" in other.state else (other, one)
    same = _mergeable(there) and not away.content
    bits = there.state.translate(_MERGING).replace("p", "s")
    return same and bits == away.state.translate(_MERGING)


def _merged(outcome: str) -> int:
    """Of passes of ksmd: how many places are merged, whatever the number of pages for them."""
    counts = re.fullmatch(r"shared=(\d+) sharing=(\d+)", outcome)
    return sum(map(int, counts.groups())) if counts else 0


def _same_bits(one: Page, other: Page) -> bool:
    """Whether they are both soft-dirty or not, and write-protected by userfaultfd or not."""
    return not ({*one.state} ^ {*other.state}) & {*"dw"}


def _empty(page: Page) -> bool:
    return page.state[0] == "-" or page.content == "0"


def compare(program: Program, stock: Record, patched: Record) -> Verdict:
    """Go through both records; a splat, hang or leak on patched only is a difference, too."""
    verdict = Verdict()
    if patched.trouble and patched.trouble != stock.trouble:
        verdict.differences.append(patched.trouble)
    if _plain(stock) == _plain(patched):
        return verdict
    model = Model()
    for left, right in zip(steps(stock), steps(patched), strict=False):
        kind, _, number = left.name.partition(" ")
        op = program[int(number)] if kind == "o" else None
        if op and op.verb == "fail" and left.outcome == right.outcome == "ok":
            verdict.excused["a fault"] += 1
            break
        if op:
            model.apply(op, left.outcome)
        if left.name != right.name:
            verdict.differences.append(f"{left.name} against {right.name}")
            break
        _compare_step(verdict, model, op, left, right)
        model.seen.append((left, right))
        if kind == "w":
            model.lazy = {place for place in model.lazy if place[0] != int(number)}
    return verdict


def comparable(stock: Record, patched: Record) -> bool:
    """Whether records say anything: where stock is in trouble, only if patched is in the same."""
    return stock.trouble in ("", patched.trouble)


def _plain(record: Record) -> list[str]:
    """Without the kernel's messages: splats among them are told otherwise."""
    return [line for line in record.lines if line[:2] != "k "]


def _compare_step(verdict: Verdict, model: Model, op: Op | None, left: Step, right: Step) -> None:
    """One operation's outcome and what is seen after it; pages first, sums depend on them."""
    where = f"{left.name} {op.text() if op else ''}".strip()
    keys = sorted({*left.states, *right.states}, key=lambda key: "muv".index(key[0]))
    model.before, model.late = model.late, set()
    for key in keys:
        one, other = left.states.get(key, ""), right.states.get(key, "")
        if one == other:
            continue
        if key[0] == "m" and one and other:
            _compare_pages(verdict, model, f"{where}: {key}", one, other)
        elif not _excused_sum(verdict, model, key, one, other):
            verdict.differences.append(f"{where}: {key}: {one} | {other}")
    if left.outcome != right.outcome:
        model.late |= model.before
        if model.touches(op) if op else model.unlike:
            verdict.excused["follows"] += 1
        elif op and op.verb == "ksm" and model.counts_differ(left.outcome, right.outcome):
            verdict.excused["merged later"] += 1
        else:
            verdict.differences.append(f"{where}: {left.outcome} | {right.outcome}")


def _compare_pages(verdict: Verdict, model: Model, where: str, one: str, other: str) -> None:
    _, actor, slot = where.rsplit(": ", 1)[1].split(" ")
    left, right = pages(one, slot), pages(other, slot)
    differing = [at for at in left if left[at] != right[at]]
    # Twice: pages can follow from others behind them.
    for _ in "12":
        apart: set[Place] = set()
        unexcused = []
        for at in differing:
            place = (int(actor), slot, at.page)
            excuse = model.excuse(place, left[at], right[at])
            if excuse:
                (model.late if excuse == "merged later" else apart).add(place)
                verdict.excused[excuse] += 1
            else:
                unexcused.append(at)
        model.apart |= apart
        differing = unexcused
    for at in differing:
        texts = (f"{page.state}:{page.content}" for page in (left[at], right[at]))
        verdict.differences.append(f"{where} {at.page}: {' | '.join(texts)}")


def _excused_sum(verdict: Verdict, model: Model, key: str, one: str, other: str) -> bool:
    """Whether mappings or counters differ only in what an explanation covers."""
    kind, actor, *slot = key.split(" ")
    if model.apart_in(int(actor), *slot):
        same = _SUMS.sub("", one) == _SUMS.sub("", other) or kind == "u"
        verdict.excused["follows"] += same
        return same
    if model.apart and _SPLIT.sub("", one) == _SPLIT.sub("", other):
        verdict.excused["follows"] += 1
        return True
    depends = (model.unmerged or model.away) and _depends_on_merging(model, one)
    if depends and depends.sub("", one) == depends.sub("", other):
        verdict.excused["merged later"] += 1
        return True
    if not (model.reclaimed and (model.written or model.held)):
        return False
    same = _BITS.sub("", one) == _BITS.sub("", other)
    verdict.excused["bits of a run"] += same
    return same


def _depends_on_merging(model: Model, mapping: str) -> re.Pattern[str] | None:
    """The sums of a mapping that depend on what is merged, and into which page, if any do."""
    if model.ages or model.away:
        return _SUMS
    if model.merged_apart or model.crowded:
        return _SPLIT
    if not re.search(r",KSM=|,mg\b", mapping):
        return None
    if model.held:
        return _SPLIT
    return _SHARES if "KSM=" in mapping else None
