# SPDX-License-Identifier: GPL-2.0
"""A base from a revision of somebody's git repository; the repository is only read."""

from __future__ import annotations

from pathlib import Path

from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import BuildFailed, UserError
from quire.source import base
from quire.source.base import Base


def resolve(repository: Path, revision: str) -> str:
    """The commit that `revision` names there. UserError if there is no such repository or none."""
    if not repository.is_dir() or _git(repository, "rev-parse", "--git-dir").status:
        raise UserError(
            f"{repository} is no git repository", remedy="name a clone of Linux with --git DIR"
        )
    found = _git(repository, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.status:
        near = _git(repository, "for-each-ref", "--format=%(refname:short)", f"**/*{revision}*")
        names = ", ".join(near.output.split()[:8])
        raise UserError(
            f"there is no revision {revision!r} in {repository}",
            f"refs like it: {names}" if names else "",
            "name a branch, a tag or a commit of that repository",
        )
    return found.output.strip()


def from_git(cache: Cache, repository: Path, revision: str) -> Base:
    """The sources of that revision, as git archive writes them. UserError as resolve() and for a
    revision that is no kernel tree."""
    repository = repository.resolve()
    commit = resolve(repository, revision)

    def build(directory: Path) -> None:
        tree = directory / "linux"
        process.do(tree.mkdir)
        script = 'git -C "$1" archive --format=tar "$2" | tar -x --no-same-owner -C "$3"'
        argv = ["bash", "-o", "pipefail", "-c", script, "export"]
        finished = process.run(process.Command([*argv, str(repository), commit, str(tree)]))
        if finished.status:
            raise BuildFailed(
                f"{revision} of {repository} could not be exported",
                finished.output.strip()[-1000:],
                "free some space (a tree takes 1.5 GB), or put the build elsewhere with O=DIR",
            )
        process.needs_results(base.LATER)
        base.record(directory, f"git {repository} {revision}", f"git:{commit}")

    return base.load(
        cache.make("base", f"git-{commit[:16]}", build), f"git {repository} {revision}"
    )


def _git(repository: Path, *words: str) -> process.Finished:
    return process.query("git", "-C", str(repository), *words)
