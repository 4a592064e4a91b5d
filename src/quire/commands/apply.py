# SPDX-License-Identifier: GPL-2.0
"""Apply the series to a kernel tree of your own.

The tree's version decides which series. All of it applies without fuzz or nothing is changed;
the patch and hunk that do not fit are named. A second time changes nothing.

  quire apply ~/linux-6.12.117
  quire apply --only mremap ~/linux-6.12.117
"""

import argparse
from pathlib import Path

from quire.session import Session
from quire.source import series, version
from quire.source.apply import apply_series

NAME = "apply"


def add_arguments(part: argparse.ArgumentParser) -> None:
    """The tree."""
    part.add_argument("tree", type=Path, metavar="DIR", help="the kernel source tree to patch")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Apply and say what was done."""
    found = version.of_tree(arguments.tree)
    chosen = series.select(session.project.patches, found)
    if session.only:
        chosen = chosen.only(session.only)
    if arguments.dry_run:
        for patch in chosen.patches:
            print(f"git -C {arguments.tree} apply -p1 {patch.path}")
        return 0
    done = apply_series(arguments.tree, chosen)
    if not done.written:
        print(f"Linux {found} in {arguments.tree}: {len(chosen.patches)} patches, already applied")
        return 0
    for patch in chosen.patches:
        print(f"{patch.name}{' (was there)' if patch.name in done.already else ''}")
    print(f"Linux {found} in {arguments.tree}: changed {', '.join(done.written)}")
    return 0
