# SPDX-License-Identifier: GPL-2.0
"""Recognise kernel messages that report a problem, independently of the test results."""

import re
from dataclasses import dataclass

# printk's prefix: a time and, with CONFIG_PRINTK_CALLER, a task or CPU.
_PREFIX = r"^(?:<\d>)?(?:\[ *\d+\.\d+\] ?(?:\[ *[TC]\d+\] ?)?)?"

# Only the beginning of a report; the lines after it name the problem.
CUT = "cut here"
NAMED_WITHIN = 6

# Beginnings of messages. Their order affects only the name of a report.
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
    ("lockdep", r"WARNING: (?:possible|inconsistent|suspicious|bad unlock)"),
    ("warning", r"WARNING: "),
    (CUT, r"------------\[ cut here \]"),
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
    """The first sign of a problem: its kind, its line, and the line's index in the log."""

    kind: str
    line: str
    index: int


def find(console: str) -> Splat | None:
    """Find the first splat in a console log; None if there is none."""
    lines = console.splitlines()
    for index, line in enumerate(lines):
        name = _kind(line)
        if name == CUT:
            following = map(_kind, lines[index + 1 : index + NAMED_WITHIN])
            name = next((kind for kind in following if kind and kind != CUT), "warning")
        if name:
            return Splat(name, line.strip(), index)
    return None


def _kind(line: str) -> str:
    """Return the kind of report that a line begins; empty for an ordinary line."""
    return next((name for name, pattern in _PATTERNS if pattern.match(line)), "")


def excerpt(console: str, splat: Splat | None, lines: int = 40) -> str:
    """Select the lines to show: those from the splat on, or the last ones."""
    rows = [row.rstrip() for row in console.splitlines()]
    start = splat.index if splat else max(0, len(rows) - lines)
    return "\n".join(rows[start : start + lines])
