# SPDX-License-Identifier: GPL-2.0
"""What a kernel prints when something went wrong, whatever the tests said."""

from __future__ import annotations

import re
from dataclasses import dataclass

# printk's prefix: a time, with CONFIG_PRINTK_CALLER a task or CPU.
_PREFIX = r"^(?:<\d>)?(?:\[ *\d+\.\d+\] ?(?:\[ *[TC]\d+\] ?)?)?"

# Beginnings of messages. Order matters only for which name a report gets.
_BEGINNINGS = (
    ("panic", r"Kernel panic - not syncing"),
    ("KASAN", r"BUG: KASAN:"),
    ("KFENCE", r"BUG: KFENCE:"),
    ("KCSAN", r"BUG: KCSAN:"),
    ("UBSAN", r"UBSAN:"),
    ("bad page", r"BUG: Bad page"),
    ("bad rss-counter", r"BUG: Bad rss-counter"),
    ("soft lockup", r"watchdog: BUG:"),
    ("kernel BUG", r"kernel BUG at "),
    ("BUG", r"BUG: "),
    ("warning", r"WARNING: "),
    ("warning", r"------------\[ cut here \]"),
    ("Oops", r"Oops(?:: | - )"),
    ("Oops", r"Internal error: "),
    ("Oops", r"Unable to handle kernel "),
    ("Oops", r"general protection fault"),
    ("RCU stall", r"rcu: INFO: .* detected stalls"),
    ("hung task", r"INFO: task .* blocked for more than"),
    ("lockdep", r"INFO: (?:possible|inconsistent|trying)"),
    ("lockdep", r"(?:possible .* detected|inconsistent lock state)"),
    ("bad swap entry", r".*swap\w*: (?:Bad swap|Unused swap)"),
    ("refcount", r"refcount_t: "),
    ("list corruption", r"list_(?:add|del) corruption"),
    ("out of memory", r"(?:Out of memory: |Memory cgroup out of memory: |.*invoked oom-killer)"),
    ("stack dump", r"Call [Tt]race:"),
)
_PATTERNS = [(name, re.compile(_PREFIX + text)) for name, text in _BEGINNINGS]


@dataclass(frozen=True)
class Splat:
    """The first sign of trouble: its kind, the line, and its index in the log."""

    kind: str
    line: str
    index: int


def find(console: str) -> Splat | None:
    """The first splat in a console log; None if the kernel was content."""
    for index, line in enumerate(console.splitlines()):
        for name, pattern in _PATTERNS:
            if pattern.match(line):
                return Splat(name, line.strip(), index)
    return None


def excerpt(console: str, splat: Splat | None, lines: int = 40) -> str:
    """The lines worth showing: from the splat on, or the last ones."""
    rows = [row.rstrip() for row in console.splitlines()]
    start = splat.index if splat else max(0, len(rows) - lines)
    return "\n".join(rows[start : start + lines])
