# SPDX-License-Identifier: GPL-2.0
"""The promises: each has a name, a text and a source.

Sources are man pages (Linux man-pages 6.03; mremap(2) as of Linux 6.17, which moves several
mappings), the kernel's Documentation/, and otherwise the headers for user space. What no source
describes is *undefined* in the model.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """One promise and its source."""

    name: str
    promise: str
    source: str


_MM = "Documentation/admin-guide/mm"
_UFFD = f"{_MM}/userfaultfd.rst: Write Protect Notifications"
_TRAPS = f"{_MM}/userfaultfd.rst: Read-Write Protection"

# fmt: off
# Contents: the last change of a page determines which of these applies (memory.py).
ZEROED = Promise("new memory", "a new mapping without a file is zero", "mmap(2): MAP_ANONYMOUS")
WRITTEN = Promise("what is written stays", "until it is written again",
    f"{_MM}/concepts.rst: Reclaim")
FORKED = Promise("a copy",
    "a child's memory is a copy; a write in one process is not seen in the other",
    "fork(2): DESCRIPTION")
SHARED = Promise("shared by offset",
    "all shared mappings of a page of an object show what was last written to it",
    "mmap(2): MAP_SHARED")
SHOWN = Promise("the file shows through",
    "a private mapping holds what the file holds, or held since, until it is written to",
    "mmap(2): MAP_PRIVATE")
GIVEN_UP = Promise("given up", "the old content or zeroes until it is written again; zeroes stay",
    "madvise(2): MADV_FREE")
DROPPABLE = Promise("droppable", "what was written, or zeroes; zeroes stay",
    "include/uapi/linux/mman.h: MAP_DROPPABLE")
DROPPED = Promise("dropped", "zeroes, or the file's content", "madvise(2): MADV_DONTNEED")
HOLE = Promise("a hole", "zeroes in each mapping of the object's page", "madvise(2): MADV_REMOVE")
WIPED = Promise("wiped", "zeroes in the child", "madvise(2): MADV_WIPEONFORK")
LEFT = Promise("moved away", "the old place is empty", "mremap(2): MREMAP_DONTUNMAP")
TAKEN = Promise("taken away", "a page moves; its old place is empty",
    "UFFDIO_MOVE(2const): DESCRIPTION")

# Mappings and accesses.
MAPPED = Promise("mapping", "mapped where it was asked to be, with that protection and offset",
    "mmap(2), munmap(2), mprotect(2), mremap(2), madvise(2): MADV_DONTFORK")
SIGNALS = Promise("access", "SIGSEGV exactly where nothing is mapped or the protection forbids it",
    "mprotect(2): DESCRIPTION; mmap(2): ERRORS")
READABLE = Promise("readable",
    "a present page is unreadable exactly if the protection forbids it, or userfaultfd traps it",
    f"mprotect(2): PROT_NONE; {_TRAPS}")
FRESH = Promise("fresh", "a read right after an operation sees what it did",
    "mremap(2), mprotect(2), madvise(2): DESCRIPTION")
SWAPPED_OFF = Promise("swapped off", "no page is in swap", "swapoff(2): DESCRIPTION")

# userfaultfd and soft-dirty.
UNSEEN = Promise("no write unseen", "a write to a protected page raises SIGBUS",
    f"{_UFFD}; ioctl_userfaultfd(2): UFFD_FEATURE_SIGBUS")
PROTECTED = Promise("protection stays", "the mark stays until it is lifted",
    f"{_UFFD}; pagemap.rst: bit 57")
LIFTED = Promise("protection lifted", "no mark, and writes succeed", _UFFD)
SOFT_DIRTY = Promise("soft-dirty",
    "a page written to or moved here since the bits were cleared is soft-dirty",
    f"{_MM}/soft-dirty.rst")
SCANNED = Promise("scanned",
    "regions in order, in the range, up to max_pages; of each page what pagemap tells",
    f"{_MM}/pagemap.rst: PAGEMAP_SCAN, bits 55, 61, 62, 63")
WRITTEN_SINCE = Promise("written since",
    "a page in a range under asynchronous protection is reported exactly if it is not protected",
    f"{_MM}/pagemap.rst: PAGE_IS_WRITTEN")

# Mapped pages.
APART = Promise("apart", "right after MADV_UNMERGEABLE there are no merged pages in its range",
    "madvise(2): MADV_UNMERGEABLE")
EXCLUSIVE = Promise("exclusive", "a private page that was just written is mapped once",
    f"{_MM}/pagemap.rst: bit 56; fork(2)")
NOT_EXCLUSIVE = Promise("not exclusive", "a page that is mapped twice is not mapped once",
    f"{_MM}/pagemap.rst: bit 56")
LOCKED = Promise("locked", "in memory from a successful mlock() to its end",
    "mlock(2): DESCRIPTION")
LOCKED_SUM = Promise("locked sum", "VmLck counts the pages of locked mappings", "proc(5): VmLck")
RECLAIMABLE = Promise("reclaimable", "memory that is not locked or held can be reclaimed",
    f"{_MM}/concepts.rst: Reclaim; unevictable-lru.rst; cgroup-v2.rst: memory.reclaim")
TROUBLE = Promise("trouble", "no warning, no hang, no leak",
    "Documentation/process/deprecated.rst: BUG() and BUG_ON()")
# fmt: on
