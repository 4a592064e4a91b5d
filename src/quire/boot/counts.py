# SPDX-License-Identifier: GPL-2.0
"""Read what the plugin counted: by region and symbol, or each run of a region (the stream)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from quire.host.errors import GuestLost

HEADER = "quire-count 2"
# Region N + OTHERS counts the other CPUs during region N.
OTHERS = 4096


@dataclass(frozen=True)
class SymbolCount:
    """One kernel symbol: instructions executed, times entered, and events."""

    insns: int
    calls: int
    # By kind, without zeroes.
    events: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: "SymbolCount") -> "SymbolCount":
        """Add counts of functions that share a name."""
        events = Counter(self.events) + Counter(other.events)
        return SymbolCount(self.insns + other.insns, self.calls + other.calls, dict(events))


@dataclass
class RegionCounts:
    """One region, the sum of its runs. `other`: kernel instructions outside of any symbol."""

    runs: int
    total: int
    user: int
    kernel: int
    other: int
    tlb: dict[str, int] = field(default_factory=dict)
    symbols: dict[str, SymbolCount] = field(default_factory=dict)
    # The kernel's events, by kind: atomics, barriers.
    events: dict[str, int] = field(default_factory=dict)
    # Direct calls of lock functions: (caller, function). Caller "-": outside any symbol.
    locks: Counter[tuple[str, str]] = field(default_factory=Counter)
    # By the name in the plugin's span= argument: the number of spans, and their instructions.
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def tlb_total(self) -> int:
        """All TLB-invalidating instructions, of every class."""
        return sum(self.tlb.values())


def read(path: Path) -> dict[int, RegionCounts]:
    """Read the plugin's output file. GuestLost if it is missing, truncated or malformed."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        text = ""
    return parse(text, str(path))


def parse(text: str, where: str = "") -> dict[int, RegionCounts]:
    """Parse the regions by ID."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith(HEADER):
        raise GuestLost(
            "the plugin left no counts",
            where,
            "check in the console log that QEMU loads the plugin",
        )
    if lines[-1].startswith("error"):
        raise GuestLost("the plugin could not count", f"{where}: {lines[-1]}", "see counter/README")
    if lines[-1] != "end":
        raise GuestLost(
            "the plugin's output is truncated",
            f"{where}: last line {lines[-1]!r}",
            "run it again: QEMU ended before the plugin wrote its counts",
        )
    regions: dict[int, RegionCounts] = {}
    for line in lines[1:-1]:
        try:
            _line(regions, line.split())
        except (ValueError, IndexError, KeyError) as error:
            raise GuestLost(
                "the plugin wrote a malformed line",
                f"{where}: {line}",
                "build plugin and lab from one checkout",
            ) from error
    return regions


def _line(regions: dict[int, RegionCounts], words: list[str]) -> None:
    kind, number = words[0], int(words[1])
    if kind == "region":
        values = dict(zip(words[2::2], map(int, words[3::2]), strict=True))
        regions[number] = RegionCounts(
            values["runs"], values["insns"], values["user"], values["kernel"], values["other"]
        )
    elif kind == "tlb":
        regions[number].tlb[words[2]] = int(words[3])
    elif kind == "span":
        regions[number].spans[words[2]] = (int(words[3]), int(words[4]))
    elif kind == "event":
        regions[number].events[words[2]] = int(words[3])
    elif kind == "lock":
        regions[number].locks[words[2], words[3]] += int(words[4])
    elif kind == "sym":
        add_symbol(regions[number].symbols, words)
    else:
        raise ValueError(kind)


def add_symbol(symbols: dict[str, SymbolCount], words: list[str]) -> None:
    """Add the counts in a line `sym <id> <name> <insns> <calls> [<kind>=<n> …]`.

    Static functions may share a name; `symbols` has their sum.
    ValueError or IndexError for malformed words.
    """
    count = SymbolCount(int(words[3]), int(words[4]), pairs(words[5:]))
    symbols[words[2]] = symbols.get(words[2], SymbolCount(0, 0)) + count


def pairs(words: list[str]) -> dict[str, int]:
    """Parse words `name=number`. ValueError for anything else."""
    return {name: int(number) for name, _, number in (word.rpartition("=") for word in words)}


@dataclass
class Stop:
    """One run of a region. `symbols` is filled if the stream has detail."""

    region: int
    insns: int
    user: int
    kernel: int
    # Nonzero numbers by name: TLB classes, kinds of events, calls of the watched functions.
    counts: dict[str, int] = field(default_factory=dict)
    symbols: dict[str, SymbolCount] = field(default_factory=dict)


def read_stops(path: Path) -> list[Stop]:
    """Read all stops. GuestLost if the file is missing or malformed.

    A stream has no end marker: the file of counts (read()) tells whether the plugin counted,
    and to the end.
    """
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError as error:
        raise GuestLost(
            "the plugin left no stream", str(path), "check in the console log that QEMU started"
        ) from error
    return list(parse_stops(lines, str(path)))


def parse_stops(lines: list[str], where: str = "") -> Iterator[Stop]:
    """Parse stops from these lines. GuestLost if one is malformed."""
    stop: Stop | None = None
    for line in lines:
        try:
            words = line.split()
            if words[0] == "stop":
                if stop:
                    yield stop
                stop = _stop(words)
            else:
                _symbol(stop, words)
        except (ValueError, IndexError) as error:
            raise GuestLost(
                "the plugin wrote a malformed line into its stream",
                f"{where}: {line}",
                "build plugin and lab from one checkout",
            ) from error
    if stop:
        yield stop


def _symbol(stop: Stop | None, words: list[str]) -> None:
    if words[0] != "sym" or not stop or int(words[1]) != stop.region:
        raise ValueError(words)
    add_symbol(stop.symbols, words)


def _stop(words: list[str]) -> Stop:
    if words[2::2][:3] != ["insns", "user", "kernel"]:
        raise ValueError(words)
    insns, user, kernel = map(int, words[3:8:2])
    return Stop(int(words[1]), insns, user, kernel, pairs(words[8:]))
