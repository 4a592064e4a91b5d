# SPDX-License-Identifier: GPL-2.0
"""A base from a revision of a git repository; the repository is only read."""

from __future__ import annotations

from pathlib import Path

from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import BuildFailed, UserError
from quire.source import base
from quire.source.base import Base


def resolve(repository: Path, revision: str) -> str:
    """The commit of `revision`. UserError if the repository or the revision does not exist."""
    if not repository.is_dir() or _git(repository, "rev-parse", "--git-dir").status:
        raise UserError(
            f"{repository} is not a git repository", remedy="name a clone of Linux with --git DIR"
        )
    found = _git(repository, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.status:
        near = _git(repository, "for-each-ref", "--format=%(refname:short)", f"**/*{revision}*")
        names = ", ".join(near.output.split()[:8])
        raise UserError(
            f"no revision {revision!r} in {repository}",
            f"similar refs: {names}" if names else "",
            "name a branch, a tag or a commit of that repository",
        )
    return found.output.strip()


def from_git(cache: Cache, repository: Path, revision: str) -> Base:
    """The sources of that revision, from git archive. UserError as for resolve(), and if the
    revision is not a kernel tree."""
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
                f"cannot export {revision} of {repository}",
                finished.output.strip()[-1000:],
                "free some space (a tree needs 1.5 GB), or name another build directory with O=DIR",
            )
        process.needs_results(base.LATER)
        base.record(directory, f"git {repository} {revision}", f"git:{commit}")

    return base.load(
        cache.make("base", f"git-{commit[:16]}", build), f"git {repository} {revision}"
    )


def _git(repository: Path, *words: str) -> process.Finished:
    return process.query("git", "-C", str(repository), *words)
