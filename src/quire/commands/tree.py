# SPDX-License-Identifier: GPL-2.0
"""Make a git checkout of the base with each patch of the series as a commit on top.

Edit, amend and rebase there with ordinary git, then write the series back with quire export.
A new commit belongs to the topic of the preceding commit, unless its message has a line
`Quire-topic: NAME` (which export removes).

  quire tree                     6.12, in ./linux-6.12.<newest>
  quire tree 6.12.94 work        base 6.12.94, in ./work
  quire tree --only mremap       one topic
"""

import argparse
from dataclasses import replace
from pathlib import Path

from quire.commands import options
from quire.session import Session
from quire.source import checkout, side


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the base and the directory."""
    options.side_a(part)
    add = part.add_argument
    add("version", nargs="?", default="", help="the base, as for --base")
    text = "the new directory (default: ./linux-VERSION)"
    add("directory", nargs="?", type=Path, metavar="DIR", help=text)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Create the checkout and print its path."""
    chosen = session.side_options
    if arguments.version:
        options.refuse(arguments, "base", f"with the base {arguments.version}")
        chosen = replace(chosen, base=arguments.version)
    session = replace(session, side_options=chosen)
    base = session.base()
    series, _ = side.series_of(
        session.project.root, session.cache, chosen, session.line(base), base
    )
    directory = arguments.directory or Path(f"linux-{base.version}")
    with session.progress.stage("git checkout"):
        commit = checkout.checkout(base, series, directory)
    print(f"{directory}: Linux {base.version} ({commit[:12]}) and {len(series.patches)} patches")
    print(f"work on it with git, then: quire export {directory}")
