# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from known import ARM64, X86_64

from quire.boot.counts import RegionCounts, SymbolCount
from quire.boot.machine import Hardware
from quire.boot.results import Region, Results
from quire.host.errors import Difference, UserError
from quire.measure import bench, comparison, profile
from quire.measure.bench import Sample
from quire.measure.comparison import Comparison, References, compare
from quire.measure.workloads import Benchmark, Catalogue
from quire.report import table

CATALOGUE = Catalogue.read(ROOT / "guest/workloads")
POSTED = comparison.read_posted(ROOT / "lines/6.12/posted.toml")


def sample(insns: int, pages: int = 256, **symbols: int) -> Sample:
    """A boot with `insns` instructions, some of them in `symbols`."""
    counts = RegionCounts(
        runs=1,
        total=insns,
        user=0,
        kernel=insns,
        other=0,
        tlb={"tlbi_va": 33, "tlbi_range": 1},
        symbols={name: SymbolCount(number, 1) for name, number in symbols.items()},
    )
    return Sample(counts, Results(regions={0: Region("x", pages, 2)}, verified=True, exit=0))


def benchmark(name: str = "mremap", size: int = 64) -> Benchmark:
    (found,) = [c for c in CATALOGUE.benchmarks([name], [size]) if c.size == size][:1]
    return found


def table_of(stock: list[Sample], patched: list[Sample], one: Benchmark) -> Comparison:
    samples = {("s", one): stock, ("p", one): patched}
    return compare(ARM64, ("stock", "patched"), ("s", "p"), [one], samples, References(POSTED))


def test_per_page_ratio_and_posted() -> None:
    (row,) = table_of([sample(51200)], [sample(25600)], benchmark("mremap-loop")).rows
    assert (row.a.insns, row.b.insns, row.ratio) == (200, 100, 2)
    assert row.a.tlb_total == 34 / 256
    assert row.a.tlb_per_op == 17
    assert row.posted is not None
    assert row.posted.text == "1.58×"
    assert not row.unstable


