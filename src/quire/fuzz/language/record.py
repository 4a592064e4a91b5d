# SPDX-License-Identifier: GPL-2.0
"""Records: what the guest saw while it ran a program, line by line.

Lines v (mappings), m (pages) and u (counters) appear only where they differ from the previous one
of the same process and slot. A line c says which of the plugin's stops the step before it was.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from quire.boot import splat
from quire.boot.counts import Stop
from quire.fuzz.language.program import Op, Program

# Kinds of lines that hold a state, and how many words name the process and slot.
STATES = {"v": 2, "m": 2, "u": 1}
# Kinds of lines that end a step: operations, and the reads and the writes at the end.
STEPS = ("o", "r", "w")
_RUN = re.compile(r"(\d+)\*([a-zA-Z-]+)(?::(\S+))?")
_TAGGED = re.compile(r"(t\d+(?:\.\d+)?@[A-Z])(\d+)")


@dataclass(frozen=True)
class PageState:
    """One page as a process sees it: letters for its state, and its content."""

    state: str
    content: str

    @property
    def empty(self) -> bool:
        """Whether there is no page, or a page of zeroes."""
        return self.state[0] == "-" or self.content == "0"

    def without(self, letters: str) -> "PageState":
        """Return the page without these letters of its state."""
        return PageState(
            "".join(letter for letter in self.state if letter not in letters), self.content
        )

    def differs_in(self, other: "PageState") -> set[str]:
        """Return the letters that only one of the two has."""
        return {*self.state} ^ {*other.state}


_page = lru_cache(16384)(PageState)


@dataclass
class Record:
    """One program's run on one kernel, why the guest was lost, and what its steps cost, by name."""

    lines: list[str] = field(default_factory=list)
    lost: str = ""
    costs: dict[str, Stop] = field(default_factory=dict)

    @property
    def plain(self) -> list[str]:
        """The lines without the kernel's messages."""
        return [line for line in self.lines if not line.startswith("k ")]

    @property
    def trouble(self) -> str:
        """What no kernel may do, whatever the other one does: splats, hangs, leaks."""
        messages = [line.split(" ", 2)[2] for line in self.lines if line.startswith("k ")]
        complaint = splat.find("\n".join(messages))
        if self.lost or complaint:
            return self.lost or f"splat: {complaint.kind if complaint else ''}"
        for line in self.lines:
            if line.startswith("x hang"):
                return "an operation does not end"
            if line.startswith("x "):
                return f"left behind: {line[2:]}"
        return ""


@dataclass(frozen=True)
class StepRecord:
    """An operation's outcome, and the states after it by kind, process and slot."""

    name: str
    outcome: str
    states: dict[str, str]

    @property
    def result(self) -> str:
        """The outcome without the hashes of what was read before and after an operation."""
        return self.outcome.partition(" before=")[0]

    @property
    def number(self) -> int:
        """The operation's number in the program; of a step at the end, the process."""
        return int(self.name[2:])

    def op(self, program: Program) -> Op | None:
        """Return the operation of the program; None for the reads and the writes at the end."""
        return program[self.number] if self.name[0] == "o" else None


def steps(record: Record) -> Iterator[StepRecord]:
    """Yield the operations in order, each with the complete state after it."""
    states: dict[str, str] = {}
    name, outcome = "", ""
    for line in record.lines:
        kind, *words = line.split(" ")
        if kind in STATES:
            named = STATES[kind]
            states[" ".join((kind, *words[:named]))] = " ".join(words[named:])
        elif kind in STEPS:
            if name:
                yield StepRecord(name, outcome, dict(states))
            name, outcome = step_name(line), " ".join(words[1:])
    if name:
        yield StepRecord(name, outcome, dict(states))


def step_name(line: str) -> str:
    """Return the name of the step that a line of one of the kinds STEPS ends: `o 3`, `r 0`."""
    return " ".join(line.split(" ", 2)[:2])


def pages(line: str) -> dict[int, PageState]:
    """Return the pages in an m line, "first run run ...", by their numbers in the slot.

    Pages that are equal are one object.
    """
    first, *runs = line.split(" ")
    at = int(first)
    numbered: dict[int, PageState] = {}
    for run in runs:
        several = _run(run)
        numbered.update(enumerate(several, at))
        at += len(several)
    return numbered


@lru_cache(4096)
def _run(run: str) -> tuple[PageState, ...]:
    """Return the pages of a run: equal ones, or such with consecutive contents."""
    count, state, content = _RUN.fullmatch(run).groups()  # type: ignore[union-attr]
    tagged = _TAGGED.fullmatch(content or "")
    if not tagged:
        return (_page(state, content or ""),) * int(count)
    index = int(tagged[2])
    return tuple(_page(state, f"{tagged[1]}{at}") for at in range(index, index + int(count)))


def read(lines: Iterable[str], stops: Sequence[Stop] = ()) -> dict[int, Record]:
    """Return the records of a boot, by the programs' numbers. The last may lack its end.

    The plugin's stops, if it counted, may be fewer than operations where the guest was lost.
    """
    records: dict[int, Record] = {}
    current: Record | None = None
    step = ""
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "p":
            current = records[int(rest)] = Record(lost="no end")
        elif kind == "q" and current:
            current.lost = ""
            current = None
        elif current and kind == "c":
            if int(rest) < len(stops):
                current.costs[step] = stops[int(rest)]
        elif current:
            current.lines.append(line)
            step = step_name(line) if kind in STEPS else step
    return records


def write(path: Path, records: Mapping[int, Record]) -> None:
    """Write a file that read() can read, without costs. Lost programs have no end."""
    lines: list[str] = []
    for number, record in records.items():
        lines += [f"p {number}", *record.lines, *([] if record.lost else [f"q {number}"])]
    path.write_text("".join(f"{line}\n" for line in lines))
