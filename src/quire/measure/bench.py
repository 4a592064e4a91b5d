# SPDX-License-Identifier: GPL-2.0
"""Run benchmarks in parallel; each boot is cached under a hash of its inputs."""

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from quire.arch import Cpu
from quire.boot import counter, counts, launch, machine, results
from quire.boot.counter import Plugin
from quire.boot.counts import RegionCounts
from quire.boot.launch import HERE, Place
from quire.boot.machine import Counting, Disk, Hardware, Machine
from quire.boot.results import Results
from quire.host import parallel
from quire.host.cache import Cache, digest
from quire.host.errors import Difference, GuestLost, UserError
from quire.host.progress import Progress
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel
from quire.measure import cycles
from quire.measure.workloads import Benchmark, Calls

# The region that benchmark programs mark with marker instructions.
REGION = 0
# Wall-clock seconds for a boot that counts cache lines.
SLOW_TIMEOUT = 1800.0
# Wall-clock seconds for a whole program.
PROGRAM_TIMEOUT = 7200.0
# Fields that a key includes in another form, or that only limit the time. Any other field that is
# set changes the key.
MACHINE = {"kernel", "guest", "init", "hardware", "counting", "timeout", "silence", "loglevel"}
MACHINE |= {"parameters", "disk"}
COUNTING = {"plugin", "spans", "locks", "lines", "cpus", "caches", "cold"}


@dataclass(frozen=True)
class Setup:
    """Everything on which a measurement depends, except the benchmark."""

    kernel: Kernel
    guest: Guest
    plugin: Plugin
    # The lock functions.
    locks: tuple[str, ...] = ()
    # A userland, for a whole program.
    disk: Disk | None = None

    def on(self, cpu: Cpu) -> "Setup":
        """Return the same kernel, booted on another CPU."""
        return replace(self, kernel=replace(self.kernel, arch=self.kernel.arch.on(cpu)))

    def machine(self, benchmark: Benchmark) -> Machine:
        """Return the machine that measures `benchmark`."""
        return Machine(
            self.kernel,
            self.guest,
            benchmark.words(),
            Hardware(benchmark.cpus),
            Counting(
                self.plugin,
                benchmark.workload.spans,
                self.locks,
                lines=benchmark.lines,
                cpus=benchmark.cpus > 1,
                caches=cycles.of(self.kernel.arch, benchmark.cycles).geometry
                if benchmark.cycles
                else (),
                cold=bool(benchmark.cycles) and benchmark.workload.cold,
            ),
            timeout=self._timeout(benchmark),
            parameters=benchmark.workload.kernel_parameters,
            disk=self.disk,
        )

    def _timeout(self, benchmark: Benchmark) -> float:
        """The guest itself stops a program."""
        if self.disk:
            return PROGRAM_TIMEOUT
        # Recording the lines of each access takes several times longer.
        return SLOW_TIMEOUT if benchmark.lines or benchmark.cycles else Machine.timeout

    def key(self, benchmark: Benchmark) -> str:
        """Return a key that changes whenever the counts may change."""
        boot = self.machine(benchmark)
        arch = self.kernel.arch
        hashes = (self.kernel.image_sha256, self.guest.sha256, self.plugin.sha256)
        words = [*arch.machine_args, str(boot.hardware), boot.append(), *benchmark.workload.spans]
        counting = boot.counting
        words += [*counting.caches, str(counting.cold)] if counting and counting.caches else []
        words += [*_settings(boot, MACHINE), *_settings(counting, COUNTING)]
        words += [self.disk.identity] if self.disk else []
        return digest(*hashes, str(self.plugin.qemu), [*words, benchmark.lines], self.locks)


def _settings(of: Any, otherwise: Collection[str]) -> list[str]:
    """Fields that differ from their defaults, except those included in the key `otherwise`."""
    values = {field.name: (getattr(of, field.name), field.default) for field in fields(of)}
    return [f"{name}={value}" for name, (value, default) in values.items()
            if name not in otherwise and value != default]  # fmt: skip


@dataclass(frozen=True)
class Provenance:
    """The kernels and fragments of one architecture's comparison."""

    a: Setup
    b: Setup
    fragments: tuple[Path, ...]


@dataclass(frozen=True)
class Sample:
    """One boot of one benchmark."""

    counts: RegionCounts
    results: Results
    # Counts of the other CPUs; None with one CPU.
    others: RegionCounts | None = None

    @property
    def divisor(self) -> int:
        """The number of pages, or of operations if the workload has no pages."""
        region = self.results.regions[REGION]
        return region.pages or region.ops


@dataclass(frozen=True)
class Boot:
    """One boot to run: a benchmark on a setup, and its number among the benchmark's boots."""

    setup: Setup
    benchmark: Benchmark
    number: int

    @property
    def name(self) -> str:
        """The name for directories and messages."""
        kernel = self.setup.kernel
        return "-".join([kernel.arch.label, kernel.tree.label, self.benchmark.name])


@dataclass(frozen=True)
class Sampling:
    """At least `repeat` samples, or, if `fresh`, that many new ones."""

    repeat: int = 1
    fresh: bool = False


ONCE = Sampling()


Samples = dict[tuple[str, Benchmark], list[Sample]]


