# SPDX-License-Identifier: GPL-2.0
"""From a base to an architecture's comparison: the flow that bench, demo and profile share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quire.arch import Architecture, Cpu
from quire.build import counter, guest, kconfig
from quire.build.kernel import Kernel
from quire.host import requirements
from quire.measure import bench, comparison
from quire.measure.bench import Options, Rig, Samples
from quire.measure.comparison import Comparison
from quire.measure.workloads import Cell
from quire.report.data import Provenance
from quire.session import Session
from quire.source.base import Base
from quire.source.series import Series
from quire.source.tree import Tree


@dataclass(frozen=True)
class Prepared:
    """A base with its series and both trees."""

    base: Base
    series: Series
    stock: Tree
    patched: Tree

    @property
    def title(self) -> str:
        """For tables and pictures."""
        count = len(self.series.patches)
        noun = "patch" if count == 1 else "patches"
        return f"Linux {self.base.version}, {self.base.origin}, {count} {noun}"


def prepare(session: Session) -> Prepared:
    """Fetch and patch."""
    base = session.base()
    stock, patched = session.trees(base)
    return Prepared(base, session.series(base), stock, patched)


def rig(session: Session, kernel: Kernel) -> Rig:
    """Everything a measurement of `kernel` needs, built."""
    qemu = requirements.qemu(kernel.arch)
    plugin = counter.build(session.cache, session.project.counter, qemu)
    program = guest.build(session.cache, session.project.guest, kernel, session.jobs)
    return Rig(kernel, program, plugin, qemu)


def rigs(session: Session, arch: Architecture, prepared: Prepared) -> tuple[Rig, Rig]:
    """Stock and patched, built in that order."""
    # A QEMU that cannot count is better known before the kernels are built.
    requirements.qemu(arch)
    stock = rig(session, session.kernel(arch, prepared.stock))
    return stock, rig(session, session.kernel(arch, prepared.patched))


def on(both: tuple[Rig, Rig], cpu: Cpu) -> tuple[Rig, Rig]:
    """The same kernels, booted on another CPU."""
    stock, patched = (
        replace(rig, kernel=replace(rig.kernel, arch=rig.kernel.arch.on(cpu))) for rig in both
    )
    return stock, patched


def compare(
    session: Session, both: tuple[Rig, Rig], cells: Sequence[Cell], options: Options
) -> tuple[Comparison, Provenance, Samples]:
    """Measure the cells on both kernels of one architecture."""
    stock, patched = both
    arch = stock.kernel.arch
    samples = bench.measure(session.cache, both, cells, session.progress, options)
    images = (stock.kernel.image_sha256, patched.kernel.image_sha256)
    rows = comparison.compare(arch, images, cells, samples) if samples else Comparison(arch, ())
    fragments = kconfig.fragments(session.project.configs, arch, session.configs)
    return rows, Provenance(stock, patched, fragments), samples
