# SPDX-License-Identifier: GPL-2.0
"""Read the workloads: sizes, variants, units. Each NAME.c in guest/workloads/ has a NAME.toml;
guest/README.md explains the keys."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

from quire.arch.architecture import Architecture, Rows
from quire.host import data
from quire.host.errors import UserError
from quire.kernels import user
from quire.measure import concerns
from quire.measure.cost import LOCKS_FILE

# Folio sizes in KiB; 4 is a small folio.
SIZES = (4, 16, 64, 256, 1024, 2048)
# Sizes only for workloads that name them; with larger pages, nothing replaces them.
NAMED_SIZES = (32,)
# Groups of symbols, by name.
GROUPS = "symbols.toml"
# The rows of the demo.
DEMO = "demo.toml"
# The rows that show what each topic gains.
HEADLINES = "headlines.toml"
# Files in the workloads' folder that describe no workload.
OTHERS = (GROUPS, DEMO, HEADLINES, LOCKS_FILE, concerns.FILE)

# A workload in the guest's sources: its name, and its summary.
_SUMMARY = re.compile(r'\.name = "([^"]+)",\s+\.summary = ((?:"[^"]*"\s*)+)')

Parameters = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Calls:
    """A function whose calls are counted in a workload's region."""

    # The name of the calls in the table.
    what: str
    # The function, under each of its names; clones made by the compiler (symbol.isra.0) count,
    # too.
    symbols: tuple[str, ...]
    # The number of passes that one operation makes over the same objects.
    passes: int = 1
    # Whether more calls on side B than on side A count as a difference (exit status 1).
    no_more_than_a: bool = False

    def counts(self, name: str) -> bool:
        """Tell whether `name` is the function or one of its clones."""
        return any(name == symbol or name.startswith(f"{symbol}.") for symbol in self.symbols)


@dataclass(frozen=True)
class Workload:
    """One benchmark program of the guest, or a user's own program."""

    name: str
    # Its group on the page and in plots: a topic of the series, or controls.
    topic: str = ""
    # The unit of figures: "page" (4 KiB), "walk", "scanned page" or "call".
    unit: str = "page"
    sizes: tuple[int, ...] = SIZES
    # Folio sizes measured only if the workload is named.
    further_sizes: tuple[int, ...] = ()
    # Parameters in addition to the size; each variant is measured.
    variants: tuple[Parameters, ...] = ((),)
    # Guest counters whose change the table shows, on both sides.
    counters: tuple[str, ...] = ()
    # The symbols that the workload measures, if other code costs more.
    own: tuple[str, ...] = ()
    # Their name in the table: that of the group.
    own_name: str = "own symbols"
    # Spans whose instructions are counted separately: name:begin symbol:end symbol.
    spans: tuple[str, ...] = ()
    # Functions whose calls are counted.
    calls: tuple[Calls, ...] = ()
    # Additional kernel parameters, for instance a second memory node.
    kernel_parameters: tuple[str, ...] = ()
    # The architectures that can run it; empty: all.
    architectures: tuple[str, ...] = ()
    # The folio sizes (KiB) whose cache lines the demo counts; that is slow.
    lines: tuple[int, ...] = ()
    # Whether its memory is usually cold: simulated caches are then empty when the region begins.
    cold: bool = False
    # The position in tables.
    order: int = 1000
    # The file in the initramfs, if the program is the user's.
    program: str = ""

    def all_sizes(self) -> tuple[int, ...]:
        """Return all sizes, including those that must be named, in order."""
        return tuple(sorted({*self.sizes, *self.further_sizes}))

    def runs_on(self, architecture: str) -> bool:
        """Tell whether it runs on that architecture."""
        return not self.architectures or architecture in self.architectures


@dataclass(frozen=True)
class Benchmark:
    """A workload with a size and variant: one boot, one row of a table."""

    workload: Workload
    size: int | None
    parameters: Parameters = field(default=())
    # Whether to count cache lines and page-table words as well, in another boot.
    lines: bool = False
    # The number of virtual CPUs.
    cpus: int = 1
    # The CPU whose caches and cycles are simulated; empty: none.
    cycles: str = ""

    def words(self) -> tuple[str, ...]:
        """Return the arguments for init."""
        program = self.workload.program
        what = ("program", "bench", program) if program else ("bench", self.workload.name)
        return (*what, *self._settings)

    @property
    def label(self) -> str:
        """The benchmark's name, without the folio size."""
        return " ".join([self.workload.name, *(value for _, value in self.parameters)])

    @property
    def heading(self) -> str:
        """The benchmark's name with the folio size, as in reports: "swapout zero 64 KiB"."""
        return self.label if self.size is None else f"{self.label} {self.size} KiB"

    @property
    def title(self) -> str:
        """The benchmark's name with the folio size, as in documents: "swapout zero 64"."""
        return f"{self.label} {self.size or ''}".strip()

    @property
    def name(self) -> str:
        """The name for directories and messages: workload, size and parameters."""
        return "-".join([self.workload.name, *self._settings])

    @property
    def _settings(self) -> tuple[str, ...]:
        size = (("size", str(self.size)),) if self.size is not None else ()
        return tuple(f"{name}={value}" for name, value in (*size, *self.parameters))


def on_architecture(arch: Architecture, benchmarks: Iterable[Benchmark]) -> list[Benchmark]:
    """Select benchmarks that the architecture can run, with its own folio sizes."""
    every = (*SIZES, *NAMED_SIZES)
    sizes = dict(zip(every, arch.folio_sizes or every, strict=False))
    return [
        replace(benchmark, size=sizes.get(benchmark.size or 0))
        for benchmark in benchmarks
        if benchmark.workload.runs_on(arch.guest)
        and (benchmark.size is None or benchmark.size in sizes)
    ]


