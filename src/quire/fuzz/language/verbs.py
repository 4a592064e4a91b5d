# SPDX-License-Identifier: GPL-2.0
"""The operations of programs: one entry each. A new operation begins here (docs/fuzz.md).

An entry has the grammar, how often generated programs have the operation, what it does to pages,
what it must return, and flags. The guest's function is in guest/fuzz/.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

ACTORS = 4
MAX_NUMBER = 1 << 20
PAGE_WORDS = 512
FOLIO_WEIGHTS = {4: 1, 16: 3, 32: 2, 64: 8, 128: 2, 256: 1, 512: 0.5, 1024: 0.3, 2048: 1}
# Passes of ksmd: a merged page that was written to needs up to four to be merged again.
PASSES = (2, 4, 4, 5, 8)
# Sharers: a few, many more than a byte of the swap map counts, and around that limit.
CROWDS = (2, 60, 61, 61, 62, 100)
# What must hold of a call, what it must return then, and who says so (promise/outcomes.py).
Error = tuple[str, str, str]


@dataclass(frozen=True)
class Verb:
    """One operation, or one advice of `advise`.

    `takes`: R a range, A an address, n a number, w one of `words`, which have weights. A generated
    program has it by its `weight`, or that of its theme, with one of `numbers`; `largest` is the
    largest number and what that is. `effect` names what it does to the pages that the oracle
    follows (promise/effects.py). Of `errors` the first one whose condition holds decides.
    """

    takes: str = ""
    weight: float = 0
    themes: Mapping[str, float] = field(default_factory=dict)
    effect: str = ""
    errors: tuple[Error, ...] = ()
    words: Mapping[str, float] = field(default_factory=dict)
    numbers: int | tuple[int, ...] = 0
    largest: tuple[int, str] = (MAX_NUMBER, "")
    actor: bool = True  # a process does it
    sets: bool = False  # only prepares the next operations: nothing is recorded after it
    idle: bool = False  # touches no memory
    writes: bool = False  # writes to its pages
    unmerges: bool = False  # the same, or takes merged pages apart
    reclaims: bool = False
    empties: bool = False  # drops the pages of its range
    remaps: bool = False  # replaces or removes the mapping of its range
    doubts: bool = False  # after an error, nothing says how its range is mapped
    batched: bool = False  # changes or moves entries, which a kernel can do in batches
    holds: bool = False  # takes references
    counts: bool = False  # its outcome depends on which pages are large folios

    @property
    def on_pages(self) -> bool:
        """Whether it takes a range or an address."""
        return "R" in self.takes or "A" in self.takes


_SWITCH = {"on": 1, "off": 1}
_LOCK_HOLES = ("holes", "ENOMEM", "mlock(2): ENOMEM")
_RANGE = (
    ("holes", "EINVAL ENOMEM", "madvise(2): ENOMEM"),
    ("plain", "ok", "madvise(2): DESCRIPTION"),
)
_LRU = (("locked", "EINVAL ENOMEM", "madvise(2): EINVAL"), *_RANGE)
_FILE = ("file", "EINVAL ENOMEM", "madvise(2): EINVAL")
_PRIVATE = ("private", "EACCES EINVAL ENOMEM", "madvise(2): EACCES")

# Generated programs depend on the order.
TABLE: dict[str, Verb] = {
    "write": Verb("R", 8, {"cow": 12}, writes=True, unmerges=True),
    "read": Verb("R", 2, {"swapout": 4}),
    "fork": Verb("n", 3, {"cow": 6}, "fork", largest=(ACTORS - 1, "processes are 0 to")),
    "exit": Verb("", 1, {"cow": 3}, "exit"),
    "protect": Verb(
        "Rw", 2.5, {}, "protect",
        (("holes", "ENOMEM", "mprotect(2): ENOMEM"),
         ("always", "ok", "mprotect(2): DESCRIPTION")),
        {"rw": 4, "r": 4, "none": 1}, batched=True, doubts=True),
    "unmap": Verb("R", 1.5, {}, "map", (("always", "ok", "munmap(2): DESCRIPTION"),),
                  empties=True, remaps=True, doubts=True),
    "map": Verb("Rw", 1, {}, "map", (("always", "ok", "mmap(2): MAP_FIXED"),),
                {"anon": 20, "file": 1.5, "shared": 1.5, "shfile": 1.5, "far": 0.5, "droppable": 1},
                empties=True, remaps=True, doubts=True),
    "move": Verb(
        "RAw", 2.5, {"mremap": 12, "ksm": 4}, "move",
        (("onto", "EINVAL EFAULT", "mremap(2): EINVAL, EFAULT"),
         # Newer kernels move several mappings, and leave the holes between them out.
         ("unmapped", "EFAULT", "mremap(2): EFAULT"),
         ("one", "ok", "mremap(2): DESCRIPTION")),
        {"move": 1, "keep": 1}, batched=True),
    "resize": Verb("Rn", 0.3, {}, "resize", unmerges=True, doubts=True),
    "clear-refs": Verb("n", 1.5, {}, "clear_refs", numbers=(1, 4, 4)),
    "wp": Verb("R", 1.5, {"mremap": 3, "uffd": 1}, "mark", batched=True),
    "unwp": Verb("R", 0.7, {}, "mark", batched=True),
    "watch": Verb("", 0.2, {"mremap": 0.8}),
    "unwatch": Verb("R", 0.2, {}, "mark"),
    "lock": Verb("R", 0.5, {}, "lock",
                 (_LOCK_HOLES, ("readable", "ok", "mlock(2): DESCRIPTION")), unmerges=True),
    "unlock": Verb("R", 0.4, {}, "lock", (_LOCK_HOLES, ("always", "ok", "mlock(2): DESCRIPTION"))),
    "hold": Verb("A", 0.6, {"lazyfree": 0.3, "uffd": 0.2, "migrate": 1}, "hold", holds=True),
    "drop": Verb("", 0.5, {}, "hold", idle=True),
    "warm": Verb("", 0.2, sets=True, idle=True),
    "split": Verb("R", 0.5),
    "pin": Verb("A", 0.3, {"swapout": 1, "uffd": 0.2, "migrate": 1}, "hold", holds=True),
    "crowd": Verb("n", 0.05, {"swapout": 0.15}, "crowd",
                  numbers=(*CROWDS, 0), largest=(100, "a crowd is at most")),
    "word": Verb("Rn", 0.3, {"swapout": 1, "migrate": 1},
                 largest=(PAGE_WORDS - 1, "a page has words 0 to"), writes=True, unmerges=True),
    "rwp": Verb("R", 0.5, {}, "trap", batched=True),
    "unrwp": Verb("R", 0.4, {}, "trap", batched=True),
    "khugepaged": Verb("n", 0.1, numbers=1, actor=False),
    "take": Verb(
        "RAw", 0.4, {"uffd": 5}, "take",
        (("occupied", "EEXIST EBUSY EINVAL ENOENT endless", "UFFDIO_MOVE(2const): EEXIST"),),
        {"all": 5, "holes": 3, "to-wp": 1, "to-rwp": 1}, batched=True, counts=True),
    "scan": Verb("Rnw", 0.4, {"uffd": 5}, "scan",
                 words={"look": 2, "written": 4, "states": 3, "room": 1, "quiet": 2},
                 batched=True, counts=True),
    "folio": Verb("n", 0.7, actor=False, sets=True, idle=True),
    "swap": Verb("w", 0.3, words=_SWITCH, actor=False),
    "reclaim": Verb("", 2, {"lazyfree": 5, "swapout": 6, "ksm": 5}, actor=False, reclaims=True),
    "idle": Verb("R", 0.6, {"ksm": 2}),
    "look": Verb("R", 0.6, {"ksm": 2}, counts=True),
    "same": Verb("Rn", 0.4, {"ksm": 10}, numbers=(1, 1, 1, 2, 3), writes=True, unmerges=True),
    "ksm": Verb("n", 0.1, {"ksm": 8}, numbers=PASSES, actor=False),
    "advise free": Verb("Rw", 1.5, {"mremap": 2, "lazyfree": 8, "uffd": 2, "migrate": 3}, "free",
                        (_FILE, *_RANGE)),
    "advise pageout": Verb("Rw", 3, {"lazyfree": 6, "swapout": 10}, errors=_LRU, reclaims=True),
    "advise cold": Verb("Rw", 0.6, errors=_LRU),
    "advise dontneed": Verb("Rw", 1, {}, "dontneed", _LRU, empties=True),
    "advise dontfork": Verb("Rw", 1, {"swapout": 2, "migrate": 2}, "inherit", _RANGE),
    "advise dofork": Verb("Rw", 1, {"swapout": 2, "migrate": 2}, "inherit", _RANGE),
    "advise mergeable": Verb("Rw", 0.1, {"ksm": 5}),
    "advise collapse": Verb("Rw", 0.7),
    "advise populate-read": Verb("Rw", 0.5),
    "advise populate-write": Verb("Rw", 0.5, {}, "populate", unmerges=True),
    "advise willneed": Verb("Rw", 0.4),
    "advise wipeonfork": Verb("Rw", 0.2, {}, "inherit", (_FILE, *_RANGE)),
    "advise keeponfork": Verb("Rw", 0.1, {}, "inherit", _RANGE),
    "advise hugepage": Verb("Rw", 0.2),
    "advise nohugepage": Verb("Rw", 0.2),
    "advise remove": Verb("Rw", 0, {}, "remove", (_PRIVATE, *_LRU), empties=True),
    "advise unmergeable": Verb("Rw", 0, {"ksm": 1.5}, unmerges=True),
    "smart": Verb("w", 0, {"ksm": 0.3}, words=_SWITCH, actor=False, sets=True, idle=True),
    "migrate": Verb("Rn", 0, {"migrate": 14}, numbers=(0, 1, 1)),
    "compact": Verb("", 0, {"migrate": 0.5}, actor=False),
    "offline": Verb("A", 0, {"migrate": 0.3}),
    "hint": Verb("", 0, {"migrate": 1}),
    "fail": Verb("n", sets=True),
}  # fmt: skip
ADVICE = "advise "
VERBS: dict[str, Verb] = {
    **{name: verb for name, verb in TABLE.items() if not name.startswith(ADVICE)},
    "advise": Verb("Rw", words={name.removeprefix(ADVICE): 1 for name in TABLE if ADVICE in name}),
}
