# SPDX-License-Identifier: GPL-2.0
"""Read the plugin's stream: the cost of each run of a region, in the order in which they ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from quire.boot.counts import SymbolCount, add_symbol, pairs
from quire.host.errors import GuestLost


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


def read(path: Path) -> list[Stop]:
    """Read all stops. GuestLost if the file is missing or malformed.

    A stream has no end marker: the file of counts (counts.read) tells whether the plugin counted,
    and to the end.
    """
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError as error:
        raise GuestLost(
            "the plugin left no stream", str(path), "check in the console log that QEMU started"
        ) from error
    return list(parse(lines, str(path)))


def parse(lines: list[str], where: str = "") -> Iterator[Stop]:
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
