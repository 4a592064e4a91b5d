# SPDX-License-Identifier: GPL-2.0
"""The model: for each page of each process, the allowed contents and marks.

A mark that is None is undefined, because no promise covers it. The next observation defines it
(state.py), and from then on the promises hold again.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from quire.fuzz.language.program import Op, Position, Range, positions
from quire.fuzz.promise import rules
from quire.fuzz.promise.content import ZERO, Content, name
from quire.fuzz.promise.rules import Promise

PRIVATE_ANON = frozenset({"anon", "droppable"})
SHARED = frozenset({"shared", "shfile"})
FILE = frozenset({"file", "shfile", "far"})
# The first page of `far` mappings in the file (FAR_OFFSET of guest/fuzz/fuzz.h).
FAR = 64 << 40 | 5 << 32


@dataclass(slots=True)
class Frame:
    """The allowed contents of one page of memory, and the promise that allows them.

    `fading` memory may also become zero at any time, and then stays zero. Nothing is checked for
    shared memory that is `unsaid`: its mappings, and the writes that reach it, are unknown.
    """

    allowed: frozenset[Content]
    rule: Promise
    fading: bool = False
    unsaid: bool = False

    def copy(self, rule: Promise | None = None) -> "Frame":
        """Return another page with the same content."""
        return Frame(self.allowed, rule or self.rule, self.fading)

    def become(self, allowed: Iterable[Content], rule: Promise, *, fading: bool = False) -> None:
        """Allow only these contents from now on."""
        self.allowed = frozenset(allowed) | {ZERO} if fading else frozenset(allowed)
        self.rule, self.fading = rule, fading

    def allows(self, seen: str, words: bool) -> bool:
        """Return whether one of the allowed contents has this name in a record."""
        if len(self.allowed) == 1:
            # The common case.
            return name(*self.allowed, words) == seen
        return any(name(content, words) == seen for content in self.allowed)

    def narrow(self, seen: str, words: bool) -> None:
        """Keep only the content seen, if it is allowed; fading memory may still lose it."""
        kept = frozenset(content for content in self.allowed if name(content, words) == seen)
        if kept:
            self.allowed = kept | ({ZERO} if self.fading else frozenset())


@dataclass(slots=True)
class Page:
    """A page of a process's address space.

    `behind` is the page of the file that may show through, `at` its number in the file. No promise
    covers `murky` pages.
    """

    kind: str
    frame: Frame
    behind: Frame | None = None
    at: int | None = None
    prot: str = "rw"
    marked: bool | None = False  # protected by userfaultfd
    trapped: bool | None = False  # if marked: also from reads
    tracked: bool | None = False  # if marked: only until a write, which succeeds
    dirty: bool = False  # certainly soft-dirty
    locked: bool | None = False  # its mapping is
    resident: bool = False  # locked, and certainly present
    dontfork: bool | None = False
    wipe: bool | None = False
    murky: bool = False

    @property
    def shared(self) -> bool:
        """Whether writes reach other mappings."""
        return self.kind in SHARED

    @property
    def unsaid(self) -> bool:
        """Whether its contents are undefined."""
        return self.murky or self.frame.unsaid or bool(self.behind and self.behind.unsaid)

    @property
    def private(self) -> bool:
        """Whether only this process's writes change it, and it cannot vanish."""
        return not self.shared and not self.behind and not self.frame.fading and not self.murky

    @property
    def held(self) -> bool:
        """Whether only this page has its contents, so that it must be present or in swap."""
        return self.private and ZERO not in self.frame.allowed

    @property
    def perhaps_marked(self) -> bool | None:
        """The mark after an operation that may lift it, and never sets one."""
        return False if self.marked is False else None

    @property
    def refuses_reads(self) -> bool | None:
        """Whether a read raises SIGBUS; None: undefined."""
        if self.trapped is False or self.marked is False:
            return False
        return None if self.marked is None else self.trapped

    @property
    def refuses_writes(self) -> bool | None:
        """Whether a write raises SIGBUS; None: undefined."""
        if not self.marked or self.tracked is False:
            return self.marked
        return None if self.tracked is None else False

    def child(self) -> "Page | None":
        """Return the page in a child that is forked now."""
        if self.dontfork:
            return None
        new = replace(self, dirty=False, locked=False, resident=False)
        # Without UFFD_FEATURE_EVENT_FORK, a child is not registered; its marks are undefined.
        new.marked = self.perhaps_marked
        new.trapped = None if self.trapped else self.trapped
        new.tracked = None if self.tracked else self.tracked
        if self.wipe or self.kind == "droppable":
            new.frame = Frame(frozenset({ZERO}), rules.WIPED, fading=self.kind == "droppable")
            new.behind = None
        elif not self.shared:
            new.frame = self.frame.copy(rules.FORKED if self.private else None)
            new.murky |= self.wipe is None
        return new


