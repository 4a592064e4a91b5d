# SPDX-License-Identifier: GPL-2.0
"""The demo: everything from an empty build directory to tables and a plot."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from quire import lab
from quire.arch import Architecture, requirements
from quire.host import parallel
from quire.host.progress import Stage
from quire.measure.bench import Rig, Sampling
from quire.measure.comparison import Comparison
from quire.measure.workloads import Cell
from quire.report.data import Provenance
from quire.session import Session
from quire.source.side import Sides

# Seconds on two cores, to estimate the remaining time.
FETCH, STOCK, PATCHED, BOOTS, FURTHER = 40, 200, 40, 280, 40

Part = tuple[Comparison, Provenance]


def plan(session: Session) -> list[Stage]:
    """The stages of the demo, named as in the flow."""
    steps = [Stage("base", FETCH), Stage("patched tree", 5)]
    for arch in session.architectures:
        steps.append(Stage(f"{arch.name} stock kernel", STOCK))
        steps.append(Stage(f"{arch.name} patched kernel", PATCHED))
        steps.append(Stage(f"{arch.label} bench", BOOTS))
        steps += [Stage(f"{arch.on(cpu).label} bench", FURTHER) for cpu in arch.further_cpus]
    return steps


def run(session: Session, show: Callable[[Comparison, Sides], None]) -> tuple[Sides, list[Part]]:
    """Run all workloads on all architectures, and some rows on further CPUs.

    `show` gets each table as soon as it is complete.
    """
    requirements.install(session.architectures)
    session.progress.plan.extend(plan(session))
    sides = session.sides()
    if sides.same:
        ahead = [step for step in session.progress.plan if "patched" not in step.name]
        session.progress.plan[:] = ahead
    catalogue = lab.workloads(session)

    def measure(step: tuple[tuple[Rig, Rig], list[Cell]]) -> Part:
        rigs, cells = step
        rows, made, _ = lab.compare(session, sides, rigs, cells, Sampling(machines=session.jobs))
        show(rows, sides)
        return rows, made

    def of(arch: Architecture) -> list[Part]:
        both = lab.rigs(session, arch, sides)
        steps = [(both, catalogue.cells())]
        steps += [(lab.on(both, cpu), catalogue.rows(cpu.rows)) for cpu in arch.further_cpus]
        return parallel.in_turn(steps, measure)

    return sides, list(itertools.chain(*parallel.in_turn(session.architectures, of)))
