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
from dataclasses import dataclass, field

from quire.fuzz.language.program import Op, Program
from quire.fuzz.language.record import Record, Step, pages, steps
from quire.fuzz.oracle.ksm import Merging
from quire.fuzz.oracle.model import Model
from quire.fuzz.oracle.tracking import Place

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
    "lost": "a merged page came back from swap where nothing is mergeable any more: no item of KSM "
    "stands for it, so that neither kernel looks for it; where it has moved to a place at which "
    "ksmd saw another one, stock finds it by chance",
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


@dataclass
class Verdict:
    """What a comparison found: differences nobody can explain, and how often each excuse served."""

    differences: list[str] = field(default_factory=list)
    excused: Counter[str] = field(default_factory=Counter)


def compare(program: Program, stock: Record, patched: Record) -> Verdict:
    """Go through both records; a splat, hang or leak on patched only is a difference, too."""
    verdict = Verdict()
    if patched.trouble and patched.trouble != stock.trouble:
        verdict.differences.append(patched.trouble)
    if stock.plain == patched.plain:
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
            model.written_in_the_end(int(number))
    return verdict


def comparable(stock: Record, patched: Record) -> bool:
    """Whether records say anything: where stock is in trouble, only if patched is in the same."""
    return stock.trouble in ("", patched.trouble)


def _compare_step(verdict: Verdict, model: Model, op: Op | None, left: Step, right: Step) -> None:
    """One operation's outcome and what is seen after it; pages first, sums depend on them."""
    where = f"{left.name} {op.text() if op else ''}".strip()
    keys = sorted({*left.states, *right.states}, key=lambda key: "muv".index(key[0]))
    model.merging.look()
    for key in keys:
        one, other = left.states.get(key, ""), right.states.get(key, "")
        if one == other:
            continue
        if key[0] == "m" and one and other:
            _compare_pages(verdict, model, f"{where}: {key}", one, other)
        elif not _excused_sum(verdict, model, key, one, other):
            verdict.differences.append(f"{where}: {key}: {one} | {other}")
    if left.outcome != right.outcome:
        model.merging.late |= model.merging.before
        if model.touches(op) if op else model.unlike:
            verdict.excused["follows"] += 1
        elif op and op.verb == "ksm" and model.merging.counts_differ(left.outcome, right.outcome):
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
                verdict.excused[excuse] += 1
                if excuse != "merged later":
                    apart.add(place)
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
    if (model.apart or model.merging.apart) and _SPLIT.sub("", one) == _SPLIT.sub("", other):
        verdict.excused["follows"] += 1
        return True
    depends = _depends_on_merging(model.merging, one)
    if depends and depends.sub("", one) == depends.sub("", other):
        verdict.excused["merged later"] += 1
        return True
    if not (model.reclaimed and (model.written or model.held)):
        return False
    same = _BITS.sub("", one) == _BITS.sub("", other)
    verdict.excused["bits of a run"] += same
    return same


def _depends_on_merging(merging: Merging, mapping: str) -> re.Pattern[str] | None:
    """The sums of a mapping that depend on what is merged, and into which page, if any do."""
    if merging.ages or merging.away:
        return _SUMS
    if not merging.unmerged:
        return None
    if merging.ever or merging.crowded:
        return _SPLIT
    if not re.search(r",KSM=|,mg\b", mapping):
        return None
    if merging.held:
        return _SPLIT
    return _SHARES if "KSM=" in mapping else None