@dataclass
class Process:
    """The address space of a process. `doubtful`: places whose mapping an error left undefined."""

    pages: dict[Position, Page] = field(default_factory=dict)
    doubtful: set[Position] = field(default_factory=set)
    holding: bool = False
    crowd: int = 0  # children that share its memory
    locked_base: int | None = None  # VmLck, less the pages of the program

    def within(self, where: Range | None) -> Iterator[Page]:
        """Return the mapped pages of a range."""
        return (self.pages[place] for place in positions(where) if place in self.pages)


# Private pages by the id() of the page of the file that may show through them.
Shows = dict[int, list[Page]]


@dataclass
class Memory:
    """All processes of a program, and the file."""

    processes: dict[int, Process] = field(default_factory=lambda: {0: Process()})
    file: dict[int, Frame] = field(default_factory=dict)
    words: bool = False  # the program writes single words: records name those
    soft_dirty: bool = False  # the kernel has soft-dirty bits
    swapping: bool = True
    # Successive `reclaim` operations, with swap and without references or locks. Each asks for more
    # than there is, and tries sixteen times. Two suffice for pages that the observation itself has
    # accessed.
    reclaims: int = 0
    ENOUGH: ClassVar[int] = 2
    # Private pages that the last operation has certainly written, by their id().
    written: set[int] = field(default_factory=set)

    def pages(self) -> Iterator[tuple[int, Position, Page]]:
        """Yield all pages of all processes."""
        for actor, process in self.processes.items():
            for place, page in process.pages.items():
                yield actor, place, page

    @property
    def kept(self) -> bool:
        """Whether any page is locked or has an extra reference, which keeps its whole folio."""
        holding = any(process.holding for process in self.processes.values())
        return holding or any(page.locked is not False for _, _, page in self.pages())

    def mapped(self, content: str) -> int:
        """Return an upper limit for the mappings of a merged page with this content."""
        return sum(
            (1 + process.crowd)
            * sum(page.frame.allows(content, self.words) for page in process.pages.values())
            for process in self.processes.values()
        )

    def of_file(self, at: int) -> Frame:
        """Return a page of the file; at first it is a hole."""
        return self.file.setdefault(at, Frame(frozenset({ZERO}), rules.SHOWN))

    def shows(self) -> Shows:
        """Return the private pages that pages of the file may show through."""
        shows: Shows = {}
        for _, _, page in self.pages():
            if page.behind:
                shows.setdefault(id(page.behind), []).append(page)
        return shows


def change(frame: Frame, allowed: Iterable[Content], rule: Promise, shows: Shows) -> None:
    """Set the allowed contents of shared memory, which may show through private mappings."""
    frame.become(allowed, rule)
    for page in shows.get(id(frame), ()):
        # It may have been written since.
        if page.behind is frame:
            page.frame.allowed |= frame.allowed


# Applies an operation with this outcome to the model.
Effect = Callable[[Memory, Process, Op, str], None]
