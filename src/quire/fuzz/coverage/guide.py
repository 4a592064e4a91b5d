# SPDX-License-Identifier: GPL-2.0
"""Coverage of the functions that the series touches, and a guide to more of it.

The counting plugin counts per symbol; for coverage it gets a file with basic blocks as symbols.
Programs that reach new code go to a pool, from which mutants are made.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from unidiff.patch import Hunk

from quire.boot import counter, machine
from quire.boot.counts import Stop
from quire.boot.machine import Counting
from quire.fuzz.coverage import blocks
from quire.fuzz.coverage.blocks import Block
from quire.fuzz.language import program
from quire.fuzz.language.program import Program
from quire.fuzz.runner import Probe, Targets
from quire.host.console import console
from quire.host.errors import BuildFailed, GuestLost
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.source.series import Series

SHOWN = 12  # unreached lines on the terminal; the file has all
# The symbol of everything else: for the plugin, a symbol ends where the next one begins.
REST = "-"
_NAMED = re.compile(r"(\w+)\(")
_DEFINED = re.compile(r"(?!return|else|if|switch|while|for)(?:[a-z][\w \t*]*[ \t*])?(\w+)\([^;]*$")


@dataclass
class BlockCoverage:
    """All blocks, and how often each was reached."""

    blocks: list[Block]
    reached: dict[str, int] = field(default_factory=dict)
    added: frozenset[str] = frozenset()  # lines that the series adds, as file:line of its tree

    def add(self, counts: Path) -> dict[int, set[str]]:
        """Add a boot's counts. For each region, the blocks that it was the first to reach."""
        news: dict[int, set[str]] = {}
        for region, name, number in _reached(counts):
            if name not in self.reached:
                news.setdefault(region, set()).add(name)
            self.reached[name] = self.reached.get(name, 0) + number
        return news

    def functions(self) -> list[tuple[str, int, int, int]]:
        """Return of each function how often its most frequent block ran, and its blocks."""
        by_name: dict[str, list[str]] = {}
        for block in self.blocks:
            by_name.setdefault(block.function, []).append(block.name)
        times = self.reached
        return [
            (name, max(times.get(n, 0) for n in parts), sum(n in times for n in parts), len(parts))
            for name, parts in sorted(by_name.items())
        ]

    def unreached(self) -> list[Block]:
        """Return blocks that no program reached, in functions that some program reached."""
        called = {name for name, _, reached, _ in self.functions() if reached}
        return [b for b in self.blocks if b.function in called and b.name not in self.reached]


def missed(coverage: BlockCoverage) -> tuple[list[str], list[str]]:
    """Return lines or functions that no program reached: those that the series adds, and others."""
    ours: dict[str, None] = {}
    others = {f"{name}, never called": None for name, _, hit, _ in coverage.functions() if not hit}

    def where(block: Block) -> tuple[str, int, int]:
        file, _, line = block.line.rpartition(":")
        return file, int(line or 0), block.address

    for block in sorted(coverage.unreached(), key=where):
        listed = ours if block.line in coverage.added else others
        listed[f"{block.line or block.name} ({block.function})"] = None
    return list(ours), list(others)


def added(a: Path, b: Path, files: Iterable[str]) -> frozenset[str]:
    """Return the lines of those files that only tree b has, as file:line."""
    lines = set()
    for file in files:
        old = (a / file).read_text().splitlines() if (a / file).exists() else []
        new = (b / file).read_text().splitlines()
        for tag, _, _, first, end in SequenceMatcher(None, old, new).get_opcodes():
            if tag in ("insert", "replace"):
                lines |= {f"{file}:{line}" for line in range(first + 1, end + 1)}
    return frozenset(lines)


def touched(series: Series) -> set[str]:
    """Return functions of the C code in which the series changes a line."""
    files = (file for patch in series.patches for file in patch.parsed())
    code = (file for file in files if file.path.endswith((".c", ".h")))
    return {name for file in code for hunk in file for name in _changed(hunk)}


