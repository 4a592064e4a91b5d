# SPDX-License-Identifier: GPL-2.0
"""Source lines of kernel addresses, without debug information in the kernel.

An object file is compiled again, by the command that kbuild has kept, with -g added. That does not
change the code, so an offset in a function is the same in both.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from quire.build.kernel import Kernel
from quire.host import process
from quire.host.process import Command

_COMMAND = re.compile(r"^savedcmd_\S+ := (.*?)(?: ; |$)", re.M)
# objdump's symbol table: address, flags, section, size, name.
_FUNCTION = re.compile(r"^([0-9a-f]+) .{5}.F \.text\t([0-9a-f]+) (?:\.hidden )?(\S+)$", re.M)
# The functions at an address, the innermost first, with the line in each.
Chain = list[tuple[str, str]]


def compiled(kernel: Kernel, source: str, work: Path) -> Path | None:
    """The object with debug information. None if the kernel lacks it, or if the code differs."""
    built = kernel.objdir / Path(source).with_suffix(".o")
    saved = built.with_name(f".{built.name}.cmd")
    saved_command = _COMMAND.search(saved.read_text()) if saved.exists() else None
    if not saved_command:
        return None
    work.mkdir(parents=True, exist_ok=True)
    made = work / source.replace("/", "-").replace(".c", ".o")
    if made.exists() and made.stat().st_mtime > built.stat().st_mtime:
        return made if functions(kernel, made) == functions(kernel, built) else None
    target = str(Path(source).with_suffix(".o"))
    command = re.sub(r"-Wp,-MMD,\S+", "", saved_command[1]).replace(f"-o {target}", f"-g -o {made}")
    process.check(Command(["sh", "-c", command], cwd=kernel.objdir))
    return made if functions(kernel, made) == functions(kernel, built) else None


def functions(kernel: Kernel, path: Path) -> dict[str, tuple[int, int]]:
    """The offset and the size of each function in an object's code."""
    listing = process.query(f"{kernel.toolchain.cross_compile}objdump", "-t", str(path)).output
    return {name: (int(at, 16), int(size, 16)) for at, size, name in _FUNCTION.findall(listing)}


def chains(kernel: Kernel, made: Path, offsets: Sequence[int]) -> dict[int, Chain]:
    """The functions and lines at these offsets of an object's code."""
    if not offsets:
        return {}
    tool = f"{kernel.toolchain.cross_compile}addr2line"
    asked = [f"{offset:#x}" for offset in offsets]
    lines: dict[int, Chain] = {}
    # No more than a command line takes.
    for start in range(0, len(asked), 2000):
        some = asked[start : start + 2000]
        answer = process.query(tool, "-a", "-f", "-i", "-j", ".text", "-e", str(made), *some).output
        for part in re.split(r"^0x", answer, flags=re.M)[1:]:
            at, *rest = part.splitlines()
            lines[int(at, 16)] = [
                (name, _line(kernel, line))
                for name, line in zip(rest[::2], rest[1::2], strict=False)
            ]
    return lines


def _line(kernel: Kernel, text: str) -> str:
    """A line as file:line of the source tree; empty if it is not known."""
    text = text.partition(" ")[0]
    if "?" in text:
        return ""
    # The path is relative to the compiler's directory, or absolute and through it.
    path = os.path.normpath(kernel.objdir / text)
    for above in (kernel.objdir, kernel.tree.path):
        path = path.removeprefix(f"{os.path.normpath(above)}/")
    return path
