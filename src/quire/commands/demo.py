# SPDX-License-Identifier: GPL-2.0
"""Count a few benchmarks of each topic, and print the tables: `make demo`.

Installs missing Debian packages (as root; otherwise lists them), fetches the base, builds and boots
all kernels, prints a table for each architecture (a short one for each additional CPU) and writes
build/demo/index.html, quire.json and quire.svg. Existing builds are reused. Without --all, it
counts one or two benchmarks of each topic: guest/workloads/demo.toml.
"""

import argparse

from quire import lab
from quire.arch import requirements
from quire.commands import bench, options
from quire.host.console import console
from quire.measure.workloads import on_architecture
from quire.report import table
from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.kernel(part)
    options.counting(part)
    part.add_argument("--all", action="store_true", help="count every benchmark")
    options.as_json(part, "print JSON in place of the tables")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run the demo and write its report. Difference if a benchmark makes forbidden calls."""
    requirements.bring(requirements.needs(session.architectures))
    sides = lab.plan(session, session.architectures)
    catalogue, parts = lab.workloads(session), []
    for arch in session.architectures:
        both = lab.setups(session, arch, sides)
        steps = [(both, catalogue.demo(everything=arguments.all))]
        for cpu in arch.counted_cpus:
            steps.append(((both[0].on(cpu), both[1].on(cpu)), catalogue.rows(cpu.rows)))
        for setups, benchmarks in steps:
            chosen = on_architecture(arch, benchmarks)
            parts.append(lab.compare(session, sides, setups, chosen))
            if not arguments.json:
                console().print(table.build(parts[-1][0], sides.title))
    names = ("quire.json", "index.html", "quire.svg")
    bench.finish(arguments, sides, parts, session.cache.root / "demo", names)
