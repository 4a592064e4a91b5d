# SPDX-License-Identifier: GPL-2.0
"""Apply the series to your kernel tree.

The series is selected by the tree's version and by files that only some vendors' trees have.
Patches apply without fuzz. A topic that does not fit is left out as a whole: the end of the output
says what was left out and why, and the exit status is 1. If a topic named by --only does not fit,
the tree stays unchanged. A second run changes nothing. `quire fit` explains more, and never changes
the tree.

  quire apply ~/linux-6.12.117
  quire apply --only mremap ~/linux-6.12.117
  quire apply --only mremap --dry-run ~/linux-6.12.117    list the patches, with reasons
"""

import argparse
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from quire.commands import options
from quire.host.errors import UserError
from quire.session import Session
from quire.source import apply, fit, line, version
from quire.source.fit import Fit, Part
from quire.source.line import Line
from quire.source.series import Series
from quire.source.version import Version


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the tree and the topics."""
    text = "print which patches would be applied and why, without changing anything"
    part.add_argument("-n", "--dry-run", action="store_true", help=text)
    options.only(part)
    part.add_argument("tree", type=Path, metavar="DIR", help="the kernel source tree to patch")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Apply what fits and report what changed; return 1 if something was left out."""
    tree: Path = arguments.tree
    linux = version.of_tree(tree)
    found = fit.of_tree(tree, linux, _line(session, linux))
    topics = session.side_options.only
    chosen = _chosen(found, topics)
    if arguments.dry_run:
        _explain(tree, chosen, topics)
        return 0
    done = apply.apply_series(tree, chosen, found.series)
    where = f"Linux {linux} in {tree}"
    if not found.listed:
        print(f"{where}: not tried here; {found.series.file.name} fits most of it")
    if done.written:
        for patch in chosen.patches:
            print(f"{patch.name}{' (already applied)' if patch.name in done.already else ''}")
        print(f"{where}: changed {', '.join(done.written)}")
    else:
        print(f"{where}: {len(chosen.patches)} patches, already applied")
    left = [] if topics else found.left()
    print("\n".join(_rest(session, tree, chosen, left)))
    return int(any(not part.foreign for part in left))


def _line(session: Session, linux: Version) -> Line:
    known = line.of_version(session.project.root, linux)
    if not known.series:
        have = ", ".join(one.name for one in line.known(session.project.root) if one.series)
        remedy = f"series exist for: {have or 'nothing'}"
        raise UserError(f"there is no series for Linux {linux}", remedy=remedy)
    return known


def _chosen(found: Fit, topics: Sequence[str]) -> Series:
    """The patches to apply. UserError if a named topic does not fit, or if none fits."""
    if not topics:
        chosen = found.union()
        if not chosen.patches:
            raise _refused(next(part for part in found.parts if part.misfit))
        return chosen
    chosen = found.series.only(topics)
    for part in found.left(topics):
        if part.misfit:
            raise _refused(part)
    return chosen


def _refused(part: Part) -> UserError:
    misfit = part.misfit
    assert misfit
    return UserError(
        f"patch {misfit.patch} does not apply",
        f"{misfit.subject}\n{misfit.hunk}\nthe tree is unchanged",
        "see what the tree has there: quire fit; or rebase the patch: quire tree, quire export",
    )


def _rest(session: Session, tree: Path, chosen: Series, left: Sequence[Part]) -> Iterator[str]:
    """Print what was left out and why, and how to test what was applied."""
    for part in left:
        if part.misfit and not part.foreign:
            yield f"left out {part.name}: {part.misfit.patch}: {part.misfit.hunk}"
    others = [part.name for part in left if part.foreign]
    if others:
        yield f"not for this version: {', '.join(others)} (quire fit {shlex.quote(str(tree))})"
    suites = [name for name in chosen.topics if (session.project.guest / "tests" / name).is_dir()]
    words = " ".join(f"'{name}.*'" for name in suites)
    yield f"after building it: quire test --kernel DIR {words}".rstrip()


def _explain(tree: Path, chosen: Series, topics: Sequence[str]) -> None:
    """Print each command, preceded by the needs that bring in the patch, and their number."""
    names = topics or [patch.unnumbered for patch in chosen.patches]
    reasons = chosen.reasons(names)
    for patch, needs in reasons.items():
        why = [f"needed by {need.who}: {need.why}" for need in needs]
        print("".join(f"# {line}\n" for line in why or ["own"]), end="")
        print(shlex.join(["git", "-C", str(tree), "apply", "-p1", str(patch.path)]))
    own = sum(not needs for needs in reasons.values())
    of = ", ".join(topics or chosen.topics)
    print(f"# {len(reasons)} patches: {own} of {of}, {len(reasons) - own} needed")
