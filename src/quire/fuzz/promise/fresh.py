# SPDX-License-Identifier: GPL-2.0
"""Reads right before and right after an operation, which `warm` asks for: stale TLB entries.

The record has a hash of what was read (content_hash() of guest/fuzz/content.c).
"""

from __future__ import annotations

import re

from quire.fuzz.language.program import Range
from quire.fuzz.promise import content
from quire.fuzz.promise.memory import Memory, Page, Process, places

_HASHES = re.compile(r" before=([0-9a-f]{8}) after=([0-9a-f]{8})$")


def hashes(outcome: str) -> tuple[str, str] | None:
    """The hashes before and after an operation, if its pages were read."""
    match = _HASHES.search(outcome)
    return (match[1], match[2]) if match else None


def expected(memory: Memory, process: Process, where: Range) -> str | None:
    """The hash that a read of the range must have; None if some page may hold several things."""
    value = 0
    for place in places(where):
        page = process.pages.get(place)
        if place in process.doubtful or (page and not _certain(page)):
            return None
        readable = page and page.prot != "none"
        held = next(iter(page.cell.allowed)) if page and readable else None
        value = content.mixed(value, held, words=memory.words)
    return f"{value >> 32:08x}"


def _certain(page: Page) -> bool:
    return not page.unsaid and len(page.cell.allowed) == 1