def _changed(hunk: Hunk) -> Iterator[str]:
    """Yield functions in which a hunk changes a line; its header may name one that has ended."""
    named = _NAMED.search(hunk.section_header)
    function = named[1] if named else ""
    for line in hunk:
        defined = _DEFINED.match(line.value.rstrip("\n"))
        if defined or line.value.startswith("}"):
            function = defined[1] if defined else ""
        changed = not line.is_context and (defined or line.value.startswith("\t"))
        if changed and function:
            yield function


def prepare(
    kernel: Kernel, names: Iterable[str], sources: Iterable[str], directory: Path
) -> tuple[BlockCoverage, Path]:
    """Return the blocks of those functions, and a file that names them for the plugin.

    BuildFailed if the kernel has none, UserError if its branches are not known.
    """
    reachable = blocks.find(kernel, set(names), sources, directory / "objects")
    if not reachable:
        what = "the kernel has none of the functions that the series touches"
        raise BuildFailed(what, str(kernel.system_map), "use --no-coverage")
    rows = {block.address: block.name for block in reachable}
    starts = {block.address - block.offset for block in reachable}
    for part in blocks.code(kernel):
        if part.start in starts:
            rows.setdefault(part.end, REST)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "blocks"
    path.write_text("".join(f"{at:x} {rows[at]}\n" for at in sorted(rows)))
    return BlockCoverage(reachable), path


def _reached(counts: Path) -> Iterable[tuple[int, str, int]]:
    """Yield the region, block and executions of every block that ran. GuestLost if cut short."""
    last = ""
    for line in counts.read_text().splitlines() if counts.exists() else ():
        last = line
        if line.startswith("sym ") and "+0x" in line:
            _, region, name, _, calls = line.split(" ")[:5]
            if int(calls):
                yield int(region), name, int(calls)
    if last != "end":
        raise GuestLost("the plugin left no counts", f"{counts}: {last}", "see counter/README.md")


class Guide:
    """Counts what programs reach on side b. `pool` has those that reached new code."""

    def __init__(self, session: Session, targets: Targets, series: Series, output: Path) -> None:
        self.pool: list[Program] = []
        self.output = output
        target, trees = targets.tried, [side.kernel.tree.path for side in targets.all]
        files = sorted({file for patch in series.patches for file in patch.files()})
        sources = [file for file in files if file.endswith(".c")]
        names = touched(series)
        self.coverage, symbols = prepare(target.kernel, names, sources, output)
        self.coverage.added = added(trees[0], trees[1], files)
        plugin = counter.build(session.cache, session.project.counter, targets.arch)
        target.probe = Probe(Counting(plugin, symbols=symbols), "cover", self._take)

    def _take(self, directory: Path, programs: Sequence[Program], whole: bool) -> Sequence[Stop]:
        if whole:
            news = self.coverage.add(directory / machine.COUNTS)
            self.pool += [programs[region] for region in sorted(news)]
        return ()

    @property
    def summary(self) -> str:
        """Text for the progress line."""
        reached = sum(number for _, _, number, _ in self.coverage.functions())
        return f", {reached} of {len(self.coverage.blocks)} blocks"

    def report(self, *, quiet: bool) -> None:
        """Write the table, and what was not reached, to a file; print the totals unless `quiet`."""
        rows = self.coverage.functions()
        table = [f"{'function':<40} {'times':>10} {'blocks':>7} {'of':>5}"]
        table += [f"{name:<40} {times:>10} {hit:>7} {of:>5}" for name, times, hit, of in rows]
        ours, others = missed(self.coverage)
        table += ["", "not reached, in lines that the series adds:", *ours]
        table += ["", "not reached, elsewhere in these functions:", *others]
        path = self.output / "coverage"
        path.write_text("\n".join(table) + "\n")
        for number, ops in enumerate(self.pool):
            where = self.output / "interesting" / f"{number:04}.fuzz"
            where.parent.mkdir(exist_ok=True)
            where.write_text(program.text(ops))
        if quiet:
            return
        out = console()
        called = f"{sum(1 for _, _, hit, _ in rows if hit)} of {len(rows)} functions"
        out.print(f"reached {called} that the series touches{self.summary}")
        for line in ours[:SHOWN]:
            out.print(f"  not reached: {line}")
        more = len(ours[SHOWN:])
        out.print(f"  … {more} more, and {len(others)} outside the series' lines, in {path}")
