# SPDX-License-Identifier: GPL-2.0
"""What the programs reached in the kernel's functions that the series touch.

The counting plugin counts per symbol. Here it is given basic blocks for symbols: every place in
those functions that a branch leads to, or that stands behind one. No debug information is needed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from quire import run
from quire.counter import TEXT_TYPES
from quire.errors import BuildFailed, GuestLost
from quire.kernel import Kernel
from quire.series import Series

# Of everything else in the kernel; the plugin puts a symbol's end where the next one begins.
REST = "-"
_SYMBOL = re.compile(rf"^([0-9a-f]+) [{TEXT_TYPES}] (\S+)$", re.M)
_HUNK_IN = re.compile(r"^@@ [^@]+@@ .*?(\w+)\(", re.M)
_DEFINED = re.compile(r"^[ +](?!return|else|if)[a-z][\w \t*]*?\b(\w+)\([^;]*$", re.M)
_INSN = re.compile(r"^[ \t]*([0-9a-f]+):[ \t]+(\S+)[ \t]*(.*)$", re.M)
_TARGET = re.compile(r"\b([0-9a-f]{8,16}) <")
# Instructions behind which another block begins. Calls come back and do not count.
_BRANCH = re.compile(r"(b|b\..*|br|cbn?z|tbn?z|ret.*|brk|j.*|ud2)")


@dataclass(frozen=True)
class Block:
    """One basic block; `name` is function+offset."""

    address: int
    function: str
    offset: int

    @property
    def name(self) -> str:
        """As the plugin is told, and tells."""
        return f"{self.function}+{self.offset:#x}"


@dataclass
class Coverage:
    """The blocks there are, and how often each was reached."""

    kernel: Kernel
    blocks: list[Block]
    reached: dict[str, int] = field(default_factory=dict)

    def add(self, counts: Path) -> dict[int, set[str]]:
        """Take in a boot's counts; for each region, the blocks that none before it had reached."""
        news: dict[int, set[str]] = {}
        for region, name, number in _reached(counts):
            if name not in self.reached:
                news.setdefault(region, set()).add(name)
            self.reached[name] = self.reached.get(name, 0) + number
        return news

    def functions(self) -> list[tuple[str, int, int, int]]:
        """Each function: its calls, blocks reached, blocks there are."""
        by_name: dict[str, list[Block]] = {}
        for block in self.blocks:
            by_name.setdefault(block.function, []).append(block)
        return [
            (
                name,
                self.reached.get(f"{name}+0x0", 0),
                sum(block.name in self.reached for block in blocks),
                len(blocks),
            )
            for name, blocks in sorted(by_name.items())
        ]

    def unreached(self) -> list[Block]:
        """Blocks that no program came to, of functions that some did."""
        called = {name for name, _, reached, _ in self.functions() if reached}
        return [b for b in self.blocks if b.function in called and b.name not in self.reached]


def touched(series: Series) -> set[str]:
    """Functions named in the series' C code: in hunks' headers, and defined in hunks."""
    names: set[str] = set()
    for patch in series.patches:
        text = patch.path.read_text()
        for part in re.split(r"^diff --git ", text, flags=re.M)[1:]:
            if part.partition("\n")[0].endswith((".c", ".h")):
                names |= set(_HUNK_IN.findall(part)) | set(_DEFINED.findall(part))
    return names


def prepare(kernel: Kernel, names: Iterable[str], directory: Path) -> tuple[Coverage, Path]:
    """The blocks of those functions that the kernel has, and a file of symbols for the plugin."""
    wanted = set(names)
    symbols = sorted(
        (int(address, 16), name) for address, name in _SYMBOL.findall(kernel.system_map.read_text())
    )
    blocks: list[Block] = []
    lines: dict[int, str] = {}
    for (start, name), (end, _) in itertools.pairwise(symbols):
        if name in wanted and end > start:
            found = _blocks(kernel, name, start, end)
            blocks += found
            lines |= {block.address: block.name for block in found}
            lines.setdefault(end, REST)
    if not blocks:
        raise BuildFailed(
            "the kernel has none of the functions that the series touch",
            str(kernel.system_map),
            "run it with --no-coverage",
        )
    path = directory / "blocks"
    directory.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{at:x} {lines[at]}\n" for at in sorted(lines)))
    return Coverage(kernel, blocks), path


def _blocks(kernel: Kernel, name: str, start: int, end: int) -> list[Block]:
    objdump = f"{kernel.toolchain.cross_compile}objdump"
    where = (f"--start-address={start:#x}", f"--stop-address={end:#x}")
    listing = run.query(
        objdump, "-d", "--no-show-raw-insn", *where, str(kernel.objdir / "vmlinux")
    ).output
    insns = [(int(at, 16), verb, rest) for at, verb, rest in _INSN.findall(listing)]
    leaders = {start}
    for (_, verb, rest), (following, _, _) in itertools.pairwise(insns):
        if not _BRANCH.fullmatch(verb):
            continue
        leaders.add(following)
        leaders |= {int(to, 16) for to in _TARGET.findall(rest) if start <= int(to, 16) < end}
    # What stands behind the end of the code is padding.
    code = {at for at, verb, _ in insns if verb not in ("nop", "udf", "int3", ".word")}
    return [Block(at, name, at - start) for at in sorted(leaders & code)]


def _reached(counts: Path) -> Iterable[tuple[int, str, int]]:
    """The region, block and executions of every block that has any. GuestLost when cut short."""
    last = ""
    for line in counts.read_text().splitlines() if counts.exists() else ():
        last = line
        if line.startswith("sym ") and "+0x" in line:
            _, region, name, _, calls = line.split(" ")
            if int(calls):
                yield int(region), name, int(calls)
    if last != "end":
        raise GuestLost("the plugin left no counts", f"{counts}: {last}", "see counter/README.md")
