# SPDX-License-Identifier: GPL-2.0
"""The QEMU plugin that counts, built for the plugin interface of the installed QEMU."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from quire.boot.qemu import Qemu
from quire.build.guest import source_files
from quire.build.kernel import Kernel, explain
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.host.errors import BuildFailed

# nm's letters for code: global, local, weak.
TEXT_TYPES = "TtWw"
_SYMBOL = re.compile(rf"^([0-9a-f]+) [{TEXT_TYPES}] (\S+)$", re.M)


@dataclass(frozen=True)
class Plugin:
    """The shared object. `sha256` is part of the key of cached counts."""

    path: Path
    sha256: str


def build(cache: Cache, sources: Path, qemu: Qemu) -> Plugin:
    """Compile the plugin for `qemu`. BuildFailed with the first error line."""
    compiler = process.query("gcc", "--version").output.partition("\n")[0]
    key = f"api{qemu.plugin_api}-{digest(compiler, *source_files(sources))}"

    def make(directory: Path) -> None:
        log = cache.log("counter")
        argv = ["make", "-C", str(sources), f"OUT={directory}", f"API={qemu.plugin_api}"]
        command = process.Command(argv, log=log)
        if process.run(command).status:
            raise explain("the plugin did not build", log, command)

    path = cache.make("counter", key, make) / "libquire-count.so"
    return Plugin(path, process.value("", lambda: sha256(path)))


def symbols(kernel: Kernel) -> Path:
    """The kernel's code symbols in the plugin's format: "address name", by address."""
    path = kernel.objdir / "quire-symbols"
    if not path.exists() or path.stat().st_mtime < kernel.system_map.stat().st_mtime:
        process.do(_write_symbols, kernel, path)
    return path


def _write_symbols(kernel: Kernel, path: Path) -> None:
    rows = sorted(
        (int(address, 16), name) for address, name in _SYMBOL.findall(kernel.system_map.read_text())
    )
    if not rows:
        raise BuildFailed(
            "the kernel has no symbols to count by", str(kernel.system_map), "enable KALLSYMS"
        )
    # Two machines may start at once and both write this file, so write it under a temporary name.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.writelines(f"{address:x} {name}\n" for address, name in rows)
    Path(file.name).replace(path)
