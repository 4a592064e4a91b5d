# SPDX-License-Identifier: GPL-2.0
"""A user's own workload or test in the guest: a static binary, or a C file to compile."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from quire.arch import Architecture
from quire.build import guest
from quire.build.guest import Guest
from quire.build.kernel import Toolchain, explain
from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.errors import UserError

# The directory of these programs in the guest's initramfs.
DIRECTORY = "user"
# Offsets and values in the ELF header, see elf(5).
MAGIC, E_MACHINE, E_PHOFF, E_PHENTSIZE, PT_INTERP = b"\x7fELF", 18, 32, 54, 3


def name(source: Path) -> str:
    """The program's name: the file name without its suffix."""
    return source.stem


def path(source: Path) -> str:
    """The program's path in the guest."""
    return f"/{DIRECTORY}/{name(source)}"


def added(
    cache: Cache, plain: Guest, tools: Toolchain, include: Path, sources: Sequence[Path]
) -> Guest:
    """The guest with these programs. UserError for anything but a C file or a static binary of the
    guest's architecture, BuildFailed with the first error line when a C file does not compile."""
    if not sources:
        return plain
    files = {f"{DIRECTORY}/": b""}
    for source in sources:
        if not source.is_file():
            raise UserError("the program does not exist", str(source), "name a C file or a binary")
        binary = _compiled(cache, plain.arch, tools, include, source)
        files[f"{DIRECTORY}/{name(source)}"] = binary.read_bytes()
    return guest.with_files(cache, plain, files)


def _compiled(
    cache: Cache, arch: Architecture, tools: Toolchain, include: Path, source: Path
) -> Path:
    if source.suffix != ".c":
        _require_static(arch, source)
        return source
    headers = guest.source_files(include)
    key = f"{arch.name}-{digest(source.name, source, tools.version, *headers)}"

    def build(directory: Path) -> None:
        log = cache.log(f"program-{arch.name}-{name(source)}")
        argv = [f"{tools.cross_compile}gcc", "-O2", "-Wall", "-static", f"-I{include}"]
        argv += ["-o", str(directory / name(source)), str(source.resolve())]
        command = process.Command(argv, log=log)
        if process.run(command).status:
            raise explain(f"{source.name} did not compile for {arch.name}", log, command)

    return cache.make("program", key, build) / name(source)


def _require_static(arch: Architecture, binary: Path) -> None:
    data, what = binary.read_bytes(), ""
    if data[:4] != MAGIC or len(data) < 64:
        what = "is not an ELF binary"
    elif struct.unpack_from("<H", data, E_MACHINE)[0] != arch.elf_machine:
        what = f"is not for {arch.name}"
    else:
        (start,) = struct.unpack_from("<Q", data, E_PHOFF)
        size, count = struct.unpack_from("<HH", data, E_PHENTSIZE)
        kinds = [struct.unpack_from("<I", data, start + i * size)[0] for i in range(count)]
        if PT_INTERP in kinds:
            what = "is dynamically linked, and the guest has no libraries"
    if what:
        remedy = f"compile it with {arch.cross_compile}gcc -static, or name the C file"
        raise UserError(f"{binary.name} {what}", str(binary), remedy)
