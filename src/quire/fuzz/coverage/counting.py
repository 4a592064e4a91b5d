# SPDX-License-Identifier: GPL-2.0
"""Coverage of the functions that the series touches.

The counting plugin counts per symbol. For coverage it gets a file with basic blocks as symbols.
"""

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

# The symbol of everything else: for the plugin, a symbol ends where the next one begins.
REST = "-"
_HUNK = re.compile(r"@@ [^@]+@@(?: .*?(\w+)\()?")
_DEFINED = re.compile(r"(?!return|else|if|switch|while|for)(?:[a-z][\w \t*]*[ \t*])?(\w+)\([^;]*$")


@dataclass
class Coverage:
    """All blocks, and how often each was reached."""

    kernel: Kernel
    blocks: list[Block]
    reached: dict[str, int] = field(default_factory=dict)
    # Lines that the series adds, as file:line of its tree.
    added: frozenset[str] = frozenset()

    def add(self, counts: Path) -> dict[int, set[str]]:
        """Add a boot's counts. For each region, the blocks that it was the first to reach.

        GuestLost if the counts are cut short.
        """
        news: dict[int, set[str]] = {}
        for region, name, number in _reached(counts):
            if name not in self.reached:
                news.setdefault(region, set()).add(name)
            self.reached[name] = self.reached.get(name, 0) + number
        return news

    def functions(self) -> list[tuple[str, int, int, int]]:
        """Each function: executions of its most frequent block, blocks reached, blocks in all."""
        by_name: dict[str, list[Block]] = {}
        for block in self.blocks:
            by_name.setdefault(block.function, []).append(block)
        return [
            (
                name,
                max(self.reached.get(block.name, 0) for block in parts),
                sum(block.name in self.reached for block in parts),
                len(parts),
            )
            for name, parts in sorted(by_name.items())
        ]

    def unreached(self) -> list[Block]:
        """Blocks that no program reached, in functions that some program reached."""
        called = {name for name, _, reached, _ in self.functions() if reached}
        return [b for b in self.blocks if b.function in called and b.name not in self.reached]


def missed(coverage: Coverage) -> tuple[list[str], list[str]]:
    """What no program reached: in lines that the series adds, and elsewhere.

    Each is a source line, an offset in a function whose line is not known, or a function.
    """
    ours: dict[str, None] = {}
    others = {f"{name}, never called": None for name, _, hit, _ in coverage.functions() if not hit}
    for block in sorted(coverage.unreached(), key=_where):
        listed = ours if block.line in coverage.added else others
        listed[f"{block.line or block.name} ({block.function})"] = None
    return list(ours), list(others)


def _where(block: Block) -> tuple[str, int, int]:
    file, _, line = block.line.rpartition(":")
    return file, int(line or 0), block.address


def added(a: Path, b: Path, files: Iterable[str]) -> frozenset[str]:
    """The lines of those files that only tree b has, as file:line."""
    lines = set()
    for file in files:
        old = (a / file).read_text().splitlines() if (a / file).exists() else []
        new = (b / file).read_text().splitlines()
        for tag, _, _, first, end in SequenceMatcher(None, old, new).get_opcodes():
            if tag in ("insert", "replace"):
                lines |= {f"{file}:{line}" for line in range(first + 1, end + 1)}
    return frozenset(lines)


def touched(series: Series) -> set[str]:
    """Functions of the C code in which the series changes a line."""
    names: set[str] = set()
    for patch in series.patches:
        for part in re.split(r"^diff --git ", patch.path.read_text(), flags=re.M)[1:]:
            file, _, body = part.partition("\n")
            if file.endswith((".c", ".h")):
                names |= set(_changed(body.splitlines()))
    return names


def _changed(lines: Iterable[str]) -> Iterable[str]:
    """Functions in which a diff changes a line; a hunk's header may name one that has ended."""
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
    """The blocks of those functions, and a file that names them for the plugin.

    BuildFailed if the kernel has none of the functions, UserError if it has an architecture whose
    branches are not known.
    """
    found = blocks.find(kernel, set(names), sources, directory / "objects")
    if not found:
        raise BuildFailed(
            "the kernel has none of the functions that the series touches",
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
    """The region, block and executions of every block that ran. GuestLost if cut short."""
    last = ""
    for line in counts.read_text().splitlines() if counts.exists() else ():
        last = line
        if line.startswith("sym ") and "+0x" in line:
            _, region, name, _, calls = line.split(" ")[:5]
            if int(calls):
                yield int(region), name, int(calls)
    if last != "end":
        raise GuestLost("the plugin left no counts", f"{counts}: {last}", "see counter/README.md")
