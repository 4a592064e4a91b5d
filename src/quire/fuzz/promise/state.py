# SPDX-License-Identifier: GPL-2.0
"""What a record says of a process: its mappings and pages, place by place."""

import re
from dataclasses import dataclass
from functools import lru_cache

from quire.fuzz.language import record
from quire.fuzz.language.program import Program, Range
from quire.fuzz.language.record import Page
from quire.fuzz.promise.memory import Place, places

_MAPPING = re.compile(r"(\d+)\+(\d+):(....):([0-9a-f]+)(\S*)")
PROTECTIONS = {"rw": "rw", "r-": "r", "--": "none"}


@dataclass(frozen=True)
class Mapped:
    """A page of a mapping: its protection, whether writes are shared, its number in the file.

    `mapping` is the first page of the mapping that it belongs to; `swapped`: some page of it, which
    the page table of shared memory does not show; `merged`: some page of it is.
    """

    prot: str
    shared: bool
    at: int
    locked: bool
    swapped: bool
    mapping: int
    merged: bool


@lru_cache(4096)
def pages(line: str, slot: str) -> dict[Place, Page]:
    """The pages of an m line. The result is shared: it must not be changed."""
    return {(slot, at): page for at, page in record.numbered_pages(line).items()}


def mapped(line: str, slot: str) -> dict[Place, Mapped]:
    """The mapped pages of a v line. The result is shared: it must not be changed.

    Lines with the same mappings have one result: sums of pages change more often.
    """
    found = _MAPPING.findall(line)
    return _mapped(
        slot,
        tuple(
            (*header, ",lo" in flags, ",Swap=" in flags, ",KSM=" in flags)
            for *header, flags in found
        ),
    )


@lru_cache(4096)
def _mapped(
    slot: str, found: tuple[tuple[str, str, str, str, bool, bool, bool], ...]
) -> dict[Place, Mapped]:
    result: dict[Place, Mapped] = {}
    for first, count, perms, offset, locked, swapped, merged in found:
        start, prot = int(first), PROTECTIONS.get(perms[:2], perms[:2])
        for number in range(int(count)):
            at = int(offset, 16) + number
            shared = perms[3] == "s"
            result[slot, start + number] = Mapped(prot, shared, at, locked, swapped, start, merged)
    return result


def locked(line: str) -> int:
    """How many pages of a v line's mappings are locked."""
    return sum(int(count) for _, count, _, _, flags in _MAPPING.findall(line) if ",lo" in flags)


def extents(program: Program) -> list[Place]:
    """The pages that a record shows: in each slot all between the first and the last named."""
    named: dict[str, tuple[int, int]] = {}
    for op in program:
        for where in (op.range, op.to and Range(op.to.slot, op.to.page, _length(op.range))):
            if where:
                first, end = named.get(where.slot, (where.page, where.end))
                named[where.slot] = min(first, where.page), max(end, where.end)
    return [
        place
        for slot, (first, end) in sorted(named.items())
        for place in places(Range(slot, first, end - first))
    ]


def _length(where: Range | None) -> int:
    return where.count if where and where.count else 1
