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
class LockRule:
    """Calls of a group of functions by these callers (patterns) take a lock of that class."""

    name: str
    functions: str
    callers: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class Locks:
    """The file: lock functions by group, and the rules in order."""

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
        """The class of a call. UserError for a function of no rule."""
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
        """The locks taken in a region by class, zeroes included."""
        total = dict.fromkeys(self.classes, 0)
        for (caller, function), number in counts.locks.items():
            total[self.class_of(caller, function)] += number
        return total


def read(file: Path) -> Locks:
    """The classes of a file. UserError says what is wrong with it."""
    remedy = "fix it: the comment at its top explains the keys"
    locks = data.read(file, Locks, remedy)
    groups = locks.functions
    if unknown := {rule.functions for rule in locks.rule} - groups.keys():
        raise UserError(f"no group of functions is called {', '.join(unknown)}", str(file), remedy)
    # The last rule for a group must cover every caller.
    for group in groups.keys() - {rule.functions for rule in locks.rule if "*" in rule.callers}:
        raise UserError(
            f"calls of {', '.join(groups[group])} may have no class",
            str(file),
            "add a class without `callers` for this group of functions",
        )
    return locks
