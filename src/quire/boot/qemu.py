# SPDX-License-Identifier: GPL-2.0
"""The installed QEMU, and whether it supports counting."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from quire.arch import Architecture
from quire.arch.requirements import lacks, machine_need
from quire.host import process
from quire.host.errors import UserError

OLDEST_QEMU = (7, 0)


@dataclass(frozen=True)
class Qemu:
    """An installed QEMU and its plugin interface."""

    binary: str
    version: tuple[int, int, int]
    plugin_api: int

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


def of(arch: Architecture) -> Qemu:
    """The QEMU for `arch`; UserError if it is missing, too old or has no plugin support."""
    binary = shutil.which(arch.qemu)
    if binary is None:
        raise lacks([machine_need(arch)])
    text = process.query(arch.qemu, "--version").output
    found = re.search(r"version (\d+)\.(\d+)(?:\.(\d+))?", text)
    version = tuple(int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    remedy = f"apt-get install {' '.join(arch.packages)} on Debian 12 or newer"
    if version[:2] < OLDEST_QEMU:
        raise UserError(
            f"{arch.qemu} is too old: quire needs {_dotted(OLDEST_QEMU)} or newer",
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
    """The plugin interface of a QEMU version that counter/ supports. UserError for 9.0's."""
    major_minor = (version[0], version[1])
    if major_minor < (9, 0):
        return 1
    if major_minor == (9, 0):
        # 9.0 has neither the old inline counters nor the call that copies instruction bytes.
        raise UserError(
            "the plugin does not support the interface of QEMU 9.0",
            remedy="use QEMU 7 or 8, or 9.1 and newer",
        )
    return 3 if major_minor < (10, 0) else 4


def _dotted(numbers: Sequence[int]) -> str:
    return ".".join(map(str, numbers))
