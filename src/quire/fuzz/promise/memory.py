# SPDX-License-Identifier: GPL-2.0
"""What the processes of a program may see: for each page its allowed contents and its marks.

None in a mark means undefined: no promise says what it is. The next observation then settles it
(state.py), and from there on the promises hold again.
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
    """What one page of memory may hold, and the rule that says so.

    `fading` memory may also turn into zeroes at any time, and then stays zero. Of shared memory
    that is `unsaid`, nothing is said: it is not known where it is mapped, nor what writes reach it.
    """

    allowed: frozenset[Content]
    rule: Promise
    fading: bool = False
    unsaid: bool = False

    def copy(self, rule: Promise | None = None) -> "Frame":
        """Return another page with the same content."""
        return Frame(self.allowed, rule or self.rule, self.fading)

    def become(self, allowed: Iterable[Content], rule: Promise, *, fading: bool = False) -> None:
        """Hold one of these from now on."""
        self.allowed = frozenset(allowed) | {ZERO} if fading else frozenset(allowed)
        self.rule, self.fading = rule, fading

    def allows(self, seen: str, words: bool) -> bool:
        """Return whether one of the allowed contents has this name in a record."""
        if len(self.allowed) == 1:
            # As almost always.
            return name(*self.allowed, words) == seen
        return any(name(content, words) == seen for content in self.allowed)

    def narrow(self, seen: str, words: bool) -> None:
        """Settle on what was seen, if it is allowed; fading memory may still lose it."""
        kept = frozenset(content for content in self.allowed if name(content, words) == seen)
        if kept:
            self.allowed = kept | ({ZERO} if self.fading else frozenset())


@dataclass(slots=True)
class Page:
    """A page of a process's address space.

    `behind` is the page of the file that may show through, `at` its number in the file. `murky`
    pages have no promise at all.
    """

    kind: str
    frame: Frame
    behind: Frame | None = None
    at: int | None = None
    prot: str = "rw"
    marked: bool | None = False  # protected by userfaultfd
    trapped: bool | None = False  # if it is marked: from reads, too
    tracked: bool | None = False  # if it is marked: only until a write, which succeeds
    dirty: bool = False  # soft-dirty for certain
    locked: bool | None = False  # its mapping is
    resident: bool = False  # locked, and present for certain
    dontfork: bool | None = False
    wipe: bool | None = False
    murky: bool = False

    @property
    def shared(self) -> bool:
        """Whether writes reach other mappings."""
        return self.kind in SHARED

    @property
    def unsaid(self) -> bool:
        """Whether nothing says what it holds."""
        return self.murky or self.frame.unsaid or bool(self.behind and self.behind.unsaid)

    @property
    def private(self) -> bool:
        """Whether nothing but this process's writes changes it, nor may it vanish."""
        return not self.shared and not self.behind and not self.frame.fading and not self.murky

    @property
    def held(self) -> bool:
        """Whether it has contents that only this page holds: it must be present or in swap."""
        return self.private and ZERO not in self.frame.allowed

    @property
    def perhaps_marked(self) -> bool | None:
        """The mark after something that may lift it; nothing of that kind sets one."""
        return False if self.marked is False else None

    @property
    def refuses_reads(self) -> bool | None:
        """Whether a read raises SIGBUS; None: nothing is said."""
        if self.trapped is False or self.marked is False:
            return False
        return None if self.marked is None else self.trapped

    @property
    def refuses_writes(self) -> bool | None:
        """Whether a write raises SIGBUS; None: nothing is said."""
        if not self.marked or self.tracked is False:
            return self.marked
        return None if self.tracked is None else False

    def child(self) -> "Page | None":
        """Return the page of a child that is forked now."""
        if self.dontfork:
            return None
        new = replace(self, dirty=False, locked=False, resident=False)
        # Without UFFD_FEATURE_EVENT_FORK a child is not registered; what remains is not said.
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
    """The address space of a process. `doubtful`: places whose mapping an error left unsaid."""

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
    words: bool = False  # the program has operations on single words: records name those
    soft_dirty: bool = False  # the kernel has soft-dirty bits
    swapping: bool = True
    # How many operations in a row were `reclaim`, with swap and with nothing held or locked. Each
    # asks for more than there is, and tries sixteen times. Two are enough for pages that the
    # observation itself has accessed.
    reclaims: int = 0
    ENOUGH: ClassVar[int] = 2
    # Private pages that the last operation has written to for certain, by their id().
    written: set[int] = field(default_factory=set)

    def pages(self) -> Iterator[tuple[int, Position, Page]]:
        """Yield all pages of all processes."""
        for actor, process in self.processes.items():
            for place, page in process.pages.items():
                yield actor, place, page

    @property
    def kept(self) -> bool:
        """Whether some page is locked or held, and with it all of its folio."""
        holding = any(process.holding for process in self.processes.values())
        return holding or any(page.locked is not False for _, _, page in self.pages())

    def mapped(self, content: str) -> int:
        """Return at most how often a merged page of this content is mapped."""
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
    """Let shared memory hold one of these, and maybe show through private mappings."""
    frame.become(allowed, rule)
    for page in shows.get(id(frame), ()):
        # It may have been written to since.
        if page.behind is frame:
            page.frame.allowed |= frame.allowed


# What an operation with that outcome does.
Effect = Callable[[Memory, Process, Op, str], None]
