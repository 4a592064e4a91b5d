# SPDX-License-Identifier: GPL-2.0
"""Merge a series that does not apply exactly into a base, like `git am -3`.

A repository provides the blobs that the `index` lines of the patches name.
"""

import json
import re
import shutil
from pathlib import Path

from quire.host.cache import Cache, digest
from quire.host.errors import UserError
from quire.host.git import IDENTITY, git, run_git
from quire.source import apply
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.series import Series

# In a cache entry: the names of the patches that had to be merged, and git's work tree.
NAMES, WORK = "merged.json", "work"


def merged(cache: Cache, base: Base, series: Series, repository: Path) -> tuple[Path, list[str]]:
    """Return a folder, named after the series, of patches that apply to the base exactly, and the
    subjects of those that had to be merged. UserError names a patch that cannot be merged."""
    objects = git(repository, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    key = digest(base.key, objects, series.file.name, *(patch.path for patch in series.patches))

    def build(directory: Path) -> None:
        work = directory / WORK
        _start(work, base, series, Path(objects.strip()))
        (directory / series.file.name).mkdir()
        names = []
        for number, patch in enumerate(series.patches, 1):
            if _apply(work, patch):
                names.append(patch.subject())
            written = directory / series.file.name / f"{number:04}-{Path(patch.name).stem}.patch"
            mail = patch.path.read_text(errors="replace").removesuffix(patch.diff())
            written.write_text(mail + _commit(work))
        (directory / NAMES).write_text(json.dumps(names))
        shutil.rmtree(work)

    directory = cache.make("merged", key, build)
    return directory / series.file.name, json.loads((directory / NAMES).read_text())


def _start(work: Path, base: Base, series: Series, objects: Path) -> None:
    """A repository with the base's touched files and all blobs of the other repository."""
    work.mkdir()
    git(work, "init", "-q")
    (work / ".git/objects/info/alternates").write_text(f"{objects}\n")
    for name in apply.touched(series):
        if (base.path / name).is_file():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(base.path / name, work / name)
    _commit(work)


def _apply(work: Path, patch: Patch) -> bool:
    """Apply a patch; return whether it had to be merged. UserError if it cannot be."""
    words = ("--index", "--whitespace=nowarn", str(patch.path.resolve()))
    if not run_git(work, "apply", *words).status:
        return False
    finished = run_git(work, "apply", "-3", *words)
    if finished.status:
        said = [f"conflict in {file}" for file in re.findall(r"^U (\S+)$", finished.output, re.M)]
        if not said:
            lacks = "lacks the necessary blob" in finished.output
            said = ["the repository lacks blobs that its index lines name"] if lacks else []
            said.append(apply.refusing_hunks(patch, finished.output))
        what = f"patch {patch.name} cannot be merged"
        remedy = "name its base, or a repository with the blobs that its index lines name"
        raise UserError(what, "\n".join([patch.subject(), *said]), remedy)
    return True


def _commit(work: Path) -> str:
    """Commit the whole work tree; return the diff."""
    git(work, "add", "--all", "--force")
    git(work, "commit", "-q", "--allow-empty", "--message", "merged", env=IDENTITY)
    return git(work, "show", "--format=", "--binary", "--full-index", "--no-renames", "HEAD")
