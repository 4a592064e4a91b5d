# SPDX-License-Identifier: GPL-2.0
"""Which lock a call takes: classes by lock function and caller, in workloads/locks.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.boot.counts import RegionCounts
from quire.host import data
from quire.host.errors import UserError

# Beside the workloads.
FILE = "locks.toml"


@dataclass(frozen=True)
class Rule:
    """Calls of these functions by these callers (patterns) take a lock of that class."""

    name: str
    functions: tuple[str, ...]
    callers: tuple[str, ...] = ("*",)

    def covers(self, caller: str, function: str) -> bool:
        """Whether the rule is for such a call."""
        return function in self.functions and any(
            fnmatchcase(caller, pattern) for pattern in self.callers
        )


@dataclass(frozen=True)
class Locks:
    """The rules, in order."""

    rules: tuple[Rule, ...]

    @property
    def functions(self) -> tuple[str, ...]:
        """All lock functions, for the plugin."""
        return tuple(dict.fromkeys(name for rule in self.rules for name in rule.functions))

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in order."""
        return tuple(dict.fromkeys(rule.name for rule in self.rules))

    def class_of(self, caller: str, function: str) -> str:
        """The class of a call. UserError for a function of no rule."""
        for rule in self.rules:
            if rule.covers(caller, function):
                return rule.name
        raise UserError(
            f"no class of locks covers {function}",
            f"called by {caller}",
            f"add it to a group of functions in {FILE}",
        )

    def count(self, counts: RegionCounts) -> dict[str, int]:
        """The locks taken in a region by class, zeroes included."""
        total = dict.fromkeys(self.classes, 0)
        for (caller, function), number in counts.locks.items():
            total[self.class_of(caller, function)] += number
        return total


@dataclass(frozen=True)
class _Class:
    name: str
    functions: str
    callers: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class _File:
    functions: Mapping[str, tuple[str, ...]]
    rule: tuple[_Class, ...]


def read(file: Path) -> Locks:
    """The classes of a file. UserError says what is wrong with it."""
    remedy = "fix it: the comment at its top explains the keys"
    content = data.read(file, _File, remedy)
    groups = content.functions
    unknown = {row.functions for row in content.rule} - groups.keys()
    if unknown:
        raise UserError(f"no group of functions is called {', '.join(unknown)}", str(file), remedy)
    rules = tuple(Rule(row.name, groups[row.functions], row.callers) for row in content.rule)
    # The last rule for a function must cover every caller.
    covered = {name for rule in rules if "*" in rule.callers for name in rule.functions}
    missing = {name for group in groups.values() for name in group} - covered
    if missing:
        raise UserError(
            f"calls of {', '.join(sorted(missing))} may have no class",
            str(file),
            "add a class without `callers` for this group of functions",
        )
    return Locks(rules)
