# SPDX-License-Identifier: GPL-2.0
"""What one invocation of quire works with: the project, the build directory, the choices made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.arch import ARCHITECTURES, Architecture, architecture
from quire.build import kconfig, kernel
from quire.build.kernel import Kernel
from quire.host import project
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.host.progress import Progress
from quire.source import base, series, tree
from quire.source.base import Base
from quire.source.series import Series
from quire.source.tree import Tree

DEFAULT_BASE = "6.12"


@dataclass(frozen=True)
class Session:
    """Choices common to all commands, as parsed from the command line."""

    project: project.Project
    cache: Cache
    progress: Progress
    architectures: tuple[Architecture, ...]
    jobs: int
    wanted: str = DEFAULT_BASE
    source: Path | None = None
    cross_compile: str | None = None
    configs: tuple[Path, ...] = ()
    only: tuple[str, ...] = ()

    def base(self) -> Base:
        """The base asked for, fetched or copied if it is not there yet."""
        with self.progress.stage("base"):
            if self.source:
                return base.from_directory(self.cache, self.source)
            return base.from_debian(self.cache, self.wanted)

    def series(self, of: Base) -> Series:
        """The series for that base, narrowed by --only."""
        chosen = series.select(self.project.patches, of.version)
        return chosen.only(self.only) if self.only else chosen

    def trees(self, of: Base) -> tuple[Tree, Tree]:
        """Stock and patched."""
        with self.progress.stage("patched tree"):
            return tree.stock(of), tree.patched(self.cache, of, self.series(of))

    def request(self, arch: Architecture, of: Tree) -> kernel.Request:
        """What to build for one architecture and tree."""
        return kernel.Request(
            arch,
            of,
            kconfig.fragments(self.project.configs, arch, self.configs),
            kernel.toolchain(arch, self.cross_compile),
            self.jobs,
        )

    def kernel(self, arch: Architecture, of: Tree) -> Kernel:
        """The built kernel."""
        request = self.request(arch, of)
        with self.progress.stage(request.title, arch.objects):
            return kernel.build(self.cache, request, self.progress.at)


def architectures(names: Sequence[str], cross_compile: str | None) -> tuple[Architecture, ...]:
    """The chosen architectures, all if none is named."""
    chosen = tuple(architecture(name) for name in names) or tuple(ARCHITECTURES.values())
    if cross_compile is not None and len(chosen) != 1:
        raise UserError(
            "CROSS_COMPILE fits one architecture, but several are to be built",
            remedy=f"say which: ARCH={chosen[0].name} CROSS_COMPILE={cross_compile}",
        )
    return chosen


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0))
