# SPDX-License-Identifier: GPL-2.0
"""What each advice of madvise() does to the memory that the model describes.

Advice that is not in the table must not change what a process sees.
"""

from quire.fuzz.language.program import Op
from quire.fuzz.promise import rules
from quire.fuzz.promise.content import ZERO, Content
from quire.fuzz.promise.memory import PRIVATE_ANON, Effect, Memory, Process


def _free(_memory: Memory, process: Process, op: Op, _ok: bool) -> None:
    # On an error, the pages before it may have been given up.
    for page in process.within(op.range):
        if page.kind in PRIVATE_ANON:
            page.cell.become(page.cell.allowed, rules.GIVEN_UP, fading=True)
            page.dirty, page.marked = False, page.perhaps_marked


def _dontneed(memory: Memory, process: Process, op: Op, ok: bool) -> None:
    for page in process.within(op.range):
        page.dirty, page.marked = False, page.perhaps_marked
        if page.shared:
            continue
        page.behind = memory.of_file(page.at) if page.at is not None else None
        fresh = page.behind.allowed if page.behind else frozenset({ZERO})
        fading = page.kind == "droppable" or (page.cell.fading and not ok)
        page.cell.become(fresh if ok else fresh | page.cell.allowed, rules.DROPPED, fading=fading)


def _remove(memory: Memory, process: Process, op: Op, ok: bool) -> None:
    holes = {id(page.cell): page.cell for page in process.within(op.range) if page.shared}
    for cell in holes.values():
        before: frozenset[Content] = frozenset() if ok else cell.allowed
        memory.change(cell, {ZERO} | before, rules.HOLE)
    for _, _, page in memory.pages():
        if id(page.cell) in holes or id(page.behind) in holes:
            page.marked, page.dirty, page.resident = page.perhaps_marked, False, False


def _inherit(_memory: Memory, process: Process, op: Op, ok: bool) -> None:
    """What a child gets of the range."""
    for page in process.within(op.range):
        if op.word in ("dontfork", "dofork"):
            page.dontfork = op.word == "dontfork" if ok else None
        else:
            page.wipe = op.word == "wipeonfork" if ok else None


EFFECTS: dict[str, Effect] = {
    "free": _free,
    "dontneed": _dontneed,
    "remove": _remove,
    "dontfork": _inherit,
    "dofork": _inherit,
    "wipeonfork": _inherit,
    "keeponfork": _inherit,
}
