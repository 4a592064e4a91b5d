# SPDX-License-Identifier: GPL-2.0
"""Sums of smaps and counters of processes: which rule excuses a difference in them."""

from __future__ import annotations

import re

from quire.fuzz.difference.excuses import Rule
from quire.fuzz.difference.ksm import SKIPPING, KsmExcuses, Phase
from quire.fuzz.difference.model import Model

# Fields of smaps that show accessed and dirty bits; the second list has huge mappings, too.
_MARKS = re.compile(r",(?:Referenced|LazyFree|Pss_Dirty|(?:Private|Shared)_(?:Clean|Dirty))=\d+")
_BITS = re.compile(
    r",(?:Referenced|LazyFree|AnonHugePages|Pss_Dirty|(?:Private|Shared)_(?:Clean|Dirty))=\d+"
)
_SUMS = re.compile(r",[A-Z]\w+=\d+")
# A process's share of a merged page depends on how many others map that page, and there are several
# KSM pages of a content with more than 256 mappings. Locked is such a share, too; and the shared
# page keeps its accessed bit.
_SHARES = re.compile(r",(?:Pss|Pss_Dirty|SwapPss|Locked|Referenced)=\d+")
# Fields that also depend on which pages are merged, or shared with a process that has lost them.
_SPLIT = re.compile(
    r",(?:Pss|Pss_Dirty|SwapPss|Locked|KSM|Referenced|(?:Private|Shared)_(?:Clean|Dirty))=\d+"
)


def excuse(model: Model, key: str, a: str, b: str) -> Rule | None:
    """The rule that covers a difference in mappings or counters, if one does."""
    kind, actor, *slot = key.split(" ")
    if model.apart_in(int(actor), *slot):
        return Rule.FOLLOWS if kind == "u" or _same_but(_SUMS, a, b) else None
    if (model.apart or model.ksm.apart) and _same_but(_SPLIT, a, b):
        return Rule.FOLLOWS
    merging = _of_merging(model.ksm, a)
    if merging and _same_but(merging[1], a, b):
        return merging[0]
    changed = Rule.BITS_OF_A_BATCH in model.excuses and model.changed
    if changed and _same_but(_MARKS, a, b):
        return Rule.BITS_OF_A_BATCH
    if not model.reclaimed or not (model.written or model.held):
        return None
    put_back = Rule.BITS_OF_A_RUN in model.excuses and _same_but(_BITS, a, b)
    return Rule.BITS_OF_A_RUN if put_back else None


def _same_but(fields: re.Pattern[str], a: str, b: str) -> bool:
    """Whether two mappings agree without those fields."""
    return fields.sub("", a) == fields.sub("", b)


def _of_merging(ksm: KsmExcuses, mapping: str) -> tuple[Rule, re.Pattern[str]] | None:
    """The rule of KSM that applies to a mapping, and the fields that depend on it; None if none."""
    later = Rule.MERGED_LATER in ksm.excuses
    if ksm.away and not (later and ksm.phase in SKIPPING):
        return Rule.FOLLOWS, _SUMS
    fields = _of_late_merging(ksm, mapping) if later else None
    return (Rule.MERGED_LATER, fields) if fields else None


def _of_late_merging(ksm: KsmExcuses, mapping: str) -> re.Pattern[str] | None:
    """The fields that depend on which pages are merged already, and into which page."""
    if ksm.phase in SKIPPING:
        return _SUMS
    if ksm.phase is Phase.TOGETHER:
        return None
    mergeable = re.search(r",KSM=|,mg\b", mapping)
    if ksm.ever or ksm.crowded or (ksm.held and mergeable):
        return _SPLIT
    return _SHARES if ",KSM=" in mapping else None
