# SPDX-License-Identifier: GPL-2.0
"""The architectures as data: one file each. No other module depends on which one it handles."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from quire.arch.architecture import Architecture, Cpu
from quire.host.errors import UserError

__all__ = ["ARCHITECTURES", "KNOWN", "Architecture", "Cpu", "architecture", "further_cpu"]


def read(file: Path) -> Architecture:
    """Read one architecture, named after its file. UserError says what is wrong with the file."""
    try:
        data = tomllib.loads(file.read_text())
        cpus = tuple(_cpu(row) for row in data.pop("cpu", ()))
        return Architecture(file.stem, **_frozen(data), further_cpus=cpus)
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            "an architecture cannot be read", f"{file}: {error}", "arm64.toml explains the keys"
        ) from error


def _cpu(row: dict[str, Any]) -> Cpu:
    rows = tuple((each["workload"], tuple(each["sizes"])) for each in row["rows"])
    return Cpu(row["name"], row["model"], row["lacks"], rows)


def _frozen(data: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in data.items()}


KNOWN: dict[str, Architecture] = {
    file.stem: read(file) for file in sorted(Path(__file__).parent.glob("*.toml"))
}
# The architectures that commands use when ARCH= names none.
ARCHITECTURES = {name: arch for name, arch in KNOWN.items() if not arch.proofs_only}


def further_cpu(name: str) -> list[tuple[Architecture, Cpu]]:
    """The architectures that have a further CPU of that name. UserError if none has."""
    known = [(arch, cpu) for arch in ARCHITECTURES.values() for cpu in arch.further_cpus]
    found = [(arch, cpu) for arch, cpu in known if cpu.name == name]
    if not found:
        raise UserError(
            f"unknown CPU {name!r}",
            remedy=f"use one of: {', '.join(cpu.name for _, cpu in known)}\n"
            "or omit --cpu for the default CPU",
        )
    return found


def architecture(name: str) -> Architecture:
    """The architecture with that name or alias. UserError if there is none."""
    for arch in ARCHITECTURES.values():
        if name in (arch.name, *arch.aliases):
            return arch
    raise UserError(
        f"unknown architecture {name!r}", remedy=f"use one of: {', '.join(ARCHITECTURES)}"
    )
