# SPDX-License-Identifier: GPL-2.0
"""Find the installed QEMU, and build the counting plugin for its interface."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture
from quire.arch.requirements import lacks, machine_need
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.host.errors import BuildFailed, UserError
from quire.kernels.guest import source_files
from quire.kernels.kernel import Kernel, compile

OLDEST_QEMU = (7, 0)
# nm's letters for code: global, local, weak.
TEXT_TYPES = "TtWw"
SYMBOL = re.compile(rf"^([0-9a-f]+) [{TEXT_TYPES}] (\S+)$", re.M)


@dataclass(frozen=True)
class Qemu:
    """An installed QEMU and its plugin interface."""

    binary: str
    version: tuple[int, int, int]
    plugin_api: int

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


def installed(arch: Architecture) -> Qemu:
    """Find the QEMU for `arch`; UserError if it is missing, too old or lacks plugin support."""
    binary = shutil.which(arch.qemu)
    if binary is None:
        raise lacks([machine_need(arch)])
    text = process.query(arch.qemu, "--version").output
    numbers = re.search(r"version (\d+)\.(\d+)(?:\.(\d+))?", text)
    version = tuple(int(part or 0) for part in numbers.groups()) if numbers else (0, 0, 0)
    remedy = f"apt-get install {' '.join(arch.packages)} on Debian 12 or newer"
    if version[:2] < OLDEST_QEMU:
        raise UserError(
            f"{arch.qemu} is too old: quire needs {OLDEST_QEMU[0]}.{OLDEST_QEMU[1]} or newer",
            f"{binary}: {text.partition(chr(10))[0]}",
            remedy,
        )
    if "-plugin" not in process.query(arch.qemu, "--help").output:
        raise UserError(
            f"{arch.qemu} was built without TCG plugins, so nothing can be counted",
            binary,
            f"{remedy}, or build QEMU with --enable-plugins",
        )
    return Qemu(arch.qemu, (version[0], version[1], version[2]), plugin_api(version))


def plugin_api(version: Sequence[int]) -> int:
    """Return a QEMU version's plugin interface, as in counter/. UserError for 9.0's."""
    major_minor = (version[0], version[1])
    if major_minor < (9, 0):
        return 1
    if major_minor == (9, 0):
        # 9.0 has neither the old inline counters nor the call that copies instruction bytes.
        raise UserError(
            "the plugin does not support the interface of QEMU 9.0",
            remedy="use QEMU 7, 8, or 9.1 and newer",
        )
    return 3 if major_minor < (10, 0) else 4


@dataclass(frozen=True)
class Plugin:
    """The plugin's shared object. `sha256` is part of the key of cached counts."""

    path: Path
    sha256: str
    qemu: Qemu


def build(cache: Cache, sources: Path, arch: Architecture) -> Plugin:
    """Compile the plugin for the QEMU of `arch`. BuildFailed with the first error line.

    UserError if that QEMU cannot count.
    """
    qemu = installed(arch)
    compiler = process.first_line("gcc", "--version")
    key = f"api{qemu.plugin_api}-{digest(compiler, *source_files(sources))}"

    def make(directory: Path) -> None:
        log = cache.log("counter")
        argv = ["make", "-C", str(sources), f"OUT={directory}", f"API={qemu.plugin_api}"]
        compile(process.Command(argv, log=log), "the plugin did not build")

    path = cache.make("counter", key, make) / "libquire-count.so"
    return Plugin(path, sha256(path), qemu)


def symbols(kernel: Kernel) -> Path:
    """Write the kernel's code symbols in the plugin's format, "address name", by address."""
    path = kernel.objdir / "quire-symbols"
    if path.exists() and path.stat().st_mtime >= kernel.system_map.stat().st_mtime:
        return path
    rows = sorted(
        (int(address, 16), name) for address, name in SYMBOL.findall(kernel.system_map.read_text())
    )
    if not rows:
        raise BuildFailed(
            "the kernel has no code symbols", str(kernel.system_map), "enable KALLSYMS"
        )
    # Two machines may write this file at the same time, so write it under a temporary name.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.writelines(f"{address:x} {name}\n" for address, name in rows)
    return Path(file.name).replace(path)
