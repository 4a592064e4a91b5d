# SPDX-License-Identifier: GPL-2.0
"""Build, boot and measure everything and print the tables: what `make demo` runs.

Installs missing Debian packages (as root; otherwise lists them), fetches the base, builds all
kernels, boots them, prints a table for each architecture (a short one for each further CPU) and
writes build/demo/index.html, quire.json and quire.svg. Existing builds are reused.
"""

import argparse
import json
import sys

from quire import demo
from quire.commands import bench
from quire.measure import comparison
from quire.measure.comparison import Comparison
from quire.report import data, table
from quire.session import Session
from quire.source.side import Sides


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the option for the output format."""
    part.add_argument("--json", action="store_true", help="print JSON in place of the tables")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Run the demo and write its report. Difference if a row has calls that are not allowed."""

    def show(rows: Comparison, sides: Sides) -> None:
        if not arguments.json:
            table.show(rows, sides.title)

    sides, parts = demo.run(session, show)
    report = data.report(sys.argv, sides, parts)
    if arguments.json:
        print(json.dumps(report, indent=1))
    bench.write(session.cache.root / "demo", "quire", report, page_name="index")
    comparison.require([rows for rows, _ in parts])
    return 0
