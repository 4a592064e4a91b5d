# SPDX-License-Identifier: GPL-2.0
"""The table in configs/architectures/: the configurations to compile."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.arch.requirements import Requirement
from quire.host import data, process
from quire.host.cache import digest
from quire.host.errors import UserError
from quire.kernels import kconfig

TABLE = "table.toml"


@dataclass(frozen=True)
class Compiler:
    """A gcc. `srcarch` is its directory in arch/, `prefix` its CROSS_COMPILE."""

    srcarch: str
    prefix: str
    # The Debian package.
    package: str
    # Hosts (by platform.machine()) whose native gcc is suitable.
    native: tuple[str, ...] = ()
    # Not in every Debian release: skipped where it is missing.
    optional: bool = False

    @property
    def cross_compile(self) -> str:
        """CROSS_COMPILE on this host."""
        return "" if platform.machine() in self.native else self.prefix

    @property
    def need(self) -> Requirement:
        """The host's requirement for this compiler."""
        package = self.package if self.cross_compile else "gcc"
        return Requirement(f"{self.cross_compile}gcc", (package,), f"{self.srcarch} objects")


@dataclass(frozen=True)
class Configuration:
    """One configuration of a kernel."""

    name: str
    # kbuild's ARCH.
    arch: str
    compiler: Compiler
    # In order: a later fragment overrides an earlier one.
    fragments: tuple[Path, ...]
    # The kbuild target on which the fragments are merged.
    base: str = "allnoconfig"
    # Targets that replace the directories touched by the patches: the kernel and its modules.
    targets: tuple[str, ...] = ()

    def key(self) -> str:
        """Return a key of everything that objects depend on, except the sources."""
        version = process.first_line(f"{self.compiler.cross_compile}gcc", "--version")
        return digest(self.arch, self.base, version, self.targets, kconfig.options(self.fragments))


@dataclass(frozen=True)
class _Row:
    arch: str
    compiler: str
    fragments: tuple[str, ...]
    base: str = Configuration.base
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class _TableFile:
    compiler: Mapping[str, Compiler]
    configuration: Mapping[str, _Row]


def read(directory: Path, of_line: Path | None = None) -> tuple[Configuration, ...]:
    """Read the configurations of a table, in order. UserError says what is wrong with the table.

    A fragment in the folder `of_line` extends the fragment of the same name with options that only
    this line of kernels has.
    """
    table = directory / TABLE
    remedy = "fix it; the comments in the table describe the format"
    content = data.read(table, _TableFile, remedy, _named)
    folders = (directory, of_line) if of_line else (directory,)
    configurations = []
    for name, row in content.configuration.items():
        if row.compiler not in content.compiler:
            raise UserError(f"no compiler is called {row.compiler}", str(table), remedy)
        compiler = content.compiler[row.compiler]
        paths = tuple(path for part in row.fragments for path in _fragments(folders, part))
        for path in paths:
            if not path.is_file():
                what = f"configuration fragment {path.name} is missing"
                raise UserError(what, f"{table}: {path}", remedy)
        configurations.append(Configuration(name, row.arch, compiler, paths, row.base, row.targets))
    return tuple(configurations)


def choose(configurations: Sequence[Configuration], names: Sequence[str]) -> list[Configuration]:
    """Return the named configurations, or all without names. UserError for an unknown name."""
    have = [configuration.name for configuration in configurations]
    if unknown := [name for name in names if name not in have]:
        what = f"there is no configuration {', '.join(unknown)}"
        raise UserError(what, remedy=f"use: {', '.join(have)}")
    return [c for c in configurations if not names or c.name in names]


def _named(keys: dict[str, Any]) -> dict[str, Any]:
    named = {name: {"srcarch": name, **row} for name, row in keys["compiler"].items()}
    return {**keys, "compiler": named}


def _fragments(folders: Sequence[Path], name: str) -> list[Path]:
    """The fragment of every kernel, and the line's own if there is one."""
    always, *others = (folder / f"{name}.config" for folder in folders)
    return [always, *(path for path in others if path.is_file())]
