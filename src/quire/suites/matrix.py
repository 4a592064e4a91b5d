# SPDX-License-Identifier: GPL-2.0
"""Test all kernels in parallel: both sides, normal and debug, one and two virtual CPUs."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.boot import machine
from quire.boot.ktap import Status
from quire.session import Session
from quire.source.side import Sides
from quire.suites import formats
from quire.suites.outcome import Outcome
from quire.suites.suite import BootOptions, Job, of_sizes


@dataclass(frozen=True)
class Flavour:
    """Additions to the common configuration, the sides that use it, and the numbers of CPUs."""

    name: str
    fragments: tuple[str, ...] = ()
    sides: str = "ab"
    cpus: tuple[int, ...] = (1, 2)
    # For the kernel's command line.
    parameters: tuple[str, ...] = ()
    # The architectures that have it; empty: all.
    architectures: tuple[str, ...] = ()


# A case takes four times as long on a debug kernel, which therefore runs only the folio sizes
# 4 KiB, 64 KiB and 2 MiB; the sizes between take the same paths. 2 MiB accounts for two thirds of
# the time, and two CPUs take twice as long as one.
FEWER = (of_sizes((4, 64, 2048)),)
FEWEST = (of_sizes((4, 64)),)

DEBUG = ("debug.config",)
# KASAN is the slowest, and its findings in the stock kernel are outside the scope of the series.
FLAVOURS = (
    Flavour("normal"),
    Flavour("debug", DEBUG, cpus=(1,), parameters=FEWER),
    Flavour("debug", DEBUG, cpus=(2,), parameters=FEWEST),
    Flavour("kasan", ("kasan.config",), "b", (2,), FEWER),
    # Device-exclusive pages, pins by io_uring and gup_test, files on XFS.
    Flavour("device", ("device.config", "pin.config", "xfs.config"), "b", (1,), FEWEST),
    # Stock has hazards: docs/dev/tlb.md.
    Flavour("tlb", ("tlbcheck.config",), "b", (1, 4), FEWER, ("arm64", "x86_64")),
)
# Seconds. A debug kernel is several times slower, and shares the host.
PATIENCE = 5400.0


def jobs(session: Session, sides: Sides, options: BootOptions) -> list[Job]:
    """Build every kernel, and return its boots, one per number of CPUs."""
    planned = []
    for flavour in FLAVOURS:
        fragments = [session.project.configs / name for name in flavour.fragments]
        chosen = replace(session, configs=(*session.configs, *fragments))
        parameters = (*options.parameters, *flavour.parameters)
        for arch in session.architectures:
            if flavour.architectures and arch.name not in flavour.architectures:
                continue
            # Identical sides share one kernel.
            for role, side in zip("ab"[: 1 if sides.same else 2], sides.both, strict=False):
                if role not in flavour.sides:
                    continue
                kernel = chosen.kernel(arch, side.tree)
                for cpus in flavour.cpus:
                    boot = replace(options, cpus=cpus, timeout=PATIENCE, parameters=parameters)
                    planned.append(Job(kernel, boot, f"{flavour.name}-smp{cpus}"))
    return planned


def rows(outcomes: Sequence[Outcome]) -> dict[str, list[Status | None]]:
    """Return the cases that some boot does not pass; None where a boot lacks the case."""
    statuses = [{case.name: case.status for case in outcome.cases} for outcome in outcomes]
    names = dict.fromkeys(name for cases in statuses for name in cases)
    table = {name: [cases.get(name) for cases in statuses] for name in names}
    return {name: row for name, row in table.items() if set(row) - {Status.PASS, Status.LEFT_OUT}}


def keep(directory: Path, outcomes: Sequence[Outcome]) -> None:
    """Write KTAP for every boot, and JUnit XML and JSON for all."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    report = {}
    for outcome in outcomes:
        if not outcome.lost:
            ktap = (Path(outcome.logs) / machine.RESULTS).read_text()
            (directory / f"{outcome.name}.ktap").write_text(ktap)
        report[outcome.name] = {
            "lost": outcome.lost.text() if outcome.lost else "",
            "cases": {case.name: case.status for case in outcome.cases},
        }
    (directory / "junit.xml").write_text(formats.junit(outcomes), "utf-8")
    (directory / "matrix.json").write_text(json.dumps(report, indent=1) + "\n")
