# SPDX-License-Identifier: GPL-2.0
"""Estimated cycles, and what CPUs do to each other."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from conftest import ROOT, Quire
from known import ARM64, X86_64
from rich.console import Console

from quire.arch import ARCHITECTURES, Architecture
from quire.boot import counts
from quire.boot.counts import RegionCounts, SymbolCount
from quire.boot.results import Region, Results
from quire.host.errors import UserError
from quire.measure import cost, cycles
from quire.measure.bench import Sample
from quire.measure.comparison import Comparison, compare
from quire.measure.workloads import Benchmark, Catalogue
from quire.report import table

CATALOGUE = Catalogue.read(ROOT / "guest/workloads")
OTHERS = {"sysvec_call_function": SymbolCount(40, 2)}
OURS = {"native_send_call_func_ipi": SymbolCount(9, 3), "native_flush_tlb_multi": SymbolCount(9, 3)}


def region(
    total: int, symbols: dict[str, SymbolCount] | None = None, **events: int
) -> RegionCounts:
    return RegionCounts(1, total, 0, total, 0, symbols=symbols or {}, events=events)


def sample(found: RegionCounts, others: RegionCounts | None = None) -> Sample:
    results = Results(regions={0: Region("x", 2, 1)}, verified=True, exit=0)
    return Sample(found, results, others)


def compared(arch: Architecture, benchmark: Benchmark, *boots: Sample) -> Comparison:
    samples = {("s", benchmark): list(boots)}
    return compare(arch, ("stock", "patched"), ("s", "s"), [benchmark], samples)


def text(comparison: Comparison) -> str:
    out = io.StringIO()
    console = Console(width=180, file=out)
    console.print(table.build(comparison, "Linux"))
    console.print(table.build_costs(comparison, "Linux"))
    return out.getvalue()


@pytest.mark.parametrize("arch", ARCHITECTURES.values(), ids=lambda arch: arch.name)
def test_each_architecture_has_a_cpu_that_knows_all_that_is_counted(arch: Architecture) -> None:
    model = cycles.of(arch)
    assert [line.split()[0] for line in model.geometry] == list(cycles.LEVELS)
    assert all(weight.source for weight in model.weights.values())


def test_every_cpu_belongs_to_an_architecture() -> None:
    fitting = []
    for name in cycles.names():
        for arch in ARCHITECTURES.values():
            try:
                cycles.of(arch, name)
            except UserError:
                continue
            fitting.append(name)
    assert fitting == cycles.names()
    with pytest.raises(UserError, match="no x86_64 CPU 'cortex-x1' is modelled"):
        cycles.of(X86_64, "cortex-x1")


def test_a_cpu_lacks_no_weight() -> None:
    with pytest.raises(UserError, match=r"neoverse-n1\.toml lacks purple"):
        cycles.of(replace(ARM64, event_kinds=("purple",)))


def test_an_estimate_is_the_sum_of_what_is_counted() -> None:
    weights = cycles.of(ARM64).weights
    found = region(100, atomic=4, memory=2)
    found.tlb = {"tlbi_va": 2, "tlbi_all": 0}
    assert cycles.estimate(ARM64, cycles.DEFAULT, found, 2) == {
        "instruction": 50 * weights["instruction"].cycles,
        "atomic": 2 * weights["atomic"].cycles,
        "memory": weights["memory"].cycles,
        "tlbi_va": weights["tlbi_va"].cycles,
    }


def test_an_interrupt_to_another_cpu_costs_its_sender() -> None:
    found = cycles.estimate(X86_64, cycles.DEFAULT, region(2, OURS), 2, region(40, OTHERS))
    assert found["ipi"] == 1.5 * cycles.of(X86_64).weights["ipi"].cycles


def test_the_table_shows_cycles_where_they_were_estimated() -> None:
    (benchmark,) = CATALOGUE.benchmarks(["mremap"], [64])
    plain = compared(ARM64, benchmark, sample(region(100)))
    assert "cycles" not in text(plain)
    found = compared(
        ARM64, replace(benchmark, cycles=cycles.DEFAULT), sample(region(100, memory=2))
    )
    (row,) = found.rows
    assert row.cycles_ratio == 1
    assert sum(row.a.cycles.values()) == 25 + 200
    assert "est. cycles" in text(found)
    assert " 225 " in text(found)


def test_between_cpus() -> None:
    found = cost.per_unit(X86_64, region(2, OURS), 2, others=region(40, OTHERS))
    assert [found[kind] for kind in cost.BETWEEN] == [20, 1.5, 1, 1.5]
    ours = region(2, tlbi_local=1)
    ours.tlb = {"tlbi_va": 5}
    assert cost.per_unit(ARM64, ours, 2, others=region(0))[cost.FLUSHES] == 2


def test_several_cpus_have_their_table_and_the_least_of_all_boots() -> None:
    (benchmark,) = CATALOGUE.on_cpus(CATALOGUE.benchmarks(["mremap"], [64]), 2)
    assert benchmark.words()[-1] == "others=running"
    boots = [sample(region(total), region(40, OTHERS)) for total in (300, 100, 200)]
    found = compared(X86_64, benchmark, *boots)
    assert found.rows[0].a.insns == 50
    assert "IPIs" in text(found)
    assert "lines" not in text(found)
    (idle,) = CATALOGUE.on_cpus(CATALOGUE.benchmarks(["mremap,others=idle"], [64]), 2)
    assert dict(idle.parameters)["others"] == "idle"


def test_what_others_did_is_a_region_of_its_own() -> None:
    lines = [counts.HEADER]
    lines += [f"region {n} runs 1 insns {n} user 0 kernel {n} other 0" for n in (0, 4096)]
    found = counts.parse("\n".join([*lines, "end"]))
    assert found[counts.OTHERS].kernel == 4096


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mremap", "--smp", "2", "--cost"], "--cost has no effect with --smp"),
        (["mremap", "--cycles", "z80", "ARCH=arm64"], "no arm64 CPU 'z80' is modelled"),
    ],
)
def test_wrong_options_are_refused(quire: Quire, words: list[str], message: str) -> None:
    done = quire("bench", *words)
    assert done.returncode == 2
    assert message in done.stderr
