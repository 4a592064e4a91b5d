# SPDX-License-Identifier: GPL-2.0
"""The errors that operations must return, where a manual says it and the model knows enough.

language/verbs.py has the table. An operation without an entry there may return anything.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from quire.fuzz.language.program import Op
from quire.fuzz.language.tracker import positions
from quire.fuzz.language.verbs import Error
from quire.fuzz.promise import state
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.memory import PRIVATE_ANON, Page, Process
from quire.fuzz.promise.rules import Promise


@dataclass(frozen=True)
class Call:
    """An operation, the process that calls it, and the record's mappings before it."""

    process: Process
    op: Op
    states: Mapping[str, str]

    @property
    def pages(self) -> list[Page]:
        """The mapped pages of the range."""
        return list(self.process.within(self.op.range))

    @property
    def holes(self) -> bool:
        """Whether a part of the range is not mapped."""
        return any(place not in self.process.pages for place in positions(self.op.range))

    @property
    def file(self) -> bool:
        """Whether a part of the range is shared, or of a file."""
        return any(page.kind not in PRIVATE_ANON for page in self.pages)

    @property
    def mappings(self) -> int:
        """How many mappings the range spans."""
        if not self.op.range:
            return 0
        where = self.op.range
        mappings = state.mappings(self.states.get(f"v {self.op.actor} {where.slot}", ""))
        return sum(seen.first < where.end and where.page < seen.end for seen in mappings)


# By name: what holds of a call.
CONDITIONS: Mapping[str, Callable[[Call], bool]] = {
    "always": lambda _call: True,
    # A part of the range is not mapped; the range begins with a hole.
    "holes": lambda call: call.holes,
    "unmapped": lambda call: next(iter(positions(call.op.range)), None) not in call.process.pages,
    # A part of the range is shared, or of a file; is private or may not be written to; is locked.
    "file": lambda call: call.file,
    "private": lambda call: any(not page.shared or page.prot != "rw" for page in call.pages),
    "locked": lambda call: any(page.locked for page in call.pages),
    # All of the range is mapped, not locked, and not droppable.
    "plain": lambda call: (
        not (call.holes or any(page.locked or page.kind == "droppable" for page in call.pages))
    ),
    # An access by the kernel to any page of the range succeeds, as it does for the process.
    "readable": lambda call: all(
        page.prot != "none" and page.marked is False for page in call.pages
    ),
    # The range is in one mapping; MREMAP_DONTUNMAP wants private anonymous memory, too.
    "one": lambda call: (
        call.mappings == 1 and not call.holes and not (call.op.word == "keep" and call.file)
    ),
    # There is a page at the target of a move, which overlaps its source or does not.
    "occupied": lambda call: (
        any(page.held for page in call.process.within(call.op.target))
        and not CONDITIONS["onto"](call)
    ),
    # The target of a move overlaps its source.
    "onto": lambda call: bool({*positions(call.op.range)} & {*positions(call.op.target)}),
}


@cache
def promise(name: str, error: Error) -> Promise:
    """The promise about an operation of that name."""
    when, outcomes, source = error
    return Promise(f"error: {when}", f"{name}: {outcomes}", source)


def check(process: Process, op: Op, outcome: str, states: Mapping[str, str]) -> Iterator[Seen]:
    """What the outcome of an operation breaks."""
    call = Call(process, op, states)
    if any(page.murky or page.locked is None for page in call.pages):
        # The model does not know enough of the range.
        return
    for error in op.entry.errors:
        if CONDITIONS[error[0]](call):
            allowed = error[1].split()
            # What follows may be how much was done.
            if outcome.partition(" ")[0] not in allowed:
                yield promise(op.call, error), f"{outcome}, not {' or '.join(sorted(allowed))}"
            return
