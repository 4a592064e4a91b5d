# SPDX-License-Identifier: GPL-2.0
"""The workloads, as data: sizes, variants, units, and the figures their authors posted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from quire.host.errors import UserError

# Folio sizes in KiB; 4 is no large folio at all.
SIZES = (4, 16, 64, 256, 1024, 2048)
Parameters = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Posted:
    """A figure from the public posting of a series: wall time on the authors' machines.

    Where `arch`, `size` or `parameters` is empty the posting did not say, or said all.
    """

    text: str
    arch: str = ""
    size: int | None = None
    parameters: Parameters = ()
    # What they posted of the counter the workload is about, before and after.
    counters: str = ""


@dataclass(frozen=True)
class Calls:
    """A function whose calls are counted in a workload's region."""

    # What a call stands for, as in the table.
    what: str
    # The function; the clones that compilers make of it (symbol.isra.0) count, too.
    symbol: str
    # How often the operation passes over the same things.
    passes: int = 1
    # Whether a patched kernel with more calls than stock is a difference (exit status 1).
    no_more_than_stock: bool = False

    def is_of(self, name: str) -> bool:
        """Whether `name` is the function, or a clone of it."""
        return name == self.symbol or name.startswith(f"{self.symbol}.")


@dataclass(frozen=True)
class Workload:
    """One program of the guest."""

    name: str
    # What the table's figures are divided by: "page" (4 KiB), "walk", "scanned page" or "call".
    unit: str = "page"
    sizes: tuple[int, ...] = SIZES
    # Each is measured: parameters beyond the size.
    variants: tuple[Parameters, ...] = ((),)
    posted: tuple[Posted, ...] = ()
    # Counters of the guest that the table shows as a change, stock and patched.
    counters: tuple[str, ...] = ()
    # Symbols whose cost is the unmapping itself, where something else costs more (trap 19).
    own: tuple[str, ...] = ()
    # Stretches whose instructions are counted apart: name:begin symbol:end symbol.
    spans: tuple[str, ...] = ()
    # Functions whose calls are counted.
    calls: tuple[Calls, ...] = ()


# Unmapping one folio from a page table, without finding it, writing it out or freeing it.
# Inlined helpers count where they were inlined, so stock and patched are treated alike.
UNMAP = (
    "try_to_unmap*",
    "ttu_*",
    "page_vma_mapped_walk",
    "*swap_duplicate*",
    "swap_dup*",
    "folio_dup_swap*",
    "folio_remove_rmap_*",
    "folio_remove_anon_rmap_*",
    "contpte_*",
    "__contpte_*",
    "ptep_clear_flush*",
    "flush_tlb_*",
    "arch_tlbbatch_*",
    "set_tlb_ubc_flush_pending",
    "native_flush_tlb_*",
)

