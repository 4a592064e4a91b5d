# SPDX-License-Identifier: GPL-2.0
"""The state of one quire invocation: the project, the build directory, the options."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.arch import Architecture
from quire.boot.launch import HERE, Place
from quire.host import project
from quire.host.cache import Cache
from quire.host.progress import Progress
from quire.kernels import guest, kconfig, kernel, user
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel
from quire.source import series, side
from quire.source import tree as trees
from quire.source.base import Base
from quire.source.line import Line
from quire.source.side import SideOptions, Sides
from quire.source.tree import Tree


@dataclass(frozen=True)
class Session:
    """Options common to all commands, from the command line."""

    project: project.Project
    cache: Cache
    progress: Progress
    architectures: tuple[Architecture, ...]
    jobs: int
    side_options: SideOptions = field(default_factory=SideOptions)
    cross_compile: str | None = None
    llvm: str = ""
    configs: tuple[Path, ...] = ()
    # The user's own benchmarks or tests, added to the guest.
    programs: tuple[Path, ...] = ()
    # Where machines run.
    place: Place = HERE

    def base(self) -> Base:
        """Return the base of side A; fetch, export or copy it if it is not cached."""
        with self.progress.stage("base"):
            return side.base(self.project.root, self.cache, self.side_options)

    def sides(self) -> Sides:
        """Prepare both sides, ready to build."""
        # The base has a separate stage: it may take minutes.
        base = self.base()
        with self.progress.stage("patched tree"):
            return side.sides(self.project.root, self.cache, self.side_options, base)

    def line(self, base: Base) -> Line:
        """Return the line whose configuration and data apply to that base."""
        return side.line_of(self.project.root, self.side_options, base)

    def request(self, arch: Architecture, tree: Tree) -> kernel.Request:
        """Return the kernel to build for one architecture and tree."""
        line = self.line(tree.base)
        for name in (arch.name, *(path.stem for path in self.configs)):
            needed = line.patches_for(name)
            if needed.is_file():
                # On top of the tree.
                extra, first = series.read(needed), tree.series.patches if tree.series else ()
                both = replace(extra, patches=first + extra.patches)
                tree = trees.patched(self.cache, tree.base, both, tree.label)
        return kernel.Request(
            arch,
            tree,
            self.fragments(arch, line),
            kernel.toolchain(arch, self.cross_compile, self.llvm),
            self.jobs,
            strict=line.exact,
        )

    def fragments(self, arch: Architecture, line: Line) -> tuple[Path, ...]:
        """Return the architecture's configuration: the line's fragments, then --config."""
        return kconfig.fragments(line, arch, self.configs)

    def kernel(self, arch: Architecture, tree: Tree, cflags: str = "") -> Kernel:
        """Build the kernel, with these compiler flags in addition to kbuild's."""
        request = replace(self.request(arch, tree), cflags=cflags)
        with self.progress.stage(request.title, arch.objects):
            return kernel.build(self.cache, request, self.progress.at)

    def guest(self, for_kernel: Kernel) -> Guest:
        """Build the guest for that kernel, with its filesystem and the user's programs."""
        plain = guest.build(self.cache, self.project.guest, for_kernel, self.jobs)
        plain = guest.with_filesystem(self.cache, plain, for_kernel)
        include = self.project.guest / "include"
        return user.added(self.cache, plain, for_kernel.toolchain, include, self.programs)
