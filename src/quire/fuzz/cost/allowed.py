# SPDX-License-Identifier: GPL-2.0
"""Costs that a series means: which operation may take how much more, where, and why.

They stand beside the other excuses of a series, in excuses.toml:

    [[allowed_cost]]
    name = "batch of two"
    topic = "mremap"
    operations = ["move move", "move keep"]
    symbols = ["move_page_tables", "move_pte*"]
    insns = 40
    per = "page"
    reason = "…"

`operations` are verbs, with their word or without, and `read all` and `write all`; with `after`,
one of those must come before. `symbols` are patterns of functions. The instructions that those
functions take more are allowed up to the limit: `insns` per `page` that the operation names or per
`operation`, or `percent` of side a's instructions. `further` allows so many more of a watched sum
(watch.toml) in an operation. What exceeds the limit, and what grows elsewhere, still counts.
"""

import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from quire.fuzz.cost import growth, watch
from quire.fuzz.cost.growth import INSNS, Growth, Regression
from quire.fuzz.difference import excuses
from quire.fuzz.judge import AT_THE_END
from quire.fuzz.language.program import VERBS
from quire.host import data
from quire.host.errors import UserError
from quire.source.series import Series

PER = ("page", "operation")
_WORDS = (f"{name} {word}" for name, verb in VERBS.items() for word in verb.words)
KINDS = {*AT_THE_END.values(), *VERBS, *_WORDS}
# Letters of a pattern besides its wildcards.
SHORTEST = 4


@dataclass(frozen=True)
class Allowance:
    """One entry. Exactly one of `insns` and `percent`, or none of them, is not zero."""

    name: str
    topic: str
    reason: str
    operations: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    insns: int = 0
    per: str = "operation"
    percent: int = 0
    further: Mapping[str, int] = field(default_factory=dict)
    after: tuple[str, ...] = ()

    def applies(self, regression: Regression) -> bool:
        """Whether it is about this operation, after those before it."""
        before = not self.after or any(_named(self.after, op.kind) for op in regression.before)
        return before and _named(self.operations, regression.verb)

    def matches(self, symbol: str) -> bool:
        """Whether it is about this function."""
        return any(fnmatch.fnmatchcase(symbol, pattern) for pattern in self.symbols)

    def limit(self, regression: Regression) -> int:
        """How many further instructions it allows in an operation."""
        by_count = self.insns * (regression.pages if self.per == "page" else 1)
        return by_count + self.percent * regression.a.kernel // 100

    def insns_of(self, regression: Regression) -> int:
        """How many further instructions of this operation its functions take, in sum."""
        a, b = growth.functions(regression.a), growth.functions(regression.b)
        names = [name for name in {*a, *b} if self.matches(name)]
        return sum(b.get(name, 0) - a.get(name, 0) for name in names)


def judge(
    allowed: Sequence[Allowance], regression: Regression
) -> tuple[Regression | None, set[str]]:
    """What remains of a growth, None if nothing does, and the names of the entries that took part.

    An entry takes part if without it more would remain.
    """
    left: list[Growth] = list(regression.grown)
    used: set[str] = set()
    for entry in allowed:
        if not entry.applies(regression):
            continue
        insns = max(0, min(entry.limit(regression), entry.insns_of(regression)))
        remaining = [_less(grown, insns, entry.further.get(grown.name, 0)) for grown in left]
        if remaining != left:
            used.add(entry.name)
        left = [grown for grown in remaining if grown]
    return (replace(regression, grown=tuple(left)) if left else None), used


def _less(grown: Growth, insns: int, further: int) -> Growth | None:
    """The growth without what is allowed; None if the rest is within the margin."""
    rest = replace(grown, b=grown.b - (insns if grown.name == INSNS else further))
    return rest if rest.beyond_margin else None


def applying(
    series: Series | None, a: Series | None, functions: Collection[str]
) -> list[Allowance]:
    """The entries for topics that side b has, whose series this is, and side a has not.

    UserError for a wrong one, or if none of its patterns matches a function of side b.
    """
    if not series or not series.file.with_name(excuses.FILE).is_file():
        return []
    topics = {*series.topics} - {*(a.topics if a else ())}
    entries = read(series.file.with_name(excuses.FILE))
    applying = [entry for entry in entries if entry.topic in topics]
    for entry in applying:
        if entry.symbols and not any(entry.matches(name) for name in functions):
            what = f"no function of side b is called {', '.join(entry.symbols)}"
            raise _error(what, entry.name)
    return applying


@dataclass(frozen=True)
class _File:
    allowed_cost: tuple[Allowance, ...] = ()
    # Read by excuses.read().
    excuse: tuple[Any, ...] = ()


def read(file: Path) -> list[Allowance]:
    """The [[allowed_cost]] entries of an excuses.toml. UserError names the entry that is wrong."""
    found = list(data.read(file, _File, excuses.REMEDY).allowed_cost)
    data.require_complete(file, "allowed_cost", found, excuses.REMEDY)
    for number, entry in enumerate(found):
        _check(entry, data.row(file, "allowed_cost", number))
    return found


def _check(made: Allowance, where: str) -> None:
    """UserError unless the entry is narrow: operations, functions, and a limit."""
    unknown = {*made.operations, *made.after} - KINDS
    limits = [made.insns, made.percent, *made.further.values()]
    bad = min(limits) < 0 or not any(limits)
    broad = [pattern for pattern in made.symbols if len(pattern.strip("*?")) < SHORTEST]
    unseen = {*made.further} - {total.name for total in watch.read()[1]}
    for wrong, what in (
        (unknown, f"no operation: {', '.join(sorted(unknown))}"),
        (made.per not in PER, f"per is {' or '.join(PER)}, not {made.per!r}"),
        (bad, "an entry has no limit: insns, percent or further"),
        (made.insns and made.percent, "an entry has insns or percent, not both"),
        (
            bool(made.symbols) != bool(made.insns or made.percent),
            "symbols need a limit of instructions, and such a limit symbols",
        ),
        (broad, f"a pattern that matches almost everything: {', '.join(broad)}"),
        (unseen, f"nothing is watched as {', '.join(sorted(unseen))}"),
    ):
        if wrong:
            raise _error(what, where)


def _named(kinds: Collection[str], kind: str) -> bool:
    return kind in kinds or kind.partition(" ")[0] in kinds


def _error(what: str, where: str) -> UserError:
    return UserError(what, where, "src/quire/fuzz/cost/allowed.py shows an entry")
