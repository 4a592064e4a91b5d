# SPDX-License-Identifier: GPL-2.0
"""Estimate cycles: the plugin's counts, weighted by their costs on one CPU.

cpus/NAME.toml describes a CPU: the caches that the plugin simulates, and the weights with their
sources. Estimates ignore branch prediction, overlapping misses and TLB misses.
"""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from quire.arch import Architecture
from quire.boot.counts import RegionCounts
from quire.host import data
from quire.host.errors import UserError
from quire.measure import cost
from quire.measure.workloads import Benchmark

CPUS = Path(__file__).parent / "cpus"
LEVELS = ("l1d", "l2", "llc")
KIB = 1024
# Where the simulated caches find a line that misses the first level.
MISSES = ("l2_hits", "llc_hits", "memory", "streamed")
INSTRUCTION, IPI = "instruction", "ipi"
# Instead of a CPU's name: the architecture's default.
DEFAULT = "default"


@dataclass(frozen=True)
class Level:
    """One level of caches, with lines of 64 bytes."""

    kib: int
    ways: int


@dataclass(frozen=True)
class Weight:
    """Cycles per counted event, and the source of the number."""

    cycles: float
    source: str
    # Whether it is our guess, as the source gives no number.
    guess: bool = False


@dataclass(frozen=True)
class CpuModel:
    """One CPU."""

    title: str
    arch: str
    levels: Mapping[str, Level]
    # By the plugin's names of events and classes of TLB invalidations, and by INSTRUCTION and IPI.
    weights: Mapping[str, Weight]

    @property
    def geometry(self) -> tuple[str, ...]:
        """Return the lines of the plugin's argument caches=."""
        levels = ((name, self.levels[name]) for name in LEVELS)
        return tuple(f"{name} {level.kib * KIB} {level.ways}" for name, level in levels)


@cache
def _read(name: str) -> CpuModel:
    file = CPUS / f"{name}.toml"
    return data.read(file, CpuModel, "neoverse-n1.toml explains the keys")


def names() -> list[str]:
    """Return all CPUs."""
    return sorted(file.stem for file in CPUS.glob("*.toml"))


def of(arch: Architecture, name: str = DEFAULT) -> CpuModel:
    """Return the CPU of that name. UserError if the architecture has none, or if its file lacks a
    level or a weight."""
    name = arch.modelled if name == DEFAULT else name
    if name not in names() or _read(name).arch != arch.name:
        known = [known for known in names() if _read(known).arch == arch.name]
        remedy = f"use one of: {', '.join(known) or 'none'}"
        raise UserError(f"no {arch.name} CPU {name!r} is modelled", remedy=remedy)
    model = _read(name)
    kinds = (INSTRUCTION, IPI, *MISSES, *arch.event_kinds, *arch.tlb_classes)
    lacking = [level for level in LEVELS if level not in model.levels]
    lacking += [kind for kind in kinds if kind not in model.weights]
    if lacking:
        raise UserError(f"{name}.toml lacks {', '.join(lacking)}", remedy="add it")
    return model


def add_option(part: argparse.ArgumentParser) -> None:
    """Add --cycles."""
    text = f"simulate caches and estimate cycles of a CPU ({', '.join(names())}); slower; "
    text += "docs/results/cycles.md describes the accuracy"
    add = part.add_argument
    add("--cycles", nargs="?", default="", const=DEFAULT, metavar="CPU", help=text)


def added(
    benchmarks: Iterable[Benchmark], name: str, architectures: Iterable[Architecture]
) -> list[Benchmark]:
    """Add an estimate for that CPU; nothing without a name. UserError as for of()."""
    if name:
        for arch in architectures:
            of(arch, name)
    return [replace(benchmark, cycles=name) for benchmark in benchmarks]


def estimate(
    arch: Architecture,
    name: str,
    counts: RegionCounts,
    divisor: int,
    others: RegionCounts | None = None,
) -> dict[str, float]:
    """Return the measuring CPU's cycles per unit by cause, without zeroes."""
    counted = {INSTRUCTION: counts.total, **counts.events, **counts.tlb}
    if others:
        counted[IPI] = cost.calls(arch.ipis_sent, counts)
    weights = of(arch, name).weights
    each = {
        kind: weights[kind].cycles * number / divisor
        for kind, number in counted.items()
        if kind in weights
    }
    return {kind: cycles for kind, cycles in each.items() if cycles}
