# SPDX-License-Identifier: GPL-2.0
"""Compare two records of one program: find differences, and the excuses that cover them.

Everything in the records is compared. A rule (excuses.py) excuses only pages that the series can
affect, and consequences for such pages as they move and are inherited.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from quire.fuzz.difference.excuses import GENERAL, Excuses, Rule
from quire.fuzz.difference.history import History
from quire.fuzz.difference.ksm import TABLE, KsmExcuses
from quire.fuzz.judge import Faults, Judge, Requests, Rerun, Shown, Tally
from quire.fuzz.language.program import Address, Numbered, Op, Program
from quire.fuzz.language.record import Record, StepRecord, pages, steps
from quire.fuzz.runner import Runs, Targets


def _fields(names: str) -> re.Pattern[str]:
    return re.compile(rf",(?:{names})=\d+")


# Fields of smaps that show accessed and dirty bits; the second has huge mappings, too.
_DIRTY = "(?:Private|Shared)_(?:Clean|Dirty)"
_MARKS = _fields(f"Referenced|LazyFree|Pss_Dirty|{_DIRTY}")
_BITS = _fields(f"Referenced|LazyFree|AnonHugePages|Pss_Dirty|{_DIRTY}")
_SUMS = _fields(r"[A-Z]\w+")
_REFERENCED = _fields("Referenced")
# The page tables of a process.
_TABLES = re.compile(r"\bVmPTE=\d+")
# A process's share of a merged page depends on the number of its mappings; contents with more than
# 256 mappings have several KSM pages. Locked is also such a share. The shared page keeps its
# accessed bit.
_SHARES = _fields("Pss|Pss_Dirty|SwapPss|Locked|Referenced")
# Fields that also depend on which pages are merged, or shared with a process that has lost them.
_SPLIT = _fields(f"Pss|Pss_Dirty|SwapPss|Locked|KSM|Referenced|{_DIRTY}")


@dataclass
class Judgement:
    """What a comparison found: differences without an excuse, and how often each rule applied."""

    differences: list[str] = field(default_factory=list)
    excused: Counter[str] = field(default_factory=Counter)

    # Each has a different cause, and the first differing step does not suffice to reproduce it.
    kind = ()
    step = about = ""

    @property
    def text(self) -> str:
        return self.differences[0]

    @property
    def lines(self) -> list[str]:
        return self.differences

    @property
    def details(self) -> dict[str, list[str]]:
        return {"differences": self.differences}

    def note(self, rule: Rule | None, difference: str) -> None:
        """Count the rule that excuses a difference, or keep the difference."""
        if rule:
            self.excused[rule] += 1
        else:
            self.differences.append(difference)


def compare(program: Program, a: Record, b: Record, excuses: Excuses) -> Judgement:
    """Compare both records; a splat, hang or leak on side b alone is also a difference."""
    verdict = Judgement()
    if b.trouble and b.trouble != a.trouble:
        verdict.differences.append(b.trouble)
    if a.plain == b.plain:
        return verdict
    history = History(excuses)
    for left, right in zip(steps(a), steps(b), strict=False):
        op = left.op(program)
        if op and op.verb == "fail" and left.outcome == right.outcome == "ok":
            verdict.excused[Rule.A_FAULT] += 1
            break
        if op:
            history.apply(op, left.result)
        if left.name != right.name:
            verdict.differences.append(f"{left.name} against {right.name}")
            break
        _compare_step(verdict, history, op, left, right)
        history.seen.append((left, right))
        if left.name[0] == "w":
            # A process writes to all of its pages.
            history.lazy = {page for page in history.lazy if page[0] != left.number}
    return verdict


def _compare_step(
    verdict: Judgement, history: History, op: Op | None, left: StepRecord, right: StepRecord
) -> None:
    """Compare the state after one operation, pages before sums, and then its outcome."""
    where = f"{left.name} {op.text() if op else ''}".strip()
    # Pages are late for one operation only.
    history.ksm.before, history.ksm.late = history.ksm.late, set()
    ended = history.ends_elsewhere(op, left.outcome, right.outcome) if op else None
    for key in sorted({*left.states, *right.states}, key=lambda key: ("muv".index(key[0]), key)):
        a, b = left.states.get(key, ""), right.states.get(key, "")
        if a == b:
            continue
        if key[0] == "m" and a and b:
            _compare_pages(verdict, history, where, key, (a, b))
        else:
            verdict.note(_sums_excuse(history, key, a, b), f"{where}: {key}: {a} | {b}")
    a, b = left.outcome, right.outcome
    if a == b:
        return
    if not ended:
        history.ksm.late |= history.ksm.before
        counted = op and op.verb == "ksm" and history.ksm.counts_differ(a, b)
        follows = history.touches(op) if op else history.unlike
        ended = Rule.FOLLOWS if follows else Rule.MERGED_LATER if counted else None
    verdict.note(ended, f"{where}: {a} | {b}")


def _compare_pages(
    verdict: Judgement, history: History, where: str, key: str, lines: tuple[str, str]
) -> None:
    _, actor, slot = key.split(" ")
    left, right = map(pages, lines)
    differing = [at for at in left if left[at] != right[at]]
    # Twice: a page can follow from a later one.
    for _ in "12":
        apart: set[Address] = set()
        unexcused = []
        for at in differing:
            page = (int(actor), slot, at)
            rule = history.excuse(page, left[at], right[at])
            if not rule:
                unexcused.append(at)
                continue
            verdict.excused[rule] += 1
            # The rules of KSM and UFFDIO_MOVE track these pages themselves.
            if rule not in (Rule.MERGED_LATER, Rule.TAKEN):
                apart.add(page)
        history.apart |= apart
        history.differed |= bool(apart)
        differing = unexcused
    for at in differing:
        texts = (f"{page.state}:{page.content}" for page in (left[at], right[at]))
        verdict.differences.append(f"{where}: {key} {at}: {' | '.join(texts)}")


def _sums_excuse(history: History, key: str, a: str, b: str) -> Rule | None:
    """Return the rule that covers a difference in mappings or counters, if one does."""
    kind, actor, *slot = key.split(" ")
    if history.apart_in(int(actor), *slot):
        return Rule.FOLLOWS if kind == "u" or _same_but(_SUMS, a, b) else None
    if (history.apart or history.ksm.apart) and _same_but(_SPLIT, a, b):
        return Rule.FOLLOWS
    merging = _of_merging(history.ksm, a)
    if merging and _same_but(merging[1], a, b):
        return merging[0]
    changed = Rule.BITS_OF_A_BATCH in history.excuses and history.changed
    if changed and _same_but(_MARKS, a, b):
        return Rule.BITS_OF_A_BATCH
    if history.put_back:
        # Emptying a huge mapping leaves no table; in a table, a fault maps a small folio.
        tables = _same_but(_TABLES, a, b)
        history.tables |= tables
        if tables or _same_but(_BITS, a, b):
            return Rule.BITS_OF_A_RUN
    # A pin marks the folio that its last owner kept as accessed, or the copy of one page.
    kept = Rule.REUSED in history.excuses and history.forked and history.ksm.held
    return Rule.REUSED if kept and _same_but(_REFERENCED, a, b) else None


def _same_but(fields: re.Pattern[str], a: str, b: str) -> bool:
    """Return whether two mappings agree without those fields."""
    return fields.sub("", a) == fields.sub("", b)


def _of_merging(ksm: KsmExcuses, mapping: str) -> tuple[Rule, re.Pattern[str]] | None:
    """Return the rule of KSM that applies to a mapping, and the fields that depend on it."""
    if TABLE[ksm.phase][1] and Rule.MERGED_LATER in ksm.excuses:
        return Rule.MERGED_LATER, _SUMS
    if ksm.away:
        return Rule.FOLLOWS, _SUMS
    if Rule.MERGED_LATER not in ksm.excuses or not ksm.unmerged:
        return None
    mergeable = re.search(r",KSM=|,mg\b", mapping)
    if ksm.ever or ksm.crowded or ((ksm.held or ksm.back) and mergeable):
        return Rule.MERGED_LATER, _SPLIT
    return (Rule.MERGED_LATER, _SHARES) if ",KSM=" in mapping else None


@dataclass
class DifferenceJudge(Judge[Judgement]):
    """Judge side b, the kernel under test, which must match side a except for the excuses."""

    excuses: Excuses = field(default_factory=lambda: GENERAL)
    tally: Tally[Judgement] = field(default_factory=Tally)

    finding, file, does = "finding", "differences", "differs"
    bugs, shows = "seeded bugs", "the first difference"

    def judge(self, programs: Numbered, runs: Runs) -> Faults[Judgement]:
        """Return the programs whose records can be compared and differ without an excuse."""
        a, b = runs
        suspects = []
        for number, ops in programs.items():
            if number not in a or number not in b:
                continue
            verdict = compare(ops, a[number], b[number], self.excuses)
            self.tally.programs += 1
            self.tally.excused.update(verdict.excused.keys())
            if a[number].trouble:
                self.tally.troubled[number] = ops, a[number].trouble
            # If side a is in trouble, the records are inconclusive unless side b is in the same.
            if verdict.differences and a[number].trouble in ("", b[number].trouble):
                suspects.append((number, verdict))
        self.tally.suspects += len(suspects)
        return suspects

    def confirm(
        self, programs: Numbered, suspects: Faults[Judgement], runs: Runs
    ) -> Requests[Faults[Judgement]]:
        """Return programs that differ again in another order, with the same record on side a."""
        if not suspects:
            return []
        a, b = yield Rerun({n: programs[n] for n, _ in reversed(suspects)})
        confirmed = []
        for number, fault in suspects:
            before, left, right = runs[0][number], a[number], b[number]
            if not _alike(left, before):
                # The sums of accessed pages depend on the order of reclaim.
                before, left, right = (
                    replace(seen, lines=[re.sub(r",Referenced=\d+", "", x) for x in seen.lines])
                    for seen in (before, left, right)
                )
            if not _alike(left, before):
                self.tally.unstable[number] = programs[number], fault.text
                continue
            verdict = compare(programs[number], left, right, self.excuses)
            if verdict.differences:
                confirmed.append((number, verdict))
        return confirmed

    def repeat(
        self, programs: Numbered, fault: Judgement, *, last: bool = False
    ) -> Requests[Shown[Judgement]]:
        """Return those with any difference. A program that loses side b's guest differs."""
        runs = yield Rerun(programs, losses=1)
        return dict(replace(self, tally=Tally()).judge(programs, runs)), runs

    def row(self, fault: Judgement | None) -> dict[str, Any]:
        return {"difference": fault and fault.text}

    def summary(self, targets: Targets, seconds: float) -> str:
        """Return how many programs differed, and how many are inconclusive."""
        (a, b), tally = targets.labels, self.tally
        return (
            f"{targets.arch.name}: {tally.programs} programs on {a} and {b} in {seconds:.0f} "
            f"s, {targets.rate(tally.programs):.0f} a minute per boot; {tally.suspects} "
            f"differed, {len(tally.unstable)} of them did not repeat on {a}, "
            f"{len(tally.troubled)} in trouble on {a}; "
        )

    def notes(self) -> list[str]:
        """Return the excuses that applied."""
        excused = self.tally.excused.most_common()
        return [f"  excused in {n} programs: {name} ({self.excuses[name]})" for name, n in excused]

    def figures(self, targets: Targets) -> dict[str, Any]:
        tally = self.tally
        return {
            "sides": dict(zip("ab", targets.labels, strict=True)),
            "programs": tally.programs,
            "suspects": tally.suspects,
            "unstable": len(tally.unstable),
            "troubled": len(tally.troubled),
            "excused": dict(tally.excused.most_common()),
            "cost": None,
        }


def _alike(record: Record, other: Record) -> bool:
    return record.trouble == other.trouble and record.plain == other.plain
