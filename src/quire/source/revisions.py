# SPDX-License-Identifier: GPL-2.0
"""Read revisions of a repository, reduced to the files that our series touch. It may be bare, and
may lack other files."""

import contextlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host.git import git, run_git
from quire.source import apply, line, version

# version.of_tree() needs these, or directories of these names.
MAKEFILES = ("Makefile", "Kbuild")
DIRECTORIES = ("mm", "arch")


@dataclass(frozen=True)
class Revision:
    """A commit of a repository, by any name."""

    repository: Path
    name: str

    @property
    def commit(self) -> str:
        """Return its hash. UserError if there is no such commit."""
        words = ("rev-parse", "--verify", "--end-of-options", f"{self.name}^{{commit}}")
        what = f"{self.repository} has no commit {self.name}"
        return git(self.repository, *words, what=what, remedy="name another revision").strip()


def names(root: Path) -> list[str]:
    """List every file that a series of the project touches or that distinguishes trees."""
    found = set(MAKEFILES)
    for _, one in line.all_series(root):
        found.update(apply.touched(one))
        found.update([one.trees] if one.trees else [])
    return sorted(found)


@contextlib.contextmanager
def files(revision: Revision, wanted: Sequence[str]) -> Iterator[Path]:
    """Create a directory with these files of a revision, where they exist."""
    commit = revision.commit
    words = ("ls-tree", "-r", "--name-only", commit, "--", *wanted)
    with tempfile.TemporaryDirectory(prefix="quire-fit-") as directory:
        tree = Path(directory)
        for name in (*DIRECTORIES, *git(revision.repository, *words).split()):
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name in DIRECTORIES:
                path.mkdir(exist_ok=True)
            else:
                shown = git(revision.repository, "show", f"{commit}:{name}")
                path.write_text(shown)
        yield tree


def versions(repository: Path, root: Path) -> Iterator[Revision]:
    """Find the first commit of each version that has a series, oldest first."""
    ranges = [one.versions for _, one in line.all_series(root)]
    seen = set()
    for commit in git(repository, "log", "--reverse", "--format=%H", "--", "Makefile").split():
        text = run_git(repository, "show", f"{commit}:Makefile").output
        settings = [re.search(rf"^{key} *= *(\d+)$", text, re.M) for key in version.NUMBERS]
        if all(settings):
            number = version.Version(*(int(found[1]) for found in settings if found))
            if number not in seen and any(number in one for one in ranges):
                seen.add(number)
                yield Revision(repository, commit)
