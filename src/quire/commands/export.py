# SPDX-License-Identifier: GPL-2.0
"""Write a checkout made by quire tree back as the series.

Patches are normalised, so that the file of an unchanged patch does not change: no commit hash, no
git version, no blob hashes, numbered within each topic. Cover letters are kept.

  quire export linux-6.12.117
"""

import argparse
from pathlib import Path

from quire.session import Session
from quire.source import checkout


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the checkout's path."""
    part.add_argument("directory", type=Path, metavar="DIR", help="a checkout made by quire tree")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Export and list what changed."""
    series, changed = checkout.export(arguments.directory, session.project.root)
    for name in changed:
        print(series.file.parent / name)
    noun = "file" if len(changed) == 1 else "files"
    print(f"{series.file.name}: {len(series.patches)} patches, {len(changed)} {noun} changed")
    return 0
