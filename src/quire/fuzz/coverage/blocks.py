# SPDX-License-Identifier: GPL-2.0
"""Basic blocks of the functions that the series touches, wherever the compiler put them.

A block begins at the target of a branch, or at the instruction after one. The blocks of an inlined
function are in its callers; debug information from a second compilation tells which (lines.py).
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.boot.counter import TEXT_TYPES
from quire.build.kernel import Kernel
from quire.fuzz.coverage import lines
from quire.host import process
from quire.host.errors import UserError

_SYMBOL = re.compile(rf"^([0-9a-f]+) [{TEXT_TYPES}] (\S+)$", re.M)
_INSN = re.compile(r"^[ \t]*([0-9a-f]+):[ \t]+(\S+)[ \t]*(.*)$", re.M)
_TARGET = re.compile(r"\b([0-9a-f]{8,16}) <")
# Bytes: between two functions at most, and between two that are disassembled together.
ALIGNMENT, NEAR = 64, 0x4000


@dataclass(frozen=True)
class Branches:
    """The mnemonics of an architecture, as objdump prints them.

    A new block begins behind an instruction that `ends_block` matches. Calls return, so they do
    not end a block. `padding` fills the space behind a function.
    """

    ends_block: re.Pattern[str]
    padding: frozenset[str]


# By the architecture's name.
BRANCHES: dict[str, Branches] = {
    "arm64": Branches(
        re.compile(r"b|b\..*|br|cbn?z|tbn?z|ret.*|brk"), frozenset(("nop", "udf", ".word"))
    ),
    "x86_64": Branches(re.compile(r"j.*|ret.*|ud2"), frozenset(("nop", "int3"))),
}


@dataclass(frozen=True)
class Block:
    """One block: its address, its symbol, and the function of the source that it belongs to."""

    address: int
    symbol: str
    offset: int
    function: str
    line: str = ""

    @property
    def name(self) -> str:
        """The block's name for the plugin, and in its counts."""
        return f"{self.symbol}+{self.offset:#x}"


@dataclass(frozen=True)
class Code:
    """A symbol, and the addresses from `start` up to `end` that it covers."""

    start: int
    end: int
    symbol: str

    @property
    def function(self) -> str:
        """The name without the compiler's suffix for a variant: .part.0, .constprop.0, …"""
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
    """The blocks of those functions; of inlined ones, as far as `sources` use them.

    UserError for an architecture whose branches are not known.
    """
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
    """The blocks of a source file's object that belong to these functions, with their lines."""
    made = lines.compiled(kernel, source, work)
    # Where functions share a name, the address does not tell which one is meant.
    shared = {name for name, n in Counter(part.symbol for part in everything).items() if n > 1}
    inside = lines.functions(kernel, made) if made else {}
    parts = [part for part in everything if _is(part, inside) and part.symbol not in shared]
    if not made or not parts:
        return
    leaders = _leaders(kernel, parts)
    offsets = {
        at: inside[part.symbol][0] + at - part.start for part in parts for at in leaders[part.start]
    }
    chains = lines.chains(kernel, made, list(offsets.values()))
    for part in parts:
        for at in leaders[part.start]:
            chain = chains.get(offsets[at], [])
            function, line = next((link for link in chain if link[0] in names), (part.function, ""))
            if function in names:
                yield Block(at, part.symbol, at - part.start, function, line)


def _is(part: Code, inside: Mapping[str, tuple[int, int]]) -> bool:
    """Whether the code is an object's function: another file may have a function of that name."""
    size = inside.get(part.symbol, (0, 0))[1]
    return 0 < size <= part.end - part.start < size + ALIGNMENT


def _leaders(kernel: Kernel, parts: Sequence[Code]) -> dict[int, list[int]]:
    """Where blocks begin, by the start of their symbol. Neighbours are disassembled together."""
    branches = _branches(kernel)
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
                found[insns[0][0]] = _leaders_of(insns, branches)
    return found


def _branches(kernel: Kernel) -> Branches:
    name = kernel.arch.name
    if name not in BRANCHES:
        raise UserError(
            f"coverage does not know the branches of {name}",
            f"it knows: {', '.join(BRANCHES)}",
            "add them to BRANCHES in src/quire/fuzz/coverage/blocks.py, or use --no-coverage",
        )
    return BRANCHES[name]


def _ranges(parts: Sequence[Code]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for part in sorted(parts, key=lambda part: part.start):
        if ranges and part.start - ranges[-1][1] < NEAR:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], part.end))
        else:
            ranges.append((part.start, part.end))
    return ranges


def _leaders_of(insns: list[tuple[int, str, str]], branches: Branches) -> list[int]:
    start, end = insns[0][0], insns[-1][0]
    leaders = {start}
    for (_, verb, rest), (following, _, _) in itertools.pairwise(insns):
        if not branches.ends_block.fullmatch(verb):
            continue
        leaders.add(following)
        leaders |= {int(to, 16) for to in _TARGET.findall(rest) if start <= int(to, 16) <= end}
    return sorted(leaders & {at for at, verb, _ in insns if verb not in branches.padding})
