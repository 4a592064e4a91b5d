# SPDX-License-Identifier: GPL-2.0
"""Classify locks by lock function and caller, using workloads/locks.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.boot.counts import RegionCounts
from quire.host import data
from quire.host.errors import UserError

# In the folder of workloads.
FILE = "locks.toml"


@dataclass(frozen=True)
class LockRule:
    """A rule: calls to a group of functions by these callers (patterns) take that class of lock."""

    name: str
    functions: str
    callers: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class Locks:
    """The file's contents: lock functions by group, and the rules in order."""

    functions: Mapping[str, tuple[str, ...]]
    rule: tuple[LockRule, ...]

    @property
    def watched(self) -> tuple[str, ...]:
        """All lock functions, for the plugin."""
        names = (name for rule in self.rule for name in self.functions[rule.functions])
        return tuple(dict.fromkeys(names))

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in order."""
        return tuple(dict.fromkeys(rule.name for rule in self.rule))

    def class_of(self, caller: str, function: str) -> str:
        """Return the class of a call. UserError for a function without a rule."""
        for rule in self.rule:
            callers = rule.callers if function in self.functions[rule.functions] else ()
            if any(fnmatchcase(caller, pattern) for pattern in callers):
                return rule.name
        raise UserError(
            f"no class of locks covers {function}",
            f"called by {caller}",
            f"add it to a group of functions in {FILE}",
        )

    def count(self, counts: RegionCounts) -> dict[str, int]:
        """Count the locks taken in a region by class, including zeroes."""
        total = dict.fromkeys(self.classes, 0)
        for (caller, function), number in counts.locks.items():
            total[self.class_of(caller, function)] += number
        return total


def read(file: Path) -> Locks:
    """Read a file's classes. UserError says what is wrong with it."""
    remedy = "fix it: the comment at its top explains the keys"
    locks = data.read(file, Locks, remedy)
    groups = locks.functions
    if unknown := {rule.functions for rule in locks.rule} - groups.keys():
        raise UserError(f"there is no group of functions {', '.join(unknown)}", str(file), remedy)
    # The last rule for a group must cover every caller.
    for group in groups.keys() - {rule.functions for rule in locks.rule if "*" in rule.callers}:
        raise UserError(
            f"some calls of {', '.join(groups[group])} have no class",
            str(file),
            "add a class without `callers` for this group of functions",
        )
    return locks
