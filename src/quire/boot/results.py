# SPDX-License-Identifier: GPL-2.0
"""Parse the output of the guest's results port."""

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
    """All lines of one boot, sorted. `exit` is None if the guest did not finish."""

    regions: dict[int, Region] = field(default_factory=dict)
    # name -> before, after
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)
    # folios that had the requested size, and the number of folios
    folios: tuple[int, int] | None = None
    verified: bool = False
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # all other lines: KTAP
    other: list[str] = field(default_factory=list)
    exit: int | None = None


def parse(text: str) -> Results:
    """Parse the port's lines. GuestLost if a line violates the protocol."""
    results = Results()
    lines = text.replace("\r", "").splitlines()
    if lines and lines[0] != PROTOCOL:
        raise GuestLost(
            "the guest uses another protocol",
            f"first line {lines[0]!r}, expected {PROTOCOL!r}",
            "build guest and lab from one checkout",
        )
    for line in lines[1:]:
        try:
            _read(results, line)
        except (ValueError, KeyError) as error:
            raise GuestLost(
                "the guest wrote a malformed line", line, "build guest and lab from one checkout"
            ) from error
    return results


def _read(results: Results, line: str) -> None:
    match line.split():
        case ["region", number, name]:
            results.regions[int(number)] = Region(name)
        case ["pages" | "ops" as kind, number, value]:
            region = results.regions[int(number)]
            setattr(region, kind, getattr(region, kind) + int(value))
        case ["counter", name, before, after]:
            results.counters[name] = (int(before), int(after))
        case ["folios", as_requested, total]:
            results.folios = (int(as_requested), int(total))
        case ["verify", "ok"]:
            results.verified = True
        case ["verify", "fail", *text]:
            results.failures.append(" ".join(text))
        case ["note", *text]:
            results.notes.append(" ".join(text))
        case ["exit", status]:
            results.exit = int(status)
        case ["region" | "pages" | "ops" | "counter" | "folios" | "verify" | "exit", *_]:
            raise ValueError(line)
        case _:
            results.other.append(line)