CATALOGUE = (
    Workload(
        "swapout",
        variants=((("data", "zero"),), (("data", "distinct"),)),
        posted=(
            Posted("2.15×", "arm64", 64, (("data", "zero"),)),
            Posted("1.06×", "x86_64", 64, (("data", "zero"),)),
            Posted("1.00×", "", 4, (("data", "zero"),)),
        ),
        own=UNMAP,
    ),
    Workload(
        "swapout-alternating",
        sizes=(16, 64, 2048),
        variants=((("blocks", "folded"),), (("blocks", "loose"),)),
        own=UNMAP,
    ),
    Workload("fork-swapped", sizes=(4, 64)),
    Workload(
        "lazyfree",
        posted=(Posted("2.5×", "", 64, counters="2048 → 0"),),
        counters=("split_deferred",),
    ),
    Workload("lazyfree-redirtied", posted=(Posted("3.5×", "", 2048),)),
    Workload(
        "mremap",
        posted=(
            Posted("1.58×", "arm64", 64),
            Posted("0.63× (realloc)", "x86_64", 4),
        ),
    ),
    Workload(
        "mremap-mergeable",
        unit="call",
        sizes=(),
        variants=tuple((("kind", kind),) for kind in ("off", "unscanned", "merged")),
        # Most of a call is about VMAs: a lock and a look-up more are some 40 instructions of 9,300.
    ),
    Workload(
        "gup",
        sizes=(4, 64),
        # Only where GUP-fast failed: once for each range of pages, once for each page.
        calls=(
            Calls("slow GUP", "__get_user_pages", no_more_than_stock=True),
            Calls("of pages", "follow_page_pte", no_more_than_stock=True),
        ),
    ),
    Workload("munmap"),
    Workload("mprotect"),
    Workload(
        "ksm-walk",
        unit="walk",
        sizes=(),
        variants=tuple(
            (("vmas", vmas), ("kind", kind))
            for kind in ("plain", "moved", "fork")
            for vmas in ("200", "2000", "22169")
        ),
        posted=(Posted("577×", "", None, (("vmas", "22169"), ("kind", "plain"))),),
        # Nothing else in the measured call takes a read lock: the plugin's calls tell.
        spans=("lock_held:down_read_trylock:up_read",),
        # One step to the next VMA for each that was looked at; then a second pass for forks.
        calls=(Calls("VMAs in a pass", "anon_vma_interval_tree_iter_next", passes=2),),
    ),
    Workload(
        "ksm-scan",
        unit="scanned page",
        sizes=(),
        variants=tuple((("kind", kind),) for kind in ("unmerged", "merged", "merging", "smart")),
    ),
)


@dataclass(frozen=True)
class Cell:
    """One workload with one size and variant: one boot, one row of a table."""

    workload: Workload
    size: int | None
    parameters: Parameters = field(default=())

    def words(self) -> tuple[str, ...]:
        """Init's arguments."""
        size = (f"size={self.size}",) if self.size is not None else ()
        return ("bench", self.workload.name, *size, *(f"{k}={v}" for k, v in self.parameters))

    @property
    def label(self) -> str:
        """The row's name without the folio size."""
        return " ".join([self.workload.name, *(value for _, value in self.parameters)])

    def posted(self, arch: str) -> Posted | None:
        """What the authors posted for exactly this row."""
        for posted in self.workload.posted:
            if (
                posted.arch in ("", arch)
                and posted.size == self.size
                and posted.parameters in ((), self.parameters)
            ):
                return posted
        return None


def cells(names: Iterable[str] = (), sizes: Iterable[int] = ()) -> list[Cell]:
    """The cells of the named workloads (all; patterns work) at these sizes (all).

    A name may carry parameters as the guest takes them: "swapout,data=zero", "ksm-walk,vmas=500".
    UserError for an unknown workload or size.
    """
    wanted = list(names) or ["*"]
    chosen = [cell for name in wanted for cell in _named(name)]
    limit = set(sizes)
    unknown = limit - set(SIZES)
    if unknown:
        raise UserError(
            f"{min(unknown)} KiB is not a folio size of the tables",
            remedy=f"use: {', '.join(map(str, SIZES))}",
        )
    return [
        cell
        for cell in dict.fromkeys(chosen)
        if not limit or cell.size is None or cell.size in limit
    ]


def rows(wanted: Iterable[tuple[str, tuple[int, ...]]]) -> list[Cell]:
    """The cells of several workloads, each at sizes (KiB) of its own. UserError as cells()."""
    return [cell for name, sizes in wanted for cell in cells([name], sizes)]


def _named(text: str) -> list[Cell]:
    name, *settings = text.split(",")
    given = tuple(tuple(setting.split("=", 1)) for setting in settings)
    if any(len(pair) != 2 for pair in given):
        raise UserError(f"{text!r} is not WORKLOAD[,name=value…]", remedy="as in swapout,data=zero")
    overrides = {pair[0]: pair[1] for pair in given}
    found = [w for w in CATALOGUE if fnmatchcase(w.name, name)]
    if not found:
        raise UserError(
            f"there is no workload {name!r}",
            remedy=f"choose from: {', '.join(w.name for w in CATALOGUE)}",
        )
    return [
        Cell(workload, size, tuple({**dict(variant), **overrides}.items()))
        for workload in found
        for variant in workload.variants
        for size in (workload.sizes or (None,))
    ]
