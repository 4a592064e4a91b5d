# SPDX-License-Identifier: GPL-2.0
"""Parse what the guest wrote to its results port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from quire.host.errors import GuestLost

PROTOCOL = "quire 1"


@dataclass
class Region:
    """A marked region: its name, and the total of its 4 KiB pages and operations."""

    name: str
    pages: int = 0
    ops: int = 0


@dataclass
class Results:
    """All lines of one boot, sorted. `exit` is None when the guest did not reach its end."""

    regions: dict[int, Region] = field(default_factory=dict)
    # name -> before, after
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)
    # folios that had the requested size, and the number of folios
    folios: tuple[int, int] | None = None
    verified: bool = False
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # every line outside the bench protocol: KTAP
    other: list[str] = field(default_factory=list)
    exit: int | None = None


def parse(text: str) -> Results:
    """Parse the port's lines. GuestLost when a line violates the protocol."""
    results = Results()
    lines = text.replace("\r", "").splitlines()
    if lines and lines[0] != PROTOCOL:
        raise GuestLost(
            "the guest uses another protocol",
            f"first line {lines[0]!r}, expected {PROTOCOL!r}",
            "build guest and lab from one checkout",
        )
    for line in lines[1:]:
        words = line.split()
        reader = _READERS.get(words[0]) if words else None
        if reader is None:
            results.other.append(line)
            continue
        try:
            reader(results, words)
        except (ValueError, IndexError, KeyError) as error:
            raise GuestLost(
                "the guest wrote a malformed line",
                line,
                "build guest and lab from one checkout",
            ) from error
    return results


def _region(results: Results, words: list[str]) -> None:
    results.regions[int(words[1])] = Region(words[2])


def _pages(results: Results, words: list[str]) -> None:
    results.regions[int(words[1])].pages += int(words[2])


def _ops(results: Results, words: list[str]) -> None:
    results.regions[int(words[1])].ops += int(words[2])


def _counter(results: Results, words: list[str]) -> None:
    results.counters[words[1]] = (int(words[2]), int(words[3]))


def _folios(results: Results, words: list[str]) -> None:
    results.folios = (int(words[1]), int(words[2]))


def _verify(results: Results, words: list[str]) -> None:
    if words[1] == "ok":
        results.verified = True
    elif words[1] == "fail":
        results.failures.append(" ".join(words[2:]))
    else:
        raise ValueError(words[1])


def _note(results: Results, words: list[str]) -> None:
    results.notes.append(" ".join(words[1:]))


def _exit(results: Results, words: list[str]) -> None:
    results.exit = int(words[1])


_READERS: dict[str, Callable[[Results, list[str]], None]] = {
    "region": _region,
    "pages": _pages,
    "ops": _ops,
    "counter": _counter,
    "folios": _folios,
    "verify": _verify,
    "note": _note,
    "exit": _exit,
}
