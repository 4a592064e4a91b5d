# SPDX-License-Identifier: GPL-2.0
"""Excuses: intended differences between two sides, with reasons.

The comparison implements named rules. `excuses.toml`, next to a series file, lists the rules that
the series needs, each for a topic (docs/dev/fuzz-rules.md shows an entry). Without the file, the
series or the topic, only the rules in GENERAL apply, which are right for any two kernels. The file
may also have [[allowed_cost]] entries: ../cost/allowed.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from quire.host import data
from quire.source.series import Series

FILE = "excuses.toml"  # beside the series file


class Rule(StrEnum):
    """The rules of the comparison, by the names that excuses.toml and reports use."""

    # history.py and differences.py: lazyfree pages.
    DROPPED_IN_PART = "dropped in part"
    HELD = "held"
    BITS_OF_A_RUN = "bits of a run"
    BITS_OF_A_BATCH = "bits of a batch"
    # history.py: folios that only one process maps again.
    REUSED = "reused"
    # history.py: folios that UFFDIO_MOVE moves whole.
    TAKEN = "taken whole"
    TAKEN_HELD = "taken held"
    # ksm.py: pages that KSM merges.
    MERGED_LATER = "merged later"
    FOUND = "found"
    # Its own.
    SLOTS = "slots"
    A_FAULT = "a fault"
    FOLLOWS = "follows"


# The rules that apply to a comparison, each with its reason.
Excuses = Mapping[str, str]
# Rules that hold for any two kernels.
GENERAL: Excuses = {
    Rule.SLOTS: "small folios come back from swap as a large folio if their swap slots are "
    "consecutive and aligned; that depends on how many pages took slots before, those of the "
    "executor included",
    Rule.A_FAULT: "an allocation was made to fail, and the two kernels count their allocations "
    "differently: from then on only complaints, hangs and leaks count",
    Rule.FOLLOWS: "the page is next to excused pages, or the sum includes excused pages",
}


REMEDY = (
    "give each [[excuse]] and [[allowed_cost]] a name, a topic and a reason; an excuse has one "
    f"of the names {', '.join(rule for rule in Rule if rule not in GENERAL)}"
)


@dataclass(frozen=True)
class Excuse:
    """One entry of excuses.toml: a rule, the topic that needs it, and the reason in a sentence."""

    name: Rule
    topic: str
    reason: str


def applying(series: Series | None) -> Excuses:
    """Return the excuses for side b, which has this series. UserError for an invalid file."""
    if not series or not series.file.with_name(FILE).is_file():
        return GENERAL
    topics = series.topics
    reasons: dict[str, str] = {}
    for excuse in read(series.file.with_name(FILE)):
        if excuse.topic in topics:
            reasons.setdefault(excuse.name, " ".join(excuse.reason.split()))
    return {**reasons, **GENERAL}


def _trouble(excuse: Excuse) -> str:
    if excuse.name not in GENERAL:
        return ""
    return f"the rule {excuse.name!s} applies to any two kernels and needs no excuse"


# Read the [[excuse]] entries of a file.
read = data.Table("excuse", Excuse, REMEDY, ("allowed_cost",), trouble=_trouble).read
