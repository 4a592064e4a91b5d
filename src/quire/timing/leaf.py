# SPDX-License-Identifier: GPL-2.0
"""Time leaves: inner loops from both sides' kernel sources, without a kernel.

For costs that neither counts nor UML can measure, such as a loop that waits for memory. Each loop,
with its dependencies in the file, is compiled like the kernel, without vector registers. Both are
linked into one program.
"""

import itertools
import os
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import data, process
from quire.host.cache import Cache, digest
from quire.host.console import head
from quire.host.errors import Difference, UserError
from quire.kernels.kernel import Toolchain, compile
from quire.source.tree import Tree
from quire.timing import document
from quire.timing.boots import CPUINFO
from quire.timing.document import REAL, TimedBenchmark, Timing, as_json

SOURCES = Path(__file__).with_name("leaves")
PROGRAM = "leaf"
# The kernel's flags that affect the code of a loop.
FLAGS = (
    "-O2 -std=gnu11 -fno-strict-aliasing -fno-strict-overflow -fno-delete-null-pointer-checks "
    "-mgeneral-regs-only -falign-functions=64"
).split()
SIDES = "ab"
PS = 1000  # in a nanosecond
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_MACRO = r"^#define[ \t]+{}\b(?:[^\n]*\\\n)*[^\n]*\n"
_FUNCTION = r"^[a-z][^;{{}}()]*\b{}\([^;{{}}]*\)\n\{{.*?^\}}\n"


@dataclass(frozen=True)
class Leaf:
    """One entry of leaves.toml, which explains the fields."""

    name: str
    file: str
    function: str


def read() -> list[Leaf]:
    """Read the available leaves."""
    return data.Table("leaf", Leaf, "see leaves.toml").read(SOURCES / "leaves.toml")


def definition(source: str, name: str) -> str:
    """Return that macro or function from a kernel file's text; empty if there is none."""
    kinds = (re.search(kind.format(name), source, re.M | re.S) for kind in (_MACRO, _FUNCTION))
    found = next(filter(None, kinds), None)
    return found[0] if found else ""


def functions(leaf: Leaf, tree: Tree) -> str:
    """Extract the loop, preceded by its dependencies. UserError if the tree lacks it."""
    file = tree.path / leaf.file
    source = file.read_text() if file.is_file() else ""
    found: dict[str, str] = {}

    def take(name: str, users: tuple[str, ...] = ()) -> None:
        text = definition(source, name)
        if name in found or name in users or not text:
            return
        for used in sorted(_WORD.findall(text)):
            take(used, (*users, name))
        found[name] = text

    take(leaf.function)
    if not found:
        remedy = "omit --leaf, or fix quire/timing/leaves"
        raise UserError(f"{tree.label} has no {leaf.function}()", str(file), remedy)
    return "\n".join(found.values())


def build(cache: Cache, tools: Toolchain, leaf: Leaf, trees: Sequence[Tree]) -> Path:
    """Build the program with both trees' loops. BuildFailed with the first error line."""
    texts = [functions(leaf, tree) for tree in trees]
    files = sorted(SOURCES.iterdir())
    key = f"{leaf.name}-{digest(tools.version, *FLAGS, *texts, *files)}"

    def make(directory: Path) -> None:
        log = cache.log(f"leaf-{leaf.name}")
        parts = [directory / f"{side}.c" for side in SIDES]
        for side, part, text in zip(SIDES, parts, texts, strict=True):
            call = f"bool leaf_{side}(void *page)\n{{\n\treturn leaf(page);\n}}\n"
            part.write_text(f'#include "{leaf.name}.h"\n\n{text}\n{call}')
        argv = [tools.compiler, *FLAGS, f"-I{SOURCES}", "-o", str(directory / PROGRAM)]
        command = process.Command([*argv, *map(str, parts), str(SOURCES / "main.c")], log=log)
        compile(command, f"the leaf {leaf.name} did not compile")

    return cache.make("leaf", key, make) / PROGRAM


def run(
    leaf: Leaf, program: Path, trees: Sequence[Tree], number: int, tick: Callable[[int], None]
) -> list[Timing]:
    """Run the program `number` times, each a boot of the timings. `tick` gets the number done.

    Difference if a loop gives a wrong result for a page, or crashes.
    """
    timings: list[list[Timing]] = [[] for _ in trees]
    for done in range(number):
        tick(done)
        finished = process.run(process.Command([str(program)]))
        if finished.status:
            last = finished.output.strip().rpartition("\n")[2]
            what = last if finished.status == 1 else f"ended with status {finished.status}"
            raise Difference(f"the leaf {leaf.name}: {what}", str(program))
        lines = [line.split() for line in finished.output.splitlines()]
        for at, tree in enumerate(trees):
            timings[at].append(_timing(leaf, tree, program, at, lines))
    return [document.merge(boots, tree.label) for boots, tree in zip(timings, trees, strict=True)]


def _timing(
    leaf: Leaf, tree: Tree, program: Path, at: int, lines: Sequence[Sequence[str]]
) -> Timing:
    """One run of the program: its lines' results for the side at that position."""
    rows = []
    for (when, memory), pairs in itertools.groupby(lines, lambda line: (line[0], line[1])):
        name = f"{leaf.name} data={when} memory={memory}"
        boot = tuple(int(spent[at]) / PS for _, _, *spent in pairs)
        # Pairs of one run are correlated, so a verdict needs enough runs.
        rows.append(TimedBenchmark(name, "page", name, (boot,), tight=False))
    machine = {**_machine(), "release": str(tree.base.version)}
    clock = {"kind": REAL, "why": "this host's CPU", "values": "nanoseconds per unit"}
    whole = head("time") | {
        "build": program.parent.name, "clock": clock, "machine": machine, "options": {},
        "rows": [as_json(row) for row in rows],
    }  # fmt: skip
    return Timing(tree.label, program.parent.name, clock, machine, tuple(rows), whole)


def _machine() -> dict[str, str | int]:
    model = re.search(r"^model name\s*: (.*)$", CPUINFO.read_text(), re.M)
    cpu = {"cpu": model[1]} if model else {}
    return {"architecture": platform.machine(), "cpus": os.cpu_count() or 1, **cpu}