@given(st.lists(st.integers(100_000, 101_000), min_size=2, max_size=5))
def test_spread_and_stability(totals: list[int]) -> None:
    (row,) = table_of([sample(n) for n in totals], [sample(100_000)], benchmark()).rows
    assert row.unstable == (
        (max(totals) - min(totals)) / sorted(totals)[(len(totals) - 1) // 2] > 0.001
    )
    assert row.a.runs == len(totals)
    assert ("unstable" in table.remarks(row)) == row.unstable


def test_walks_are_divided_by_walks() -> None:
    (one,) = [c for c in CATALOGUE.benchmarks(["ksm-walk"]) if ("vmas", "200") in c.parameters][:1]
    (row,) = table_of([sample(1000, pages=0)], [sample(500, pages=0)], one).rows
    assert row.a.insns == 500


def test_a_walk_shows_the_lock_and_the_vmas() -> None:
    (one,) = [c for c in CATALOGUE.benchmarks(["ksm-walk"]) if ("vmas", "200") in c.parameters][:1]
    walked = [sample(1000, pages=0, anon_vma_interval_tree_iter_next=90)]
    walked[0].counts.spans["lock_held"] = (2, 500)
    (row,) = table_of(walked, walked, one).rows
    assert row.a.spans == {"lock_held": 250}
    assert row.a.calls == {"VMAs in a pass": 0.25}
    assert "lock held 250 → 250; VMAs in a pass 0.25 → 0.25" in table.remarks(row)


def test_calls_that_stock_does_not_make() -> None:
    """The instruction count may be lower: only the calls are compared."""
    one = benchmark("gup")
    slow = sample(1000, __get_user_pages=9)
    rows = table_of([sample(2000)], [slow], one)
    (row,) = rows.rows
    assert [calls.what for calls in row.excess] == ["slow GUP"]
    assert "slow GUP 0 → 0.00391" in table.remarks(row)
    assert "MORE CALLS: slow GUP" in table.remarks(row)
    with pytest.raises(Difference) as caught:
        comparison.require([table_of([slow], [slow], one), rows])
    assert caught.value.where == (
        "arm64 gup 64 KiB: slow GUP (__get_user_pages) 0 → 0.00390625 per page"
    )
    assert caught.value.remedy.endswith("quire profile gup --size 64 ARCH=arm64")


def test_as_many_calls_as_stock_or_fewer_are_no_difference() -> None:
    slow, one = sample(1000, __get_user_pages=9), benchmark("gup")
    rows = [table_of([slow], [slow], one), table_of([slow], [sample(1000)], one)]
    comparison.require(rows)
    assert not any("MORE" in table.remarks(row) for each in rows for row in each.rows)


def test_calls_that_are_only_shown_are_no_difference() -> None:
    (one,) = CATALOGUE.benchmarks(["ksm-walk,vmas=200,kind=plain"])[:1]
    symbol = one.workload.calls[0].symbols[0]
    rows = table_of([sample(1000)], [sample(1000, **{symbol: 9})], one)
    comparison.require([rows])
    assert f"{one.workload.calls[0].what} 0 → " in table.remarks(rows.rows[0])


def test_clones_of_a_function_are_that_function() -> None:
    one = benchmark("gup")
    symbols = {"follow_page_pte.isra.0": 5, "follow_page_pte_of_another": 5}
    (row,) = table_of([sample(1000)], [sample(1000, **symbols)], one).rows
    assert row.b.calls == {"slow GUP": 0, "of pages": 1 / 256}


def test_another_cpu_has_its_own_heading_and_rows() -> None:
    cpu, *_ = ARM64.further_cpus
    other = ARM64.on(cpu)
    assert other.title == "arm64 · neoverse-n1 (no ranged TLBI)"
    assert other.machine_args == (*ARM64.machine_args, "-cpu", "neoverse-n1")
    assert ARM64.title == "arm64"
    assert {(c.label, c.size) for c in CATALOGUE.rows(cpu.rows)} == {
        *(
            (name, size)
            for name in ("swapout zero", "lazyfree", "mremap")
            for size in (4, 64, 2048)
        ),
        ("migrate", 64),
    }


def test_the_unmapping_itself_is_told_apart() -> None:
    one = benchmark("swapout")
    stock = sample(256_000, try_to_unmap_one=25_600, zram_write_page=200_000)
    (row,) = table_of([stock], [stock], one).rows
    assert (row.a.own, one.workload.own_name) == (100, "unmapping")


def test_the_catalogue_has_what_the_mission_names() -> None:
    benchmarks = CATALOGUE.benchmarks()
    assert len(benchmarks) == len(set(benchmarks)) == 186
    assert {c.size for c in benchmarks} == {None, 4, 16, 64, 256, 1024, 2048, 32}
    found = {
        (c.label, c.size): p.text
        for c in benchmarks
        if (p := comparison.find_posted(POSTED, c, "arm64"))
    }
    assert found["swapout zero", 64] == "2.15×"
    # The posting times a loop of which mremap() is a part.
    assert found["mremap-loop", 64] == "1.58×"
    assert ("mremap", 64) not in found
    assert not comparison.find_posted(POSTED, benchmark("mremap-loop"), X86_64.name)


def test_only_a_named_workload_has_its_further_sizes() -> None:
    def sizes(benchmarks: list[Benchmark]) -> set[int | None]:
        return {c.size for c in benchmarks if c.workload.name == "migrate"}

    assert sizes(CATALOGUE.benchmarks()) == {64}
    assert sizes(CATALOGUE.benchmarks(["migrate"])) == {4, 64, 2048}
    assert sizes(CATALOGUE.benchmarks(["migr*"], [4])) == {4}


def test_parameters_after_commas() -> None:
    (one,) = CATALOGUE.benchmarks(["swapout,data=zero,mib=64"], [64])[:1]
    assert one.words() == ("bench", "swapout", "size=64", "data=zero", "mib=64")
    with pytest.raises(UserError, match="unknown benchmark"):
        CATALOGUE.benchmarks(["swapon"])
    with pytest.raises(UserError, match="is not WORKLOAD"):
        CATALOGUE.benchmarks(["swapout,zero"])


def test_the_biggest_change_comes_first() -> None:
    stock = sample(3000, a=1000, b=1500, gone=500)
    patched = sample(3000, a=1100, b=1500, new=400)
    lines = profile.lines(stock, patched)
    assert [line.symbol for line in lines] == ["gone", "new", "a", "b"]
    assert [round(line.change() * 256) for line in lines] == [-500, 400, 100, 0]
    assert profile.share_shown(lines[:1], lines) == pytest.approx(500 / 3000)


def test_collapsed_stacks_add_up() -> None:
    one = sample(3000, a=1000, b=1500)
    one = replace(one, counts=replace(one.counts, user=300, other=200))
    stacks = profile.collapsed(one, "arm64 mremap")
    assert stacks[0] == "arm64 mremap;b 1500"
    assert sum(int(line.rpartition(" ")[2]) for line in stacks) == 3000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.12891, "0.129"),
        (1.0625, "1.06"),
        (33.25, "33.2"),
        (262.4, "262"),
        (2420252.0, "2 420 252"),
    ],
)
def test_numbers_in_the_table(value: float, text: str) -> None:
    assert table.number(value) == text


def test_stable_is_a_tenth_of_a_percent() -> None:
    assert comparison.STABLE == 0.001


def test_a_workload_may_be_for_some_architectures() -> None:
    (touched,) = CATALOGUE.benchmarks(["migrate-touched"], [64])
    assert touched.workload.runs_on("arm64")
    assert not touched.workload.runs_on("x86_64")
    (plain,) = CATALOGUE.benchmarks(["migrate"], [64])
    assert plain.workload.runs_on("x86_64")


def test_the_key_of_counts_has_whatever_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that a machine gains later must not be forgotten."""
    kernel: Any = SimpleNamespace(arch=ARM64, image_sha256="i")
    parts: Any = SimpleNamespace(sha256="s", qemu="9.2.0")
    setup, one = bench.Setup(kernel, parts, parts), benchmark()
    plain, key = setup.machine(one), setup.key(one)
    assert plain.counting
    for changed in (
        replace(plain, loglevel=7),
        replace(plain, parameters=("a=b",)),
        replace(plain, hardware=Hardware(memory="1G")),
        replace(plain, counting=replace(plain.counting, stream=True)),
        replace(plain, counting=replace(plain.counting, watch=("f",))),
    ):
        monkeypatch.setattr(bench.Setup, "machine", lambda *_, boot=changed: boot)
        assert setup.key(one) != key
    monkeypatch.setattr(bench.Setup, "machine", lambda *_: replace(plain, timeout=1.0))
    assert setup.key(one) == key
