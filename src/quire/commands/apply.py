# SPDX-License-Identifier: GPL-2.0
"""Apply the series to your kernel tree.

The tree's version selects the series. Either all patches apply without fuzz or the tree stays
unchanged; the error names the patch and hunk that do not apply. A second run changes nothing.

  quire apply ~/linux-6.12.117
  quire apply --only mremap ~/linux-6.12.117
  quire apply --only mremap --dry-run ~/linux-6.12.117    which patches, and why each
"""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from quire.commands import options
from quire.host.errors import UserError
from quire.session import Session
from quire.source import apply, line, series, version
from quire.source.series import Series
from quire.source.version import Version


def add_arguments(part: argparse.ArgumentParser) -> None:
    """The tree, and the topics."""
    text = "print which patches would be applied, and why, and change nothing"
    part.add_argument("-n", "--dry-run", action="store_true", help=text)
    options.only(part)
    part.add_argument("tree", type=Path, metavar="DIR", help="the kernel source tree to patch")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Apply the series and report what changed."""
    linux = version.of_tree(arguments.tree)
    whole = _series(session, linux)
    topics = session.side_options.only
    chosen = whole.only(topics) if topics else whole
    if arguments.dry_run:
        _explain(arguments.tree, whole, topics or whole.topics)
        return
    done = apply.apply_series(arguments.tree, chosen, whole)
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
    return series.select(folder, linux)


def _explain(tree: Path, whole: Series, topics: Sequence[str]) -> None:
    """Print each command, before it which needs bring the patch, and how many there are."""
    reasons = whole.reasons(topics)
    for patch, needs in reasons.items():
        why = [f"needed by {need.who}: {need.why}" for need in needs]
        print("".join(f"# {line}\n" for line in why or ["own"]), end="")
        print(shlex.join(["git", "-C", str(tree), "apply", "-p1", str(patch.path)]))
    total, named = len(reasons), sum(not needs for needs in reasons.values())
    print(f"# {total} patches: {named} of {', '.join(topics)}, {total - named} needed")
