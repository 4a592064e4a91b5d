# SPDX-License-Identifier: GPL-2.0
"""What one invocation of quire works with: the project, the build directory, the choices made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quire.arch import ARCHITECTURES, Architecture, architecture
from quire.build import guest, kconfig, kernel, program
from quire.build.guest import Guest
from quire.build.kernel import Kernel
from quire.host import project
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.host.progress import Progress
from quire.source import side
from quire.source.base import Base
from quire.source.line import Line
from quire.source.side import Ask, Sides
from quire.source.tree import Tree


@dataclass(frozen=True)
class Session:
    """Choices common to all commands, as parsed from the command line."""

    project: project.Project
    cache: Cache
    progress: Progress
    architectures: tuple[Architecture, ...]
    jobs: int
    ask: Ask = field(default_factory=Ask)
    cross_compile: str | None = None
    configs: tuple[Path, ...] = ()
    # A user's own workloads or tests, which the guest gets.
    programs: tuple[Path, ...] = ()

    def base(self) -> Base:
        """What side A is made from, fetched, exported or copied if it is not there yet."""
        with self.progress.stage("base"):
            return side.base(self.project.root, self.cache, self.ask)

    def sides(self) -> Sides:
        """Both sides, ready to build."""
        # The base has a stage of its own: it may take minutes.
        self.base()
        with self.progress.stage("patched tree"):
            return side.sides(self.project.root, self.cache, self.ask)

    def line(self, of: Base) -> Line:
        """The line whose configuration and data that base takes."""
        return side.line_of(self.project.root, self.ask, of)

    def request(self, arch: Architecture, of: Tree) -> kernel.Request:
        """What to build for one architecture and tree."""
        line = self.line(of.base)
        return kernel.Request(
            arch,
            of,
            self.fragments(arch, line),
            kernel.toolchain(arch, self.cross_compile),
            self.jobs,
            strict=line.exact,
        )

    def fragments(self, arch: Architecture, line: Line) -> tuple[Path, ...]:
        """The configuration of that architecture: the line's fragments, then --config."""
        return kconfig.fragments(line, arch, self.configs)

    def kernel(self, arch: Architecture, of: Tree) -> Kernel:
        """The built kernel."""
        request = self.request(arch, of)
        with self.progress.stage(request.title, arch.objects):
            return kernel.build(self.cache, request, self.progress.at)

    def guest(self, for_kernel: Kernel) -> Guest:
        """Our guest for that kernel, built, with the user's programs."""
        plain = guest.build(self.cache, self.project.guest, for_kernel, self.jobs)
        include = self.project.guest / "include"
        return program.added(self.cache, plain, for_kernel.toolchain, include, self.programs)


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
