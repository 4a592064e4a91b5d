# SPDX-License-Identifier: GPL-2.0
"""Excuses: which differences between two sides are meant, and why.

The comparison implements rules, each with a name. A series says in `excuses.toml`, beside its
series file, which rules it needs:

    [[excuse]]
    name = "held"
    topic = "lazyfree"
    reason = "a clean lazyfree folio with an extra reference stays lazyfree"

A rule applies when the series in use has that topic. Without the file, and without a series, only
the rules in OWN apply: they hold for any two kernels.

The file may also have [[allowed_cost]] entries, about costs: ../cost/allowed.py.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from quire.host.errors import UserError
from quire.source.series import Series

# Beside the series file.
FILE = "excuses.toml"
# The names of its entries, [[excuse]] and [[allowed_cost]], and what each has at least.
EXCUSE, COST = ENTRIES = ("excuse", "allowed_cost")
FIELDS = ("name", "topic", "reason")


class Rule(StrEnum):
    """The rules of the comparison, by the names that excuses.toml and reports use."""

    # model.py and compare.py: pages given up by MADV_FREE.
    DROPPED_IN_PART = "dropped in part"
    HELD = "held"
    BITS_OF_A_RUN = "bits of a run"
    BITS_OF_A_BATCH = "bits of a batch"
    # model.py: folios that only one process maps again.
    REUSED = "reused"
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
OWN: Excuses = MappingProxyType(
    {
        Rule.SLOTS: "small folios come back from swap as a large folio if their swap slots are "
        "consecutive and aligned; that depends on how many pages took slots before, those of the "
        "executor included",
        Rule.A_FAULT: "an allocation was made to fail, and the two kernels count their allocations "
        "differently: from then on only complaints, hangs and leaks count",
        Rule.FOLLOWS: "the page is next to excused pages, or the sum includes excused pages",
    }
)


@dataclass(frozen=True)
class Excuse:
    """One entry of excuses.toml: a rule, the topic that needs it, and the reason in a sentence."""

    rule: Rule
    topic: str
    reason: str


def applying(series: Series | None) -> Excuses:
    """The excuses for side b, whose tree has this series, against side a, which does not.

    UserError if the series has an excuses.toml that cannot be read.
    """
    if not series or not series.file.with_name(FILE).is_file():
        return OWN
    topics = series.topics
    reasons: dict[str, str] = {}
    for excuse in read(series.file.with_name(FILE)):
        if excuse.topic in topics:
            reasons.setdefault(excuse.rule, excuse.reason)
    return {**reasons, **OWN}


def entries(
    file: Path, kind: str, further: Collection[str] = ()
) -> Iterator[tuple[dict[str, Any], str]]:
    """The entries of one kind, with FIELDS and perhaps further ones, and where each stands.

    UserError names the entry that is wrong.
    """
    remedy = f"give each [[{kind}]] the fields {', '.join(FIELDS)}, each a string"
    try:
        content = tomllib.loads(file.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError("excuses are not valid TOML", f"{file}: {error}", remedy) from error
    tables = content.get(kind, [])
    unknown = [name for name in content if name not in ENTRIES]
    if unknown or not isinstance(tables, list):
        what = f"excuses stand under {' and '.join(f'[[{name}]]' for name in ENTRIES)}"
        raise UserError(what, f"{file}: {', '.join(unknown) or kind}", remedy)
    for at, entry in enumerate(tables, 1):
        where = f"{file}: {kind} {at}"
        if not isinstance(entry, dict):
            raise UserError("an entry is not a table", where, remedy)
        where += f" ({entry['name']})" if entry.get("name") else ""
        for name in FIELDS:
            if not isinstance(entry.get(name), str) or not entry[name].strip():
                raise UserError(f"an entry lacks its {name}", where, remedy)
        others = [name for name in entry if name not in (*FIELDS, *further)]
        if others:
            raise UserError(f"an entry has no field {', '.join(others)}", where, remedy)
        yield {**entry, "reason": " ".join(entry["reason"].split())}, where


def read(file: Path) -> list[Excuse]:
    """The [[excuse]] entries. UserError names one that is wrong, or has an unknown rule."""
    rules = [str(rule) for rule in Rule if rule not in OWN]
    excuses = []
    for entry, where in entries(file, EXCUSE):
        if entry["name"] not in rules:
            raise UserError(
                f"no rule of the comparison is called {entry['name']!r}",
                where,
                f"use one of these: {', '.join(rules)}\n"
                "a new rule needs code in src/quire/fuzz/difference/",
            )
        excuses.append(Excuse(Rule(entry["name"]), entry["topic"], entry["reason"]))
    return excuses
