# SPDX-License-Identifier: GPL-2.0
"""Intended costs of a series: which operation may cost how much more, where, and why.

They are in excuses.toml, with the series' other excuses; docs/dev/fuzz-rules.md explains the
fields.
"""

import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.fuzz.cost import growth, watch
from quire.fuzz.cost.growth import INSNS, Regression
from quire.fuzz.difference import excuses
from quire.fuzz.judge import AT_THE_END
from quire.fuzz.language.verbs import VERBS
from quire.host import data
from quire.host.errors import UserError
from quire.source.series import Series

PER = ("page", "operation")
_WORDS = (f"{name} {word}" for name, verb in VERBS.items() for word in verb.words)
KINDS = {*AT_THE_END.values(), *VERBS, *_WORDS}
SHORTEST = 4  # letters of a pattern besides its wildcards


@dataclass(frozen=True)
class Allowance:
    """One entry. At most one of `insns` and `percent` is non-zero."""

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
        """Return whether it applies to this operation, after the previous ones."""
        end = int(regression.step[2:]) if regression.op else None
        before = any(_named(self.after, op.kind) for op in regression.program[:end])
        return (before or not self.after) and _named(self.operations, regression.verb)

    def matches(self, symbol: str) -> bool:
        """Return whether it applies to this function."""
        return any(fnmatch.fnmatchcase(symbol, pattern) for pattern in self.symbols)

    def insns_for(self, regression: Regression) -> int:
        """Return how many more instructions it allows: those of its functions, up to its limit."""
        a, b = growth.functions(regression.a), growth.functions(regression.b)
        names = [name for name in {*a, *b} if self.matches(name)]
        op, pages = regression.op, 1
        if self.per == "page" and op and op.range:
            pages = op.range.count or 1
        limit = self.insns * pages
        limit += self.percent * regression.a.kernel // 100
        return max(0, min(limit, sum(b.get(name, 0) - a.get(name, 0) for name in names)))


def judge(
    allowed: Sequence[Allowance], regression: Regression
) -> tuple[Regression | None, set[str]]:
    """Return what remains of a growth, if anything, and the entries that took something away."""
    left, used = regression.grown, set[str]()
    for entry in allowed:
        if not entry.applies(regression):
            continue
        meant = {INSNS: entry.insns_for(regression), **entry.further}
        less = (replace(grown, b=grown.b - meant.get(grown.name, 0)) for grown in left)
        remaining = tuple(grown for grown in less if grown.beyond_margin)
        if remaining != left:
            used.add(entry.name)
        left = remaining
    return (replace(regression, grown=left) if left else None), used


def applying(
    series: Series | None, a: Series | None, functions: Collection[str]
) -> list[Allowance]:
    """Return the entries for topics that side b (of this series) has and side a lacks.

    UserError for an invalid entry, or one that matches no function of side b.
    """
    if not series or not series.file.with_name(excuses.FILE).is_file():
        return []
    topics = {*series.topics} - {*(a.topics if a else ())}
    entries = read(series.file.with_name(excuses.FILE))
    applying = [entry for entry in entries if entry.topic in topics]
    # The series may have only a patch of other topics.
    for entry in (entry for entry in applying if entry.topic in (series.chosen or topics)):
        if entry.symbols and not any(entry.matches(name) for name in functions):
            what = f"side b has no function {', '.join(entry.symbols)}"
            raise UserError(what, entry.name, "docs/dev/fuzz-rules.md shows an entry")
    return applying


def read(file: Path) -> list[Allowance]:
    """Read the [[allowed_cost]] entries of an excuses.toml. UserError names an invalid entry."""
    table = data.Table("allowed_cost", Allowance, excuses.REMEDY, ("excuse",), trouble=_trouble)
    return table.read(file)


def _trouble(entry: Allowance) -> str:
    """The problem if an entry is too broad or malformed: operations, functions, and a limit."""
    unknown = {*entry.operations, *entry.after} - KINDS
    limits = [entry.insns, entry.percent, *entry.further.values()]
    bad = min(limits) < 0 or not any(limits)
    broad = [pattern for pattern in entry.symbols if len(pattern.strip("*?")) < SHORTEST]
    unseen = {*entry.further} - {total.name for total in watch.read()[1]}
    for wrong, what in (
        (unknown, f"unknown operation: {', '.join(sorted(unknown))}"),
        (entry.per not in PER, f"per is {' or '.join(PER)}, not {entry.per!r}"),
        (bad, "an entry has no limit: insns, percent or further"),
        (entry.insns and entry.percent, "an entry has insns or percent, not both"),
        (
            bool(entry.symbols) != bool(entry.insns or entry.percent),
            "symbols need a limit of instructions, and such a limit symbols",
        ),
        (broad, f"pattern is too broad: {', '.join(broad)}"),
        (unseen, f"not watched: {', '.join(sorted(unseen))}"),
    ):
        if wrong:
            return what
    return ""


def _named(kinds: Collection[str], kind: str) -> bool:
    return kind in kinds or kind.partition(" ")[0] in kinds