def measure(
    cache: Cache,
    setups: Sequence[Setup],
    benchmarks: Sequence[Benchmark],
    progress: Progress,
    options: Sampling,
    place: Place = HERE,
) -> Samples:
    """Collect all samples of every benchmark and setup, keyed by kernel image and benchmark.

    Missing samples are measured. A failed boot stops the others with GuestLost or Difference.
    """
    by_image = {setup.kernel.image_sha256: setup for setup in setups}
    boots = [
        boot
        for benchmark in benchmarks
        for setup in by_image.values()
        for boot in _missing(cache, setup, benchmark, options)
    ]
    if boots:
        architectures = ", ".join(dict.fromkeys(boot.setup.kernel.arch.label for boot in boots))
        with progress.stage(f"{architectures} bench", len(boots)):
            parallel.side_by_side(
                boots,
                lambda boot: _sample(cache, boot, place),
                lambda done, boot, _: progress.at(done, boot.name),
                place.machines,
            )
    return {
        (setup.kernel.image_sha256, benchmark): [
            _load(path, benchmark) for path in known(cache, setup, benchmark)
        ]
        for setup in setups
        for benchmark in benchmarks
    }


def known(cache: Cache, setup: Setup, benchmark: Benchmark) -> list[Path]:
    """Return the directories of cached samples."""
    return sorted(cache.path("cell", setup.key(benchmark)).glob("run-*"))


def _missing(cache: Cache, setup: Setup, benchmark: Benchmark, options: Sampling) -> list[Boot]:
    have = len(known(cache, setup, benchmark))
    upto = have + options.repeat if options.fresh else max(have, options.repeat)
    return [Boot(setup, benchmark, number) for number in range(have + 1, upto + 1)]


def _sample(cache: Cache, boot: Boot, place: Place) -> None:
    """Boot, and cache the counts."""
    key = boot.setup.key(boot.benchmark)

    def build(directory: Path) -> None:
        _require_functions(boot)
        # Boots with the same name may run in parallel: other runs, other configurations.
        work = launch.workdir(cache, f"{boot.name}-{key}-{boot.number}")
        _require_success(boot, launch.boot(boot.setup.machine(boot.benchmark), place, work), work)
        _load(work, boot.benchmark)
        for name in (machine.CONSOLE, machine.RESULTS, machine.COUNTS, machine.COMMAND):
            shutil.copy2(work / name, directory / name)
        shutil.rmtree(work)

    cache.make(f"cell/{key}", f"run-{boot.number}", build)


def _require_success(boot: Boot, ended: Results, work: Path) -> None:
    """Difference unless the guest verified its data and had the folios it requested."""
    where = f"{boot.name}\nwhole log: {work / machine.RESULTS}"
    if ended.failures:
        raise Difference(
            f"wrong data: {ended.failures[0]}", where, "this kernel loses or corrupts memory"
        )
    if ended.folios and ended.folios[0] != ended.folios[1]:
        raise Difference(
            f"only {ended.folios[0]} of {ended.folios[1]} folios had the requested size",
            where,
            "use a machine with more memory, or another size",
        )
    if ended.exit or not ended.verified:
        notes = "\n".join([*ended.notes, where])
        raise Difference(f"the benchmark failed (exit status {ended.exit})", notes, "read the log")


def _load(directory: Path, benchmark: Benchmark) -> Sample:
    regions = counts.read(directory / machine.COUNTS)
    ended = results.parse((directory / machine.RESULTS).read_text())
    where = f"{' '.join(benchmark.words())}: {directory}"
    if REGION not in regions or REGION not in ended.regions or not regions[REGION].runs:
        raise GuestLost(
            "the guest did not enter the measured region",
            where,
            "guest and plugin use different markers: build both from one checkout",
        )
    sample = Sample(regions[REGION], ended, regions.get(REGION + counts.OTHERS))
    if not sample.divisor:
        raise GuestLost(
            "the guest reported no pages in its region",
            where,
            "the benchmark must report `pages` or `ops`",
        )
    return sample


def countable(benchmarks: Sequence[Benchmark], kernel: Kernel) -> tuple[list[Benchmark], str]:
    """Drop counted calls of functions that the kernel lacks, and return their names."""
    lost, kept = _lost(kernel, benchmarks), []
    for benchmark in benchmarks:
        calls = tuple(calls for calls in benchmark.workload.calls if calls not in lost)
        kept.append(replace(benchmark, workload=replace(benchmark.workload, calls=calls)))
    return kept, ", ".join(f"no function {' or '.join(calls.symbols)}" for calls in lost)


def _lost(kernel: Kernel, benchmarks: Sequence[Benchmark]) -> list[Calls]:
    """The counted calls of functions that the kernel lacks."""
    names = [line.split()[1] for line in counter.symbols(kernel).read_text().splitlines()]
    counted = {calls: None for benchmark in benchmarks for calls in benchmark.workload.calls}
    return [calls for calls in counted if not any(map(calls.counts, names))]


def _require_functions(boot: Boot) -> None:
    """Raise UserError if the kernel lacks a function, as the count would be zero."""
    kernel = boot.setup.kernel
    for calls in _lost(kernel, [boot.benchmark]):
        raise UserError(
            f"this kernel has no function {' or '.join(calls.symbols)} whose calls can be counted",
            f"{kernel.arch.name} {kernel.tree.label}: {kernel.system_map}",
            f"it is renamed or inlined: add its name to {calls.what!r} of the benchmark",
        )
