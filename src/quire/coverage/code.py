# SPDX-License-Identifier: GPL-2.0
"""Find the code of source lines in a kernel, by the line tables of its objects.

An object is compiled again with -g (fuzz/coverage/blocks.py). Its functions must have the same
offsets and bytes as in the kernel's own object, so that the addresses are the kernel's.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path, PurePosixPath

from quire.boot.counter import SYMBOL
from quire.boot.counts import read
from quire.coverage.added import Added
from quire.fuzz.coverage import blocks
from quire.host import parallel
from quire.host.errors import BuildFailed
from quire.kernels import objects
from quire.kernels.kernel import Kernel

# A line of the source tree: file and number.
SourceLine = tuple[str, int]
# The lines whose code begins at an address, and the end address.
Code = dict[int, tuple[int, set[SourceLine]]]
# The plugin's name for code that belongs to no line.
REST = "-"


def find(kernel: Kernel, added: Collection[Added], work: Path, machines: int) -> Code:
    """Return the code of these lines. BuildFailed if debug information changes an object."""
    sources = _sources(kernel, added)
    wanted = {(line.file, line.number) for line in added}
    addresses: dict[str, set[int]] = defaultdict(set)
    for address, name in SYMBOL.findall(kernel.system_map.read_text()):
        addresses[name].add(int(address, 16))
    read = partial(_of_object, kernel, addresses, wanted, work)
    found: Code = {}
    for code in parallel.side_by_side(sources, read, lambda *_: None, machines):
        found |= code
    return found


def _sources(kernel: Kernel, added: Collection[Added]) -> list[str]:
    """The changed files, and those beside them in folders of mm that name what headers inline."""
    changed = {PurePosixPath(line.file) for line in added if line.file.endswith(".c")}
    built = {file for file in changed if (kernel.objdir / file.with_suffix(".o")).exists()}
    functions = {line.function for line in added if line.file.endswith(".h") and line.function}
    uses = re.compile(rf"\b({'|'.join(sorted(functions))})\b") if functions else re.compile(r"(?!)")
    folders = {file.parent for file in changed if file.parent.name == "mm"}
    if not folders:
        # For a patch of headers.
        folders = {PurePosixPath("mm"), PurePosixPath("arch", kernel.arch.srcarch, "mm")}
    for folder in folders:
        for path in (kernel.objdir / folder).glob("*.o"):
            source = kernel.tree.path / folder / f"{path.stem}.c"
            if source.exists() and uses.search(source.read_text()):
                built.add(folder / source.name)
    return sorted(map(str, built))


def _of_object(
    kernel: Kernel,
    addresses: Mapping[str, set[int]],
    wanted: Collection[SourceLine],
    work: Path,
    source: str,
) -> Code:
    what, remedy = f"{source} compiles to different code with -g", "its coverage cannot be measured"
    table = blocks.compiled(kernel, source, work)
    if not table:
        raise BuildFailed(what, str(work), remedy)
    functions = objects.functions(table)
    if not functions:
        return {}
    votes = Counter(
        address - offset for name, (offset, _) in functions.items() for address in addresses[name]
    )
    # Another object may define functions of these names, and override weak ones.
    base, agreeing = max(votes.items(), key=lambda vote: vote[1], default=(0, 0))
    if 2 * agreeing < len(functions):
        raise BuildFailed(f"{source} is not contiguous in the kernel", str(work), remedy)
    if objects.code(table) != objects.code(kernel.objdir / Path(source).with_suffix(".o")):
        raise BuildFailed(what, str(work), remedy)
    return {
        base + start: (base + end, lines)
        for start, (end, lines) in _table(kernel, wanted, table).items()
        if lines
    }


def _table(kernel: Kernel, wanted: Collection[SourceLine], path: Path) -> Code:
    """The ranges of an object's code, each with the wanted lines that it belongs to."""
    rows: dict[int, set[SourceLine]] = {}
    table = objects.lines(path)
    for row in table:
        of = (blocks.source_line(kernel, row.file), row.number)
        here = rows.setdefault(row.address, set())
        if of in wanted and row != table[-1]:
            here.add(of)
    if not rows:
        what, remedy = f"{path.name} has no line table for its code", "compile it with -g"
        raise BuildFailed(what, str(path), remedy)
    return {start: (end, rows[start]) for start, end in itertools.pairwise(sorted(rows))}


def symbols(code: Code) -> str:
    """Write the file that makes the plugin count by these ranges, each named by its address."""
    names: dict[int, str] = {}
    for start, (end, _) in code.items():
        names[start] = f"{start:x}"
        names.setdefault(end, REST)
    return "".join(f"{at:x} {names[at]}\n" for at in sorted(names))


def executed(code: Code, counts: Path) -> set[SourceLine]:
    """Return the lines of which a boot executed at least one instruction."""
    regions = read(counts).values()
    names = {name for region in regions for name, n in region.symbols.items() if n.insns}
    return {line for start, (_, lines) in code.items() if f"{start:x}" in names for line in lines}
