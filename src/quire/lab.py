# SPDX-License-Identifier: GPL-2.0
"""From two sides to an architecture's comparison: shared by bench, demo and profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quire.arch import Architecture, Cpu
from quire.boot import counter
from quire.build.kernel import Kernel
from quire.measure import bench, comparison, posted
from quire.measure.bench import Rig, Samples, Sampling
from quire.measure.comparison import Comparison, Known
from quire.measure.locks import FILE as LOCKS
from quire.measure.locks import Locks
from quire.measure.locks import read as locks_of
from quire.measure.workloads import Catalogue, Cell
from quire.report.data import Provenance
from quire.session import Session
from quire.source.side import Sides


def workloads(session: Session) -> Catalogue:
    """The guest's workloads."""
    return Catalogue.read(session.project.guest / "workloads")


def locks(session: Session) -> Locks:
    """The classes of locks."""
    return locks_of(session.project.guest / "workloads" / LOCKS)


def rig(session: Session, kernel: Kernel) -> Rig:
    """Build everything that a measurement of `kernel` needs."""
    plugin = counter.build(session.cache, session.project.counter, kernel.arch)
    return Rig(kernel, session.guest(kernel), plugin, locks(session).functions)


def rigs(session: Session, arch: Architecture, sides: Sides) -> tuple[Rig, Rig]:
    """Build side A, then side B."""
    # Check for a QEMU that can count before building the kernels.
    counter.installed(arch)
    a = rig(session, session.kernel(arch, sides.a.tree))
    return a, a if sides.same else rig(session, session.kernel(arch, sides.b.tree))


def on(both: tuple[Rig, Rig], cpu: Cpu) -> tuple[Rig, Rig]:
    """The same kernels, booted on another CPU."""
    a, b = (replace(rig, kernel=replace(rig.kernel, arch=rig.kernel.arch.on(cpu))) for rig in both)
    return a, b


def compare(
    session: Session,
    sides: Sides,
    both: tuple[Rig, Rig],
    cells: Sequence[Cell],
    options: Sampling,
) -> tuple[Comparison, Provenance, Samples]:
    """Measure the cells on both kernels of one architecture."""
    a, b = both
    arch = a.kernel.arch
    cells = [cell for cell in cells if cell.workload.runs_on(arch.name)]
    samples = bench.measure(session.cache, both, cells, session.progress, options)
    images = (a.kernel.image_sha256, b.kernel.image_sha256)
    figures = posted.read(sides.line.posted) if sides.ours and not sides.same else {}
    labels = (sides.a.label, sides.b.label)
    known = Known(figures, locks(session))
    found = comparison.compare(arch, labels, images, cells, samples, known)
    return found, Provenance(a, b, session.fragments(arch, sides.line)), samples
