# SPDX-License-Identifier: GPL-2.0
"""Basic blocks of the functions that the series touches, wherever the compiler put them.

A block begins at the target of a branch, or after one. Those of an inlined function are in its
callers; debug information tells which. For that an object file is compiled again, by the command
that kbuild has kept, with -g added, which does not change offsets in a function.
"""

import itertools
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.boot.counter import SYMBOL
from quire.host import process
from quire.host.errors import UserError
from quire.host.process import Command
from quire.kernels import objects
from quire.kernels.kernel import Kernel

_INSN = re.compile(r"^[ \t]*([0-9a-f]+):[ \t]+(\S+)[ \t]*(.*)$", re.M)
_TARGET = re.compile(r"\b([0-9a-f]{8,16}) <")
_COMMAND = re.compile(r"^savedcmd_\S+ := (.*?)(?: ; |$)", re.M)
# The functions at an address, the innermost first, with the line in each.
Chain = list[tuple[str, str]]
# Bytes: between two functions at most, and between two that are disassembled together.
ALIGNMENT, NEAR = 64, 0x4000


# By the architecture's name, as objdump prints mnemonics: after which instructions a new block
# begins, and what fills the space after a function. Calls return, so they do not end a block.
BRANCHES = {
    "arm64": (re.compile(r"b|b\..*|br|cbn?z|tbn?z|ret.*|brk"), {"nop", "udf", ".word"}),
    "x86_64": (re.compile(r"j.*|ret.*|ud2"), {"nop", "int3"}),
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
    """Return all code of the kernel."""
    rows = SYMBOL.findall(kernel.system_map.read_text())
    symbols = sorted((int(address, 16), name) for address, name in rows)
    codes = (Code(start, end, name) for (start, name), (end, _) in itertools.pairwise(symbols))
    return [code for code in codes if code.end > code.start]


def find(kernel: Kernel, names: Collection[str], sources: Iterable[str], work: Path) -> list[Block]:
    """Return the blocks of those functions; of inlined ones, as far as `sources` use them."""
    everything = code(kernel)
    parts = [part for part in everything if part.function in names]
    leaders = _leaders(kernel, parts)
    by_address = {
        at: Block(at, part.symbol, at - part.start, part.function)
        for part in parts
        for at in leaders[part.start]
    }
    for source in sources:
        by_address |= {b.address: b for b in _of_object(kernel, everything, names, source, work)}
    return [by_address[at] for at in sorted(by_address)]


def _of_object(
    kernel: Kernel, everything: list[Code], names: Collection[str], source: str, work: Path
) -> Iterator[Block]:
    """Yield the blocks of a source file's object that belong to the functions, and their lines."""
    debug = compiled(kernel, source, work)
    # Where functions share a name, the address does not tell which one is meant.
    shared = {name for name, n in Counter(part.symbol for part in everything).items() if n > 1}
    inside = objects.functions(debug) if debug else {}
    # Another file may have a function of that name, which is as long by chance only.
    size = {name: length for name, (_, length) in inside.items() if name not in shared}
    parts = [
        part
        for part in everything
        if 0 < size.get(part.symbol, 0) <= part.end - part.start < size[part.symbol] + ALIGNMENT
    ]
    if not debug or not parts:
        return
    leaders = _leaders(kernel, parts)
    offsets = {
        at: inside[part.symbol][0] + at - part.start for part in parts for at in leaders[part.start]
    }
    lines = chains(kernel, debug, list(offsets.values()))
    for part in parts:
        for at in leaders[part.start]:
            chain = lines.get(offsets[at], [])
            function, line = next((link for link in chain if link[0] in names), (part.function, ""))
            if function in names:
                yield Block(at, part.symbol, at - part.start, function, line)


def _leaders(kernel: Kernel, parts: Sequence[Code]) -> dict[int, list[int]]:
    """Return where blocks begin, by the start of their symbol."""
    arch = kernel.arch.guest
    if arch not in BRANCHES:
        remedy = "add them to BRANCHES in src/quire/fuzz/coverage/blocks.py, or use --no-coverage"
        what = f"coverage does not support {arch}: its branches are unknown"
        raise UserError(what, f"it knows: {', '.join(BRANCHES)}", remedy)
    objdump = f"{kernel.toolchain.cross_compile}objdump"
    leaders: dict[int, list[int]] = {part.start: [] for part in parts}
    # Neighbours, which are disassembled together.
    ranges: list[tuple[int, int]] = []
    for code in sorted(parts, key=lambda part: part.start):
        if ranges and code.start - ranges[-1][1] < NEAR:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], code.end))
        else:
            ranges.append((code.start, code.end))
    for start, end in ranges:
        at = (f"--start-address={start:#x}", f"--stop-address={end:#x}")
        command = (objdump, "-d", "--no-show-raw-insn", *at, str(kernel.objdir / "vmlinux"))
        listing = process.query(*command).output
        for part in re.split(r"^(?=[0-9a-f]+ <)", listing, flags=re.M):
            insns = [(int(at, 16), verb, rest) for at, verb, rest in _INSN.findall(part)]
            if insns and insns[0][0] in leaders:
                leaders[insns[0][0]] = _leaders_of(insns, *BRANCHES[arch])
    return leaders


