# SPDX-License-Identifier: GPL-2.0
"""The demo: everything from an empty build directory to tables and a plot."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from quire import lab
from quire.arch import Architecture, requirements
from quire.host import parallel
from quire.host.progress import Stage
from quire.measure.bench import Rig, Sampling
from quire.measure.comparison import Comparison
from quire.measure.workloads import Cell
from quire.report.data import Provenance
from quire.session import Session
from quire.source.side import PATCHED, STOCK, Sides

# Seconds of one core, to estimate the remaining time. The second kernel of an architecture is
# built from the first one's objects.
KERNELS = (400, 80)
BOOTS, FURTHER = 620, 80
# Mostly the disk's, whatever the number of cores.
SOURCES = (Stage("base", 40), Stage("patched tree", 5))

Part = tuple[Comparison, Provenance]


def stages(
    architectures: Iterable[Architecture],
    labels: Sequence[str],
    jobs: int,
    boots: float | None = None,
) -> list[Stage]:
    """The stages after the sources, named as in the flow: a kernel for each label, then boots, of
    so many core-seconds; without a number, all of them and those of further CPUs."""
    steps = []
    for arch in architectures:
        for label, seconds in zip(labels, KERNELS, strict=False):
            steps.append(Stage(f"{arch.name} {label} kernel", seconds / jobs))
        steps.append(Stage(f"{arch.label} bench", (BOOTS if boots is None else boots) / jobs))
        further = arch.further_cpus if boots is None else ()
        steps += [Stage(f"{arch.on(cpu).label} bench", FURTHER / jobs) for cpu in further]
    return steps


def plan(
    session: Session, architectures: Sequence[Architecture], boots: float | None = None
) -> Sides:
    """The sides. The session's progress then knows what is left: arguments as of stages()."""
    first = stages(architectures, (STOCK, PATCHED), session.jobs, boots)
    session.progress.plan = [*SOURCES, *first]
    sides = session.sides()
    # If both sides are the same, there is one kernel.
    labels = [one.tree.label for one in sides.both[: 1 if sides.same else 2]]
    session.progress.plan = stages(architectures, labels, session.jobs, boots)
    return sides


def run(session: Session, show: Callable[[Comparison, Sides], None]) -> tuple[Sides, list[Part]]:
    """Run all workloads on all architectures, and some rows on further CPUs.

    `show` gets each table as soon as it is complete.
    """
    requirements.install(session.architectures)
    sides = plan(session, session.architectures)
    catalogue = lab.workloads(session)

    def measure(step: tuple[tuple[Rig, Rig], list[Cell]]) -> Part:
        rigs, cells = step
        rows, made, _ = lab.compare(session, sides, rigs, cells, Sampling(place=session.place))
        show(rows, sides)
        return rows, made

    def of(arch: Architecture) -> list[Part]:
        both = lab.rigs(session, arch, sides)
        steps = [(both, catalogue.demo())]
        steps += [(lab.on(both, cpu), catalogue.rows(cpu.rows)) for cpu in arch.further_cpus]
        return parallel.in_turn(steps, measure)

    return sides, list(itertools.chain(*parallel.in_turn(session.architectures, of)))
