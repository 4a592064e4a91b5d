# SPDX-License-Identifier: GPL-2.0
"""Add a user's own benchmark or test to the guest: a static binary, or a C file to compile."""

from collections.abc import Sequence
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_E_MACHINE

from quire.arch import Architecture
from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.errors import UserError
from quire.kernels import guest
from quire.kernels.guest import Guest
from quire.kernels.kernel import Toolchain, compile

# The directory of these programs in the guest's initramfs.
DIRECTORY = "user"


def name(source: Path) -> str:
    """Return the program's name: the file name without its suffix."""
    return source.stem


def path(source: Path) -> str:
    """Return the program's path in the guest."""
    return f"/{DIRECTORY}/{name(source)}"


def added(
    cache: Cache, plain: Guest, tools: Toolchain, include: Path, sources: Sequence[Path]
) -> Guest:
    """Add these programs to the guest. UserError for anything but a C file or a static binary of
    the guest's architecture; BuildFailed with the first error line if a C file does not compile."""
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
        what = f"{source.name} did not compile for {arch.name}"
        compile(process.Command(argv, log=log), what)

    return cache.make("program", key, build) / name(source)


def _require_static(arch: Architecture, binary: Path) -> None:
    try:
        with binary.open("rb") as file:
            elf = ELFFile(file)
            machine = ENUM_E_MACHINE.get(elf["e_machine"])
            dynamic = any(segment["p_type"] == "PT_INTERP" for segment in elf.iter_segments())
    except ELFError:
        what = "is not an ELF binary"
    else:
        what = "is dynamically linked, but the guest has no libraries" if dynamic else ""
        what = what if machine == arch.elf_machine else f"is not for {arch.name}"
    if what:
        remedy = f"compile it with {arch.cross_compile}gcc -static, or name the C file"
        raise UserError(f"{binary.name} {what}", str(binary), remedy)
