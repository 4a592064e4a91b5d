# SPDX-License-Identifier: GPL-2.0
"""The errors that operations must return, where a manual says it and the model knows enough.

The first entry of an operation that applies decides. An operation without one may return anything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quire.fuzz.language.program import ADVICES, Op
from quire.fuzz.promise import state
from quire.fuzz.promise.accesses import Seen
from quire.fuzz.promise.memory import PRIVATE_ANON, Page, Process, places, target
from quire.fuzz.promise.rules import Rule


@dataclass(frozen=True)
class Call:
    """An operation, the process that calls it, and the record's mappings before it."""

    process: Process
    op: Op
    states: Mapping[str, str]

    @property
    def always(self) -> bool:
        """Whatever the range is."""
        return True

    @property
    def holes(self) -> bool:
        """A part of the range is not mapped."""
        return self.process.holes(self.op.range)

    @property
    def unmapped(self) -> bool:
        """The range begins with a hole."""
        return next(iter(places(self.op.range)), None) not in self.process.pages

    @property
    def file(self) -> bool:
        """A part of the range is shared, or of a file."""
        return any(page.kind not in PRIVATE_ANON for page in self.pages)

    @property
    def private(self) -> bool:
        """A part of the range is private or may not be written to."""
        return any(not page.shared or page.prot != "rw" for page in self.pages)

    @property
    def locked(self) -> bool:
        """A part of the range is locked."""
        return any(page.locked for page in self.pages)

    @property
    def plain(self) -> bool:
        """All of the range is mapped, not locked, and not droppable."""
        droppable = any(page.kind == "droppable" for page in self.pages)
        return not self.holes and not self.locked and not droppable

    @property
    def readable(self) -> bool:
        """An access by the kernel to any page of the range succeeds, as it does for the process."""
        return all(page.prot != "none" and page.marked is False for page in self.pages)

    @property
    def one(self) -> bool:
        """The range is in one mapping; MREMAP_DONTUNMAP wants private anonymous memory, too."""
        return self.mappings == 1 and not self.holes and not (self.op.word == "keep" and self.file)

    @property
    def onto(self) -> bool:
        """The target of a move overlaps its source."""
        to = target(self.op)
        return bool(to and {*places(self.op.range)} & {*places(to)})

    @property
    def unsaid(self) -> bool:
        """The model does not know enough of the range."""
        return any(page.murky or page.locked is None for page in self.pages)

    @property
    def pages(self) -> list[Page]:
        """The mapped pages of the range."""
        return list(self.process.within(self.op.range))

    @property
    def mappings(self) -> int:
        """How many mappings the range spans."""
        if not self.op.range:
            return 0
        slot = self.op.range.slot
        text = self.states.get(f"v {self.op.actor} {slot}", "")
        mapped = state.mapped(text, slot)
        return len({mapped[place].mapping for place in places(self.op.range) if place in mapped})


@dataclass(frozen=True)
class Promise:
    """The outcomes of some operations if a condition holds, which is a property of Call."""

    operations: frozenset[str]
    when: str
    outcomes: frozenset[str]
    rule: Rule


def _promise(operations: str, when: str, outcomes: str, source: str) -> Promise:
    words = [f"advise {word}" if word in ADVICES else word for word in operations.split()]
    rule = Rule(f"error: {when}", f"{operations}: {outcomes}", source)
    return Promise(frozenset(words), when, frozenset(outcomes.split()), rule)


_FORK = "dontfork dofork wipeonfork keeponfork"
_LRU = "pageout cold dontneed"
PROMISES: tuple[Promise, ...] = (
    _promise("map", "always", "ok", "mmap(2): MAP_FIXED"),
    _promise("unmap", "always", "ok", "munmap(2): DESCRIPTION"),
    _promise("protect", "holes", "ENOMEM", "mprotect(2): ENOMEM"),
    _promise("protect", "always", "ok", "mprotect(2): DESCRIPTION"),
    _promise("lock unlock", "holes", "ENOMEM", "mlock(2): ENOMEM"),
    _promise("lock", "readable", "ok", "mlock(2): DESCRIPTION"),
    _promise("unlock", "always", "ok", "mlock(2): DESCRIPTION"),
    _promise("move", "onto", "EINVAL EFAULT", "mremap(2): EINVAL, EFAULT"),
    # Newer kernels move several mappings, and leave the holes between them out.
    _promise("move", "unmapped", "EFAULT", "mremap(2): EFAULT"),
    _promise("move", "one", "ok", "mremap(2): DESCRIPTION"),
    _promise("free wipeonfork", "file", "EINVAL ENOMEM", "madvise(2): EINVAL"),
    _promise("remove", "private", "EACCES EINVAL ENOMEM", "madvise(2): EACCES"),
    _promise(f"{_LRU} remove", "locked", "EINVAL ENOMEM", "madvise(2): EINVAL"),
    _promise(f"free {_LRU} remove {_FORK}", "holes", "EINVAL ENOMEM", "madvise(2): ENOMEM"),
    _promise(f"free {_LRU} remove {_FORK}", "plain", "ok", "madvise(2): DESCRIPTION"),
)


def check(process: Process, op: Op, outcome: str, states: Mapping[str, str]) -> Iterator[Seen]:
    """What the outcome of an operation breaks."""
    name = f"advise {op.word}" if op.verb == "advise" else op.verb
    call = Call(process, op, states)
    if call.unsaid:
        return
    for promise in PROMISES:
        if name in promise.operations and getattr(call, promise.when):
            if outcome not in promise.outcomes:
                yield promise.rule, f"{outcome}, not {' or '.join(sorted(promise.outcomes))}"
            return
