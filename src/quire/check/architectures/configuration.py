# SPDX-License-Identifier: GPL-2.0
"""What is compiled for: the table in configs/architectures/, as read."""

from __future__ import annotations

import functools
import platform
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.arch.requirements import Need
from quire.build import kconfig
from quire.host import process
from quire.host.cache import digest
from quire.host.errors import UserError

TABLE = "table.toml"


@dataclass(frozen=True)
class Compiler:
    """A gcc. `srcarch` is the folder in arch/ that it is for, `prefix` its CROSS_COMPILE."""

    srcarch: str
    prefix: str
    # Debian's.
    package: str
    # Hosts (as platform.machine() says) whose own gcc does as well.
    native: tuple[str, ...] = ()
    # Not in every release of Debian's: done without where it is missing.
    optional: bool = False

    @property
    def cross_compile(self) -> str:
        """CROSS_COMPILE on this host."""
        return "" if platform.machine() in self.native else self.prefix

    @property
    def need(self) -> Need:
        """What the host must have."""
        name = f"{self.cross_compile}gcc"
        return Need(
            name, (self.package,) if self.cross_compile else ("gcc",), f"{self.srcarch} objects"
        )

    def version(self) -> str:
        """The first line of what it says about itself."""
        return _version(f"{self.cross_compile}gcc")


@dataclass(frozen=True)
class Configuration:
    """A way to configure a kernel."""

    name: str
    # kbuild's ARCH.
    arch: str
    compiler: Compiler
    # In order: of two that name an option the later one counts.
    fragments: tuple[Path, ...]
    # The target of kbuild's that the fragments are laid on.
    base: str = "allnoconfig"
    # What to make in place of the directories that the patches touch: the kernel and its modules.
    targets: tuple[str, ...] = ()

    def key(self) -> str:
        """Changes with everything that objects depend on, but for the sources."""
        version = self.compiler.version()
        return digest(self.arch, self.base, version, self.targets, kconfig.options(self.fragments))


def read(directory: Path) -> tuple[Configuration, ...]:
    """The configurations of a table, in its order. UserError says what is wrong with it."""
    table = directory / TABLE
    try:
        data = tomllib.loads(table.read_text())
        compilers = {name: _compiler(name, row) for name, row in data["compiler"].items()}
        found = tuple(
            _configuration(directory, compilers, name, row)
            for name, row in data["configuration"].items()
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            "the table of architectures cannot be read",
            f"{table}: {type(error).__name__}: {error}",
            "mend it: its own comments say what a row holds",
        ) from error
    for path in (path for configuration in found for path in configuration.fragments):
        if not path.is_file():
            raise UserError(f"configuration fragment {path.name} is not there", f"{table}: {path}")
    return found


def choose(configurations: Sequence[Configuration], names: Sequence[str]) -> list[Configuration]:
    """Those called `names`, all if none is named. UserError for a name that is none of them."""
    have = [configuration.name for configuration in configurations]
    unknown = [name for name in names if name not in have]
    if unknown:
        raise UserError(
            f"there is no configuration {', '.join(unknown)}", remedy=f"use: {', '.join(have)}"
        )
    return [c for c in configurations if not names or c.name in names]


@functools.cache
def _version(compiler: str) -> str:
    return process.query(compiler, "--version").output.partition("\n")[0]


def _compiler(name: str, row: dict[str, Any]) -> Compiler:
    return Compiler(name, **{**row, "native": tuple(row.get("native", ()))})


def _configuration(
    directory: Path, compilers: dict[str, Compiler], name: str, row: dict[str, Any]
) -> Configuration:
    lists = {
        "compiler": compilers[row["compiler"]],
        "fragments": tuple(directory / f"{fragment}.config" for fragment in row["fragments"]),
        "targets": tuple(row.get("targets", ())),
    }
    return Configuration(name, **{**row, **lists})