def _leaders_of(
    insns: list[tuple[int, str, str]], ends: re.Pattern[str], padding: set[str]
) -> list[int]:
    first, last = insns[0][0], insns[-1][0]
    leaders = {first}
    for (_, verb, rest), (following, _, _) in itertools.pairwise(insns):
        if ends.fullmatch(verb):
            targets = (int(to, 16) for to in _TARGET.findall(rest))
            leaders |= {following, *(to for to in targets if first <= to <= last)}
    return sorted(leaders & {at for at, verb, _ in insns if verb not in padding})


def compiled(kernel: Kernel, source: str, work: Path) -> Path | None:
    """Return the object with debug information; None if the kernel lacks it or its code differs."""
    built = kernel.objdir / Path(source).with_suffix(".o")
    saved = built.with_name(f".{built.name}.cmd")
    kept = _COMMAND.search(saved.read_text()) if saved.exists() else None
    if not kept:
        return None
    work.mkdir(parents=True, exist_ok=True)
    debug = work / source.replace("/", "-").replace(".c", ".o")
    if not debug.exists() or debug.stat().st_mtime <= built.stat().st_mtime:
        target, command = Path(source).with_suffix(".o"), re.sub(r"-Wp,-MMD,\S+", "", kept[1])
        command = command.replace(f"-o {target}", f"-g -o {debug}")
        process.check(Command(["sh", "-c", command], cwd=kernel.objdir))
    return debug if objects.functions(debug) == objects.functions(built) else None


def chains(kernel: Kernel, debug: Path, offsets: Sequence[int]) -> dict[int, Chain]:
    """Return the functions and lines at these offsets of an object's code."""
    if not offsets:
        return {}
    tool = f"{kernel.toolchain.cross_compile}addr2line"
    asked = [f"{offset:#x}" for offset in offsets]
    lines: dict[int, Chain] = {}
    # No more than a command line takes.
    for start in range(0, len(asked), 2000):
        some = asked[start : start + 2000]
        text = process.query(tool, "-a", "-f", "-i", "-j", ".text", "-e", str(debug), *some).output
        for part in re.split(r"^0x", text, flags=re.M)[1:]:
            at, *rest = part.splitlines()
            lines[int(at, 16)] = [
                (name, source_line(kernel, line))
                for name, line in zip(rest[::2], rest[1::2], strict=False)
            ]
    return lines


def source_line(kernel: Kernel, text: str) -> str:
    """Return a file, or file:line, of the source tree; empty if it is not known."""
    text = text.partition(" ")[0]
    if "?" in text:
        return ""
    # The path is relative to the compiler's directory, or absolute and through it.
    path = os.path.normpath(kernel.objdir / text)
    for above in (kernel.objdir, kernel.tree.path):
        path = path.removeprefix(f"{os.path.normpath(above)}/")
    return path
