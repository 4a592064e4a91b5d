# SPDX-License-Identifier: GPL-2.0
"""The demo: everything from an empty build directory to tables and a picture."""

from __future__ import annotations

from collections.abc import Callable

from quire import host, lab, workloads
from quire.bench import Options
from quire.comparison import Comparison
from quire.lab import Prepared
from quire.progress import Step
from quire.report.data import Provenance
from quire.session import Session

# Seconds on two cores, to tell what is left.
FETCH, STOCK, PATCHED, BOOTS = 40, 200, 40, 250

Part = tuple[Comparison, Provenance]


def plan(session: Session) -> list[Step]:
    """The stages ahead, by the names the flow gives them."""
    steps = [Step("base", FETCH), Step("patched tree", 5)]
    for arch in session.architectures:
        steps.append(Step(f"{arch.name} stock kernel", STOCK))
        steps.append(Step(f"{arch.name} patched kernel", PATCHED))
        steps.append(Step(f"{arch.name} bench", BOOTS))
    return steps


def run(
    session: Session, show: Callable[[Comparison, Prepared], None]
) -> tuple[Prepared, list[Part]]:
    """All workloads on all architectures; `show` gets each table as soon as it is there."""
    host.install(session.architectures)
    session.progress.plan.extend(plan(session))
    prepared = lab.prepare(session)
    parts: list[Part] = []
    for arch in session.architectures:
        both = lab.rigs(session, arch, prepared)
        rows, made, _ = lab.compare(
            session, both, workloads.cells(), Options(machines=session.jobs)
        )
        if rows.rows:
            show(rows, prepared)
        parts.append((rows, made))
    return prepared, parts
