# SPDX-License-Identifier: GPL-2.0
"""What is shown of atomics, barriers, cache lines and locks."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

from conftest import ROOT, Quire
from known import ARM64, X86_64
from rich.console import Console

from quire.boot.counts import RegionCounts, SymbolCount
from quire.boot.results import Region, Results
from quire.measure import cost, profile
from quire.measure.bench import Sample
from quire.measure.comparison import SYMBOLS, Comparison, References, compare
from quire.measure.workloads import Catalogue
from quire.report import table

CATALOGUE = Catalogue.read(ROOT / "guest/workloads")
LOCKS = cost.read_locks(ROOT / "guest/workloads/locks.toml")
MMAP_LOCK, PTL = ("lock_mm_and_find_vma", "down_read_trylock"), "_raw_spin_lock"
CALLS = Counter({MMAP_LOCK: 8, ("page_vma_mapped_walk", PTL): 4})


def sample(events: dict[str, int], symbols: dict[str, SymbolCount] | None = None) -> Sample:
    """A boot that handled four pages."""
    counts = RegionCounts(
        runs=1,
        total=400,
        user=0,
        kernel=400,
        other=0,
        tlb={"tlbi_va": 4, "tlbi_range": 0, "tlbi_asid": 1, "tlbi_all": 1},
        symbols=symbols or {},
        events=events,
        locks=CALLS,
    )
    return Sample(counts, Results(regions={0: Region("x", 4, 1)}, verified=True, exit=0))


def compared(a: Sample, b: Sample) -> Comparison:
    (benchmark,) = CATALOGUE.benchmarks(["lazyfree"], [64])
    samples = {("s", benchmark): [a], ("p", benchmark): [b]}
    return compare(
        ARM64, ("stock", "patched"), ("s", "p"), [benchmark], samples, References({}, LOCKS)
    )


def test_cost_per_unit() -> None:
    found = cost.per_unit(
        ARM64, sample({"atomic": 8, "dmb": 1, "isb": 3, "dsb": 0}).counts, 4, LOCKS
    )
    assert (found["atomics"], found["barriers"]) == (2, 1)
    assert (found["tlb page"], found["tlb range"], found["tlb space"]) == (1, 0, 0.5)
    assert (found["mmap_lock read"], found["page table"], found["lru"]) == (2, 1, 0)
    assert cost.locks_taken(found) == 3


def test_what_was_not_counted_is_not_zero() -> None:
    found = cost.per_unit(ARM64, sample({"atomic": 8}).counts, 4, LOCKS)
    assert "barriers" not in found
    assert "lines read" not in found
    # Counts from before there were events have no locks either.
    assert cost.locks_taken(cost.per_unit(ARM64, sample({}).counts, 4, LOCKS)) is None
    x86 = RegionCounts(1, 1, 0, 1, 0, tlb={"invlpg": 3, "invpcid": 1, "cr3": 2})
    assert cost.per_unit(X86_64, x86, 1) == {"tlb page": 3, "tlb space": 3}


def text(comparison: Comparison) -> str:
    out = io.StringIO()
    Console(width=160, file=out).print(table.build_costs(comparison, "Linux"))
    return out.getvalue()


def test_the_table_shows_both_sides() -> None:
    a = sample({"atomic": 8, "lines_read": 12, "lines_written": 4, "table_words": 4})
    out = text(compared(a, sample({"atomic": 4})))
    lines = [line.split() for line in out.splitlines() if "stock" in line or "patched" in line]
    assert lines == [
        ["lazyfree", "64", "stock", *"2.00 – 3.00 3.00 1.00 1.00 1.00 0 0.5".split()],
        ["patched", *"1.00 – 3.00 – – – 1.00 0 0.5".split()],
    ]


def test_symbols_that_changed() -> None:
    a = {f"s{n}": SymbolCount(100 + n, 4, {"atomic": 4}) for n in range(40)}
    b = {f"s{n}": SymbolCount(100, 4) for n in range(40)}
    b["s0"] = a["s0"]
    (row,) = compared(sample({"atomic": 1}, a), sample({"atomic": 1}, b)).rows
    assert len(row.symbols) == SYMBOLS
    assert row.symbols[0].symbol == "s39"
    assert row.symbols[0].a == profile.Spent(139 / 4, 1, {"atomics": 1})
    (row,) = compared(sample({"atomic": 1}, a), sample({"atomic": 1}, a)).rows
    assert row.symbols == ()


def test_a_profile_by_kind() -> None:
    a = {
        "many": SymbolCount(400, 4, {"atomic": 4}),
        "few": SymbolCount(8, 40, {"atomic": 40, "dmb": 4}),
        "page_vma_mapped_walk": SymbolCount(4, 4),
    }
    b = {"many": SymbolCount(4, 4, {"atomic": 4})}
    left, right = sample({"atomic": 44, "dmb": 4}, a), sample({"atomic": 4, "dmb": 0}, b)
    order = {
        kind: [one.symbol for one in profile.lines(left, right, LOCKS, kind)]
        for kind in profile.KINDS
    }
    assert order["insns"][0] == "many"
    assert order["calls"][:2] == ["few", "page_vma_mapped_walk"]
    assert order["atomics"][0] == order["barriers"][0] == "few"
    lock = {one.symbol: one for one in profile.lines(left, right, LOCKS, "locks")}
    assert lock["page_vma_mapped_walk"].change("locks") == -1
    assert profile.counted(left, "atomics")
    assert profile.counted(left, "locks")
    assert not profile.counted(left, "lines read")


def row(quire: Quire, tree: Path, *words: str) -> Any:
    """The only row of the report of bench, at 64 KiB."""
    more = ("--size", "64", "--source", str(tree), "ARCH=arm64", "--json")
    (found,) = json.loads(quire.passes("bench", *words, *more).stdout)["architectures"][0]["rows"]
    return found


def test_bench_counts_lines_on_request(quire: Quire, tree: Path) -> None:
    plain = row(quire, tree, "mremap")
    assert plain["a"]["cost"]["atomics"] == 1
    assert plain["a"]["cost"]["mmap_lock read"] == 0.5
    assert "lines read" not in plain["a"]["cost"]
    assert plain["symbols"][0]["a"]["events"] == {"atomics": 1}
    cost = row(quire, tree, "mremap", "--cost")["a"]["cost"]
    assert (cost["lines read"], cost["lines written"]) == (2, 0)


def test_bench_shows_the_second_table(quire: Quire, tree: Path) -> None:
    words = ("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64")
    done = quire.passes(*words, "--cost", "-v")
    stock, patched = (line for line in done.stdout.splitlines()[-6:] if "0.129" in line)
    assert stock.split() == ["mremap", "64", "stock", *"1.00 0 0.5 2.00 0 – 0.129 – –".split()]
    assert patched.split() == ["patched", *stock.split()[3:]]
    assert done.stderr.count(",lines=on") == 2
    assert done.stderr.count(",locks=") == 2
    again = quire(*words, "-v")
    assert again.stderr.count("-plugin") == 2
    assert "lines=on" not in again.stderr


def test_profile_sorts_by_kind(quire: Quire, tree: Path) -> None:
    words = ("profile", "mremap", "--source", str(tree), "ARCH=arm64")
    done = quire.passes(*words, "--sort", "atomic")
    assert "atomics per page" in done.stdout
    done = quire(*words, "--sort", "lines", "-v")
    assert "lines read per page" in done.stdout
    assert done.stderr.count(",lines=on") == 2
    done = quire(*words, "--sort", "time")
    assert done.returncode == 2
    assert "lines-read" in done.stderr
    assert "table-words" in done.stderr


def test_the_demo_counts_lines_of_some_rows() -> None:
    benchmarks = CATALOGUE.demo(everything=True)
    assert len(benchmarks) == len(CATALOGUE.benchmarks())
    assert {benchmark.name for benchmark in CATALOGUE.demo()} < {
        benchmark.name for benchmark in benchmarks
    }
    found = {(benchmark.label, benchmark.size) for benchmark in benchmarks if benchmark.lines}
    assert ("swapout zero", 64) in found
    assert {size for _, size in found} == {64}
    assert len(found) < len(benchmarks) / 4
