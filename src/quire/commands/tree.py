# SPDX-License-Identifier: GPL-2.0
"""Make a git checkout of the base with each patch of the series as a commit on top.

Edit, amend and rebase there with ordinary git, then write the series back with quire export.
A new commit belongs to the topic of the preceding commit, unless its message has a line
`Quire-topic: NAME` (which export removes).

  quire tree                     6.12, in ./linux-6.12.<newest>
  quire tree 6.12.94 work        that base, in ./work
  quire tree --only mremap       one topic
"""

import argparse
from dataclasses import replace
from pathlib import Path

from quire.session import Session
from quire.source import checkout, side


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the base and the directory."""
    part.add_argument("version", nargs="?", help="the base, as with --base")
    part.add_argument(
        "directory", nargs="?", type=Path, metavar="DIR", help="where (default: ./linux-VERSION)"
    )


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Make the checkout and print its path."""
    if arguments.version:
        session = replace(
            session, side_options=replace(session.side_options, base=arguments.version)
        )
    base = session.base()
    options = session.side_options
    series, _ = side.series_of(
        session.project.root, session.cache, options, session.line(base), base
    )
    directory = arguments.directory or Path(f"linux-{base.version}")
    with session.progress.stage("git checkout"):
        commit = checkout.checkout(base, series, directory)
    print(f"{directory}: Linux {base.version} ({commit[:12]}) and {len(series.patches)} patches")
    print(f"work on it with git, then: quire export {directory}")
    return 0
