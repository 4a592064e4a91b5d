# SPDX-License-Identifier: GPL-2.0
"""Source lines of kernel addresses, without debug information in the kernel.

An object file is compiled once more, by the command kbuild has kept, with -g added. That does not
change the code, so a place in a function is the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from quire import run
from quire.kernel import Kernel
from quire.run import Command

_COMMAND = re.compile(r"^savedcmd_\S+ := (.*?)(?: ; |$)", re.M)
_SYMBOL = re.compile(r"^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$", re.M)


def find(
    kernel: Kernel, sources: Iterable[str], places: Mapping[str, tuple[str, int]], work: Path
) -> dict[str, str]:
    """For each place (function, offset) its "file:line", as far as `sources` hold the function."""
    lines: dict[str, str] = {}
    for source in sources:
        made = _compile(kernel, source, work)
        if made:
            lines |= _look_up(kernel, made, places)
    return lines


def _compile(kernel: Kernel, source: str, work: Path) -> Path | None:
    """The object with debug information, if the kernel has that object and its code agrees."""
    built = kernel.objdir / Path(source).with_suffix(".o")
    saved = built.with_name(f".{built.name}.cmd")
    found = _COMMAND.search(saved.read_text()) if saved.exists() else None
    if not found:
        return None
    work.mkdir(parents=True, exist_ok=True)
    made = work / built.name
    target = str(Path(source).with_suffix(".o"))
    command = re.sub(r"-Wp,-MMD,\S+", "", found[1]).replace(f"-o {target}", f"-g -o {made}")
    run.check(Command(["sh", "-c", command], cwd=kernel.objdir))
    return made if _sizes(kernel, made) == _sizes(kernel, built) else None


def _sizes(kernel: Kernel, path: Path) -> list[tuple[str, str, str]]:
    nm = f"{kernel.toolchain.cross_compile}nm"
    return _SYMBOL.findall(run.query(nm, "-S", str(path)).output)


def _look_up(kernel: Kernel, made: Path, places: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    starts = {name: int(at, 16) for at, _, name in _sizes(kernel, made)}
    inside = {n: starts[f] + offset for n, (f, offset) in places.items() if f in starts}
    if not inside:
        return {}
    tool = f"{kernel.toolchain.cross_compile}addr2line"
    asked = [f"{address:#x}" for address in inside.values()]
    answer = run.query(tool, "-j", ".text", "-e", str(made), *asked).output.splitlines()
    texts = [re.sub(r"^.*?((?:mm|arch|include)/)", r"\1", line) for line in answer]
    return {
        name: text.partition(" ")[0]
        for name, text in zip(inside, texts, strict=False)
        if "?" not in text
    }