@dataclass(frozen=True)
class Catalogue:
    """All workloads, in table order."""

    workloads: tuple[Workload, ...]
    # The demo's benchmarks without --all.
    shown: tuple[Rows, ...] = ()
    # Benchmarks that show a topic's gain.
    headlines: Mapping[str, tuple[Rows, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Catalogue":
        """Read the workloads of a folder. UserError says what is wrong with a file."""
        lists = dict[str, tuple[str, ...]]
        groups = data.optional(folder / GROUPS, lists, "give each group a list")
        files = sorted(path for path in folder.glob("*.toml") if path.name not in OTHERS)
        workloads = [read(file, groups) for file in files]
        workloads.sort(key=lambda workload: (workload.order, workload.name))
        rows = dict[str, tuple[Rows, ...]]
        demo = data.optional(folder / DEMO, rows, "rows = [...]")
        headlines = data.optional(folder / HEADLINES, rows, "TOPIC = [...]")
        return cls(tuple(workloads), demo.get("rows", ()), headlines)

    def benchmarks(self, names: Sequence[str] = (), sizes: Sequence[int] = ()) -> list[Benchmark]:
        """Select benchmarks by name (or pattern) and size; both default to all.

        Some sizes require the workload's name. A name may include parameters for the guest:
        "swapout,data=zero", "ksm-walk,vmas=500". UserError for an unknown workload or size.
        """
        chosen = [benchmark for name in names for benchmark in self._named(name)] or expand(
            self.workloads
        )
        limit = set(sizes)
        if unknown := limit - {*SIZES, *NAMED_SIZES}:
            raise UserError(
                f"{min(unknown)} KiB is not one of the folio sizes",
                remedy=f"use: {', '.join(map(str, sorted((*SIZES, *NAMED_SIZES))))}",
            )
        return [
            benchmark
            for benchmark in dict.fromkeys(chosen)
            if not limit or benchmark.size is None or benchmark.size in limit
        ]

    @staticmethod
    def on_cpus(benchmarks: Iterable[Benchmark], cpus: int) -> list[Benchmark]:
        """Return the same on several CPUs, used by the process unless a parameter forbids it."""
        running = (("others", "running"),)
        return [
            replace(
                benchmark,
                cpus=cpus,
                parameters=benchmark.parameters
                + (
                    ()
                    if "others" in dict(benchmark.parameters) or benchmark.workload.program
                    else running
                ),
            )
            for benchmark in benchmarks
        ]

    def demo(self, *, everything: bool = False) -> list[Benchmark]:
        """Return the demo's benchmarks, or all, with cache lines where requested."""
        benchmarks = self.benchmarks() if everything else self.rows(self.shown)
        return [
            replace(benchmark, lines=benchmark.size in benchmark.workload.lines)
            for benchmark in benchmarks
        ]

    def rows(self, wanted: Iterable[Rows]) -> list[Benchmark]:
        """Select benchmarks of several workloads, each at its sizes. Raises like benchmarks()."""
        return [
            benchmark
            for rows in wanted
            for benchmark in self.benchmarks([rows.workload], rows.sizes)
        ]

    def _named(self, text: str) -> list[Benchmark]:
        every = expand([replace(w, sizes=w.all_sizes()) for w in self.workloads])
        if titled := [one for one in every if text in (one.label, one.title)]:
            return titled
        name, *settings = text.split(",")
        if not all("=" in setting for setting in settings):
            raise UserError(
                f"{text!r} is not WORKLOAD[,name=value…]", remedy="as in swapout,data=zero"
            )
        overrides = dict(setting.split("=", 1) for setting in settings)
        chosen = [workload for workload in self.workloads if fnmatchcase(workload.name, name)]
        if not chosen:
            raise UserError(
                f"unknown benchmark {name!r}",
                remedy=f"choose from: {', '.join(workload.name for workload in self.workloads)}",
            )
        return expand([replace(w, sizes=w.all_sizes()) for w in chosen], overrides)


def expand(
    chosen: Sequence[Workload], overrides: Mapping[str, str] | None = None
) -> list[Benchmark]:
    """Expand these workloads: each variant at each size."""
    return [
        Benchmark(workload, size, tuple({**dict(variant), **(overrides or {})}.items()))
        for workload in chosen
        for variant in workload.variants
        for size in (workload.sizes or (None,))
    ]


def read(file: Path, groups: Mapping[str, Sequence[str]] | None = None) -> Workload:
    """Read the workload in a file, named after the file. UserError says what is wrong."""
    remedy = "guest/README.md explains the keys"
    return data.read(file, Workload, remedy, lambda keys: fields(file.stem, keys, groups or {}))


def summaries(folder: Path) -> dict[str, str]:
    """Return what each workload measures, by name, from the guest's sources."""
    found = [match for file in folder.glob("*.c") for match in _SUMMARY.findall(file.read_text())]
    return {name: "".join(re.findall('"([^"]*)"', text)) for name, text in found}


def of_program(source: Path) -> Workload:
    """Describe a user's own program from its TOML file. Without that file, it is measured once,
    without a folio size."""
    described = source.with_suffix(".toml")
    workload = read(described) if described.is_file() else Workload(source.stem, sizes=())
    return replace(workload, name=source.stem, program=user.path(source))


def fields(
    name: str, keys: dict[str, Any], groups: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the keys of a workload's file as fields of Workload."""
    found = {"name": name, **keys}
    if isinstance(keys.get("own"), str):
        found["own"], found["own_name"] = list(groups[keys["own"]]), keys["own"]
    if "variants" in keys:
        found["variants"] = [
            [[key, str(value)] for key, value in variant.items()] for variant in keys["variants"]
        ]
    return found
