# SPDX-License-Identifier: GPL-2.0
"""Apply the series to a kernel tree of your own.

The tree's version selects the series. Either all patches apply without fuzz or the tree stays
unchanged; the error names the patch and hunk that do not apply. A second run changes nothing.

  quire apply ~/linux-6.12.117
  quire apply --only mremap ~/linux-6.12.117
"""

import argparse
from pathlib import Path

from quire.commands import options
from quire.host import process
from quire.host.errors import UserError
from quire.session import Session
from quire.source import apply, line, series, version
from quire.source.series import Series
from quire.source.version import Version


def add_arguments(part: argparse.ArgumentParser) -> None:
    """The tree, and the topics."""
    options.dry_run(part)
    options.only(part)
    part.add_argument("tree", type=Path, metavar="DIR", help="the kernel source tree to patch")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Apply the series and report what changed."""
    linux = version.of_tree(arguments.tree)
    chosen = _series(session, linux)
    apply.plan(arguments.tree, chosen.patches)
    process.needs_results()
    done = apply.apply_series(arguments.tree, chosen)
    if not done.written:
        print(f"Linux {linux} in {arguments.tree}: {len(chosen.patches)} patches, already applied")
        return
    for patch in chosen.patches:
        print(f"{patch.name}{' (already applied)' if patch.name in done.already else ''}")
    print(f"Linux {linux} in {arguments.tree}: changed {', '.join(done.written)}")


def _series(session: Session, linux: Version) -> Series:
    folder = line.of_version(session.project.root, linux).series
    if not folder:
        have = ", ".join(known.name for known in line.known(session.project.root) if known.series)
        remedy = f"series exist for: {have or 'nothing'}"
        raise UserError(f"there is no series for Linux {linux}", remedy=remedy)
    chosen = series.select(folder, linux)
    return chosen.only(session.side_options.only) if session.side_options.only else chosen
