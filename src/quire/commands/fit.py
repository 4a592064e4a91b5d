# SPDX-License-Identifier: GPL-2.0
"""Show which topics fit a kernel tree, and what prevents the others. Builds nothing.

The series file is selected by the tree's version and by files that only some vendors' trees have.
Each topic is tried with what it needs. For a topic that does not fit, this prints the first
rejected hunk, what differs, and the upstream commit that caused the difference, if known. The exit
status is 1 if swapout, lazyfree, mremap or ksm does not fit.

  quire fit ~/linux
  quire fit --git ~/linux v6.12.23 v6.12.49      revisions of a repository, without a checkout
  quire fit --git ~/linux --versions             each version of its history
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quire.commands import options
from quire.host import console
from quire.host.errors import UserError
from quire.session import Session
from quire.source import fit, line, revisions, version
from quire.source.fit import Fit, Part
from quire.source.revisions import Revision

# Maximum number of lines shown of a difference.
SHOWN = 12


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the trees."""
    add = part.add_argument
    text = "a kernel tree; with --git, a revision of that repository"
    add("trees", nargs="*", metavar="DIR", help=text)
    add("--git", type=Path, metavar="DIR", help="a repository; it may be bare")
    text = "with --git: the first commit of each version that has a series"
    add("--versions", action="store_true", help=text)
    text = "use the series of this line, whatever the tree's version"
    add("--line", default="", metavar="NAME", help=text)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Print what fits; return 1 if a main topic does not fit one of the trees."""
    root, told = session.project.root, []
    missing = False
    for name, commit, tree in _trees(root, arguments):
        linux = version.of_tree(tree)
        known = line.named(root, arguments.line) if arguments.line else line.of_version(root, linux)
        found = fit.of_tree(tree, linux, known)
        missing = missing or bool(found.main)
        if arguments.json:
            told.append(document(name, commit, found))
        else:
            print("\n".join(report(name, found)))
    if arguments.json:
        print(json.dumps({**console.head("fit"), "trees": told}, indent=1, ensure_ascii=False))
    return int(missing)


def _trees(root: Path, arguments: argparse.Namespace) -> Iterator[tuple[str, str, Path]]:
    """Yield each tree: its name, its commit, the directory of its files."""
    if not arguments.git:
        if arguments.versions:
            options.refuse(arguments, "versions", "without --git")
        if not arguments.trees:
            raise UserError("no tree is named", remedy="quire fit DIR, or --git DIR REVISION")
        yield from ((name, "", Path(name)) for name in arguments.trees)
        return
    names = revisions.names(root)
    if arguments.versions:
        chosen = list(revisions.versions(arguments.git, root))
    else:
        chosen = [Revision(arguments.git, name) for name in arguments.trees or ["HEAD"]]
    for revision in chosen:
        with revisions.files(revision, names) as tree:
            yield f"{arguments.git.name} {revision.name}", revision.commit, tree


def report(name: str, found: Fit) -> Iterator[str]:
    """Print what fits, line by line."""
    file = f"{found.series.file.name} (for {found.series.versions})"
    listed = file if found.listed else f"not tried here; most fits of {file}"
    yield f"Linux {found.linux} in {name}: {listed}"
    told: dict[tuple[str, str], str] = {}
    for part in found.parts:
        if part.topic in found.series.fixes and part.fits:
            continue
        misfit = part.misfit
        cause = (misfit.patch, misfit.hunk) if misfit else ("", part.name)
        first = told.setdefault(cause, part.name)
        if part.misfit and first != part.name:
            yield f"does not fit  {part.name}: as {first}"
        else:
            yield from _lines(part)
    fixes = [p for p in found.parts if p.topic in found.series.fixes and not p.foreign]
    if fixes:
        fitting = sum(part.fits for part in fixes)
        yield f"fits          corrections: {fitting} of {len(fixes)}"


def _lines(part: Part) -> Iterator[str]:
    own = sum(patch.topic == part.topic for patch in part.selection.patches)
    needed = len(part.selection.patches) - own
    if not part.misfit:
        what = f"{own} {'patch' if own == 1 else 'patches'}" + (
            f" and {needed} that it needs" if needed else ""
        )
        what += f", variants for {', '.join(part.variants)}" if part.variants else ""
        if part.foreign:
            yield f"not listed    {part.name}: it applies, but is not listed for this version"
        else:
            yield f"fits          {part.name}: {what}"
        return
    misfit = part.misfit
    yield f"does not fit  {part.name}: {misfit.patch}"
    where = f"; here line {misfit.line}" if misfit.found else "; no similar lines here"
    yield f"              {misfit.hunk}{where}"
    differences = list(misfit.differences())
    yield from (f"              {text}" for text in differences[:SHOWN])
    if len(differences) > SHOWN:
        yield f"              … {len(differences) - SHOWN} more lines"
    if misfit.upstream:
        yield f"              upstream: {misfit.upstream}"


def document(name: str, commit: str, found: Fit) -> dict[str, Any]:
    """Describe one tree for --json."""
    return {
        "tree": name,
        "commit": commit,
        "version": str(found.linux),
        "list": found.series.file.name,
        "listed": found.listed,
        "missing": found.main,
        "topics": [_part(part) for part in found.parts],
    }


def _part(part: Part) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": part.name,
        "topic": part.topic,
        "fits": part.fits,
        "listed": not part.foreign,
        "patches": [patch.name for patch in part.selection.patches],
        "variants": part.variants,
    }
    if misfit := part.misfit:
        names = ("patch", "subject", "file", "hunk", "line")
        told["misfit"] = {name: getattr(misfit, name) for name in names} | {
            "differences": list(misfit.differences()),
            "upstream": misfit.upstream and str(misfit.upstream),
        }
    return told
