# SPDX-License-Identifier: GPL-2.0
"""The architectures as data: one file each. No other module depends on which one it handles."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quire.arch.architecture import Architecture as Architecture
from quire.arch.architecture import Cpu as Cpu
from quire.host import data
from quire.host.errors import UserError


def read(file: Path) -> Architecture:
    """Read one architecture, named after its file. UserError says what is wrong with the file."""

    def complete(keys: dict[str, Any]) -> dict[str, Any]:
        if "like" not in keys:
            return {"name": file.stem, "kbuild": file.stem, "guest": file.stem, **keys}
        like = file.with_name(f"{keys['like']}.toml")
        if not like.is_file():
            raise ValueError(f"refers to {like.name}, which does not exist")
        names = {"name": file.stem, "kbuild": like.stem, "guest": like.stem, "aliases": []}
        return {**tomllib.loads(like.read_text()), **names, **keys}

    return data.read(file, Architecture, "arm64.toml explains the keys", complete)


KNOWN: dict[str, Architecture] = {
    file.stem: read(file) for file in sorted(Path(__file__).parent.glob("*.toml"))
}
# Those that commands use when ARCH= names none.
ARCHITECTURES = {name: arch for name, arch in KNOWN.items() if not arch.on_request}


def further_cpus() -> dict[str, list[str]]:
    """Return the names of further CPUs, each with the architectures that have it."""
    known: dict[str, list[str]] = {}
    for arch in KNOWN.values():
        for cpu in arch.further_cpus:
            known.setdefault(cpu.name, []).append(arch.name)
    return known


def on_cpu(architectures: Sequence[Architecture], name: str) -> tuple[Architecture, ...]:
    """Return these architectures with that CPU, where they have it. UserError if none has."""
    known = further_cpus()
    if name not in known:
        remedy = f"use one of: {', '.join(known)}\nor omit --cpu for the default CPU"
        raise UserError(f"unknown CPU {name!r}", remedy=remedy)
    each = [(arch, cpu) for arch in architectures for cpu in arch.further_cpus]
    found = [arch.on(cpu) for arch, cpu in each if cpu.name == name]
    if not found:
        names = ", ".join(arch.name for arch in architectures)
        remedy = f"use ARCH={', '.join(known[name])}"
        raise UserError(f"{name} is not a CPU of {names}", remedy=remedy)
    return tuple(found)


def architecture(name: str) -> Architecture:
    """Return the architecture with that name or alias. UserError if there is none."""
    for arch in KNOWN.values():
        if name in (arch.name, *arch.aliases):
            return arch
    remedy = f"use one of: {', '.join(KNOWN)}"
    raise UserError(f"unknown architecture {name!r}", remedy=remedy)
