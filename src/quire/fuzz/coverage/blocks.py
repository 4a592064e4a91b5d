# SPDX-License-Identifier: GPL-2.0
"""Basic blocks of the functions that the series touch, wherever the compiler put them.

A block is a place that a branch leads to, or that stands behind one. Of functions that are inlined,
the blocks are found in those that took them in, by debug information made apart (lines.py).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.build.counter import TEXT_TYPES
from quire.build.kernel import Kernel
from quire.fuzz.coverage import lines
from quire.host import process

_SYMBOL = re.compile(rf"^([0-9a-f]+) [{TEXT_TYPES}] (\S+)$", re.M)
_INSN = re.compile(r"^[ \t]*([0-9a-f]+):[ \t]+(\S+)[ \t]*(.*)$", re.M)
_TARGET = re.compile(r"\b([0-9a-f]{8,16}) <")
# Instructions behind which another block begins. Calls come back and do not count.
_BRANCH = re.compile(r"(b|b\..*|br|cbn?z|tbn?z|ret.*|brk|j.*|ud2)")
# Bytes: between two functions at most, and between two that are disassembled together.
ALIGNMENT, NEAR = 64, 0x4000
# What stands behind the end of the code.
_PADDING = frozenset(("nop", "udf", "int3", ".word"))


@dataclass(frozen=True)
class Block:
    """One block: its address, the symbol it is in, and the function of the source it is part of."""

    address: int
    symbol: str
    offset: int
    function: str
    line: str = ""

    @property
    def name(self) -> str:
        """As the plugin is told, and tells."""
        return f"{self.symbol}+{self.offset:#x}"


@dataclass(frozen=True)
class Code:
    """A symbol and what it spans."""

    start: int
    end: int
    symbol: str

    @property
    def function(self) -> str:
        """Without what the compiler adds to the name of a variant: .part.0, .constprop.0, …"""
        return self.symbol.partition(".")[0]


def code(kernel: Kernel) -> list[Code]:
    """All code of the kernel."""
    symbols = sorted(
        (int(address, 16), name) for address, name in _SYMBOL.findall(kernel.system_map.read_text())
    )
    return [
        Code(start, end, name)
        for (start, name), (end, _) in itertools.pairwise(symbols)
        if end > start
    ]


def find(kernel: Kernel, names: Collection[str], sources: Iterable[str], work: Path) -> list[Block]:
    """The blocks of those functions; of inlined ones, as far as `sources` use them."""
    everything = code(kernel)
    parts = [part for part in everything if part.function in names]
    leaders = _leaders(kernel, parts)
    found = {
        at: Block(at, part.symbol, at - part.start, part.function)
        for part in parts
        for at in leaders[part.start]
    }
    for source in sources:
        found |= {b.address: b for b in _of_object(kernel, everything, names, source, work)}
    return [found[at] for at in sorted(found)]


def _of_object(
    kernel: Kernel, everything: list[Code], names: Collection[str], source: str, work: Path
) -> Iterator[Block]:
    """Blocks of a source file's object that are part of one of the functions, with their lines."""
    made = lines.compiled(kernel, source, work)
    # Of functions that have a name in common, nobody can tell which is whose.
    shared = {name for name, n in Counter(part.symbol for part in everything).items() if n > 1}
    inside = lines.functions(kernel, made) if made else {}
    parts = [part for part in everything if _is(part, inside) and part.symbol not in shared]
    if not made or not parts:
        return
    leaders = _leaders(kernel, parts)
    places = {
        at: inside[part.symbol][0] + at - part.start for part in parts for at in leaders[part.start]
    }
    chains = lines.chains(kernel, made, list(places.values()))
    for part in parts:
        for at in leaders[part.start]:
            chain = chains.get(places[at], [])
            function, line = next((one for one in chain if one[0] in names), (part.function, ""))
            if function in names:
                yield Block(at, part.symbol, at - part.start, function, line)


def _is(part: Code, inside: Mapping[str, tuple[int, int]]) -> bool:
    """Whether the code is that of an object's function: other files may have one of that name."""
    size = inside.get(part.symbol, (0, 0))[1]
    return 0 < size <= part.end - part.start < size + ALIGNMENT


def _leaders(kernel: Kernel, parts: Sequence[Code]) -> dict[int, list[int]]:
    """Where blocks begin, by the start of what they are in. Neighbours are looked at in one go."""
    objdump = f"{kernel.toolchain.cross_compile}objdump"
    found: dict[int, list[int]] = {part.start: [] for part in parts}
    for start, end in _ranges(parts):
        where = (f"--start-address={start:#x}", f"--stop-address={end:#x}")
        listing = process.query(
            objdump, "-d", "--no-show-raw-insn", *where, str(kernel.objdir / "vmlinux")
        ).output
        for part in re.split(r"^(?=[0-9a-f]+ <)", listing, flags=re.M):
            insns = [(int(at, 16), verb, rest) for at, verb, rest in _INSN.findall(part)]
            if insns and insns[0][0] in found:
                found[insns[0][0]] = _leaders_of(insns)
    return found


def _ranges(parts: Sequence[Code]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for part in sorted(parts, key=lambda part: part.start):
        if ranges and part.start - ranges[-1][1] < NEAR:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], part.end))
        else:
            ranges.append((part.start, part.end))
    return ranges


def _leaders_of(insns: list[tuple[int, str, str]]) -> list[int]:
    start, end = insns[0][0], insns[-1][0]
    leaders = {start}
    for (_, verb, rest), (following, _, _) in itertools.pairwise(insns):
        if not _BRANCH.fullmatch(verb):
            continue
        leaders.add(following)
        leaders |= {int(to, 16) for to in _TARGET.findall(rest) if start <= int(to, 16) <= end}
    return sorted(leaders & {at for at, verb, _ in insns if verb not in _PADDING})
