# SPDX-License-Identifier: GPL-2.0
"""What the programs reached in the kernel's functions that the series touch.

The counting plugin counts per symbol. Here it is given basic blocks for symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from quire.build.kernel import Kernel
from quire.fuzz.coverage import blocks
from quire.fuzz.coverage.blocks import Block
from quire.host.errors import BuildFailed, GuestLost
from quire.source.series import Series

# Of everything else in the kernel; the plugin puts a symbol's end where the next one begins.
REST = "-"
_HUNK = re.compile(r"@@ [^@]+@@(?: .*?(\w+)\()?")
_DEFINED = re.compile(r"(?!return|else|if|switch|while|for)(?:[a-z][\w \t*]*[ \t*])?(\w+)\([^;]*$")


@dataclass
class Coverage:
    """The blocks there are, and how often each was reached."""

    kernel: Kernel
    blocks: list[Block]
    reached: dict[str, int] = field(default_factory=dict)
    # Lines that the series put there, as file:line of the patched tree.
    added: frozenset[str] = frozenset()

    def add(self, counts: Path) -> dict[int, set[str]]:
        """Take in a boot's counts; for each region, the blocks that none before it had reached."""
        news: dict[int, set[str]] = {}
        for region, name, number in _reached(counts):
            if name not in self.reached:
                news.setdefault(region, set()).add(name)
            self.reached[name] = self.reached.get(name, 0) + number
        return news

    def functions(self) -> list[tuple[str, int, int, int]]:
        """Each function: runs of its most frequent block, blocks reached, blocks there are."""
        by_name: dict[str, list[Block]] = {}
        for block in self.blocks:
            by_name.setdefault(block.function, []).append(block)
        return [
            (
                name,
                max(self.reached.get(block.name, 0) for block in found),
                sum(block.name in self.reached for block in found),
                len(found),
            )
            for name, found in sorted(by_name.items())
        ]

    def unreached(self) -> list[Block]:
        """Blocks that no program came to, of functions that some did."""
        called = {name for name, _, reached, _ in self.functions() if reached}
        return [b for b in self.blocks if b.function in called and b.name not in self.reached]


def missed(coverage: Coverage) -> tuple[list[str], list[str]]:
    """What no program came to: in lines that the series add, and elsewhere.

    Source lines in their order; places in functions where no line is known; functions.
    """
    ours: dict[str, None] = {}
    others = {f"{name}, never called": None for name, _, hit, _ in coverage.functions() if not hit}
    for block in sorted(coverage.unreached(), key=_place):
        found = ours if block.line in coverage.added else others
        found[f"{block.line or block.name} ({block.function})"] = None
    return list(ours), list(others)


def _place(block: Block) -> tuple[str, int, int]:
    file, _, line = block.line.rpartition(":")
    return file, int(line or 0), block.address


def added(stock: Path, patched: Path, files: Iterable[str]) -> frozenset[str]:
    """The lines of those files that only the patched tree has, as file:line."""
    found = set()
    for file in files:
        old = (stock / file).read_text().splitlines() if (stock / file).exists() else []
        new = (patched / file).read_text().splitlines()
        for tag, _, _, first, end in SequenceMatcher(None, old, new).get_opcodes():
            if tag in ("insert", "replace"):
                found |= {f"{file}:{line}" for line in range(first + 1, end + 1)}
    return frozenset(found)


def touched(series: Series) -> set[str]:
    """Functions of the C code in which the series change a line."""
    names: set[str] = set()
    for patch in series.patches:
        for part in re.split(r"^diff --git ", patch.path.read_text(), flags=re.M)[1:]:
            file, _, body = part.partition("\n")
            if file.endswith((".c", ".h")):
                names |= set(_changed(body.splitlines()))
    return names


def _changed(lines: Iterable[str]) -> Iterable[str]:
    """Functions in which a diff changes a line. A hunk's header may name one that ended before."""
    current = ""
    for line in lines:
        if hunk := _HUNK.match(line):
            current = hunk[1] or ""
        if line.startswith(("@@", "+++", "---")):
            continue
        text = line[1:]
        defined = _DEFINED.match(text)
        if defined:
            current = defined[1]
        elif text.startswith("}"):
            current = ""
        if line[:1] in ("+", "-") and current and (defined or text.startswith("\t")):
            yield current


def prepare(
    kernel: Kernel, names: Iterable[str], sources: Iterable[str], directory: Path
) -> tuple[Coverage, Path]:
    """The blocks of those functions that the kernel has, and a file of symbols for the plugin."""
    found = blocks.find(kernel, set(names), sources, directory / "objects")
    if not found:
        raise BuildFailed(
            "the kernel has none of the functions that the series touch",
            str(kernel.system_map),
            "run it with --no-coverage",
        )
    rows = {block.address: block.name for block in found}
    starts = {block.address - block.offset for block in found}
    for part in blocks.code(kernel):
        if part.start in starts:
            rows.setdefault(part.end, REST)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "blocks"
    path.write_text("".join(f"{at:x} {rows[at]}\n" for at in sorted(rows)))
    return Coverage(kernel, found), path


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
