# SPDX-License-Identifier: GPL-2.0
"""Compare two timings of `quire time`: faster, slower or cannot tell, with the interval.

A ratio above 1 says that B is faster. The interval needs no assumption about the distribution: the
medians' intervals are those of order statistics, and both hold together with a confidence of 95 %.
Two files that do not compare (another machine, other workloads, an emulator's clock) are refused.

  quire compare stock.json patched.json
"""

import argparse
import json
from pathlib import Path

from quire.commands import options
from quire.host.errors import Difference
from quire.report import timing as report
from quire.session import Session
from quire.timing import compare, document


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the two files."""
    part.add_argument("timings", nargs=2, type=Path, metavar="JSON", help="A, then B")
    options.as_json(part, "print JSON (docs/ci.md)")


def run(_session: Session, arguments: argparse.Namespace) -> None:
    """Difference if a row is slower on B."""
    a, b = (document.read(file) for file in arguments.timings)
    verdicts = compare.compare(a, b)
    if arguments.json:
        print(json.dumps(report.as_json(a, b, verdicts), indent=1))
    else:
        report.show_verdicts(a, b, verdicts)
    slower = [verdict.row.name for verdict in verdicts if verdict.verdict == compare.SLOWER]
    if slower:
        what = f"{len(slower)} of {len(verdicts)} rows are slower on B"
        raise Difference(what, "\n".join(slower), "find out why: quire bench, quire profile")
