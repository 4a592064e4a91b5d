# SPDX-License-Identifier: GPL-2.0
"""Step through states of the sources: a series patch by patch, or revisions of git.

All states are placed in one directory, where only differing files are written, so that kbuild
compiles only these and their dependents. The user's repository is never changed.
"""

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.git import git, run_git
from quire.source import apply, base, version
from quire.source.base import Base
from quire.source.series import Series
from quire.source.tree import OBJDIR_PREFIX, SOURCES, Tree, copy_links

# The kind of build-directory entry: sources that contain O= directories.
KIND = "steps"
# Next to the sources: the paths that may differ from the base, and git's index.
TOUCHED, INDEX = "touched", "index"


@dataclass(frozen=True)
class Step:
    """One state. The tree's label is its short name; all steps share the path."""

    tree: Tree
    subject: str


class Steps(Protocol):
    """A source of steps."""

    def place(self, step: Step) -> None:
        """Put the sources of `step` into the directory, whose lock the caller holds."""


@dataclass(frozen=True)
class OfSeries:
    """A series on a base, after each of its patches."""

    base: Base
    series: Series
    # Shared by all series on that base.
    directory: Path

    def steps(self, first: int = 0) -> list[Step]:
        """Yield the base with the first `first` patches, then with each additional one."""
        steps = []
        for number in range(first, len(self.series.patches) + 1):
            applied = replace(self.series, patches=self.series.patches[:number])
            key = f"{self.base.key}+{applied.key()}" if number else self.base.key
            label, subject = _named(applied, "needed" if number == first else "")
            tree = Tree(key, self.base, applied, self.directory / SOURCES, label)
            steps.append(Step(tree, subject))
        return steps

    def place(self, step: Step) -> None:
        """Place like Steps.place(). UserError if a patch does not apply."""
        sources, note = self.directory / SOURCES, self.directory / TOUCHED
        if not note.exists():
            process.check(process.Command(["rm", "-rf", str(sources)]))
            copy_links(self.base.path, sources)
        # Another series may have changed other files.
        before = note.read_text().splitlines() if note.exists() else []
        names = sorted({*before, *apply.touched(self.series)})
        note.write_text("\n".join(names))
        forget_configuration(sources, names)
        patches = (step.tree.series or self.series).patches
        apply.set_patches(sources, self.base.path, patches, names)


def _named(applied: Series, label: str) -> tuple[str, str]:
    """The label of the last patch and its subject: mremap/0002-mm-more.patch is mremap-0002."""
    if not applied.patches:
        return "stock", "without the series"
    if label:
        return label, f"{len(applied.patches)} patches that the following ones need"
    patch = applied.patches[-1]
    number = re.search(r"(\d+)-[^/]*$", patch.name)
    last = number[1] if number else f"{len(applied.patches):04d}"
    return f"{patch.folder}-{last}" if patch.folder else last, patch.subject()


@dataclass(frozen=True)
class OfGit:
    """Revisions of a repository. `base` is the first one; all use its version."""

    repository: Path
    base: Base

    @classmethod
    def of(cls, cache: Cache, repository: Path, first: str) -> "OfGit":
        """Create the steps of that repository. UserError if it or the revision does not exist, or
        is not a kernel."""
        repository = repository.resolve()
        commit = base.commit(repository, first)
        text = git(repository, "show", f"{commit}:Makefile", what=f"{first} is not a kernel")
        numbers = re.findall(r"^(?:VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)$", text, re.M)
        number = version.parse(".".join(numbers))
        directory = cache.path(KIND, f"git-{digest(str(repository))}")
        origin = f"git {repository} {first}"
        found = Base(f"git-{commit[:16]}", number, origin, f"git:{commit}", directory / SOURCES)
        return cls(repository, found)

    def step(self, commit: str) -> Step:
        """Return the state at a commit, by its hash."""
        tree = Tree(f"git-{commit}", self.base, None, self.base.path, commit[:12])
        return Step(tree, git(self.repository, "show", "-s", "--format=%s", commit).strip())

    def steps(self, last: str) -> list[Step]:
        """Yield the first revision and each later commit up to `last`, along first parents."""
        start, end = self.base.hash.partition(":")[2], base.commit(self.repository, last)
        words = ("rev-list", "--reverse", "--first-parent", f"{start}..{end}")
        return [self.step(commit) for commit in (start, *git(self.repository, *words).split())]

    def files(self, last: str) -> list[str]:
        """List the paths that differ between the first revision and `last`."""
        words = ("diff", "--name-only", "--no-renames", self.base.hash.partition(":")[2])
        return git(self.repository, *words, base.commit(self.repository, last)).splitlines()

    def place(self, step: Step) -> None:
        """Place like Steps.place(), with a separate git index."""
        sources, index = self.base.path, self.base.path.parent / INDEX
        sources.mkdir(parents=True, exist_ok=True)
        # Left by a killed process; the caller holds the lock.
        index.with_name(f"{INDEX}.lock").unlink(missing_ok=True)
        where = git(self.repository, "rev-parse", "--absolute-git-dir").strip()
        env = {"GIT_DIR": where, "GIT_WORK_TREE": str(sources), "GIT_INDEX_FILE": str(index)}
        commit = step.tree.key.removeprefix("git-")
        changed = git(sources, "diff-index", "--cached", "--name-only", commit, env=env)
        forget_configuration(sources, changed.splitlines())
        whole = ("-c", "core.sparseCheckout=false")
        git(sources, *whole, "read-tree", "--reset", "-u", commit, env=env)


def forget_configuration(sources: Path, names: Sequence[str]) -> None:
    """Make the next build reconfigure if one of these files declares options."""
    if any(Path(name).name.startswith("Kconfig") for name in names):
        for config in sources.glob(f"{OBJDIR_PREFIX}*/.config"):
            config.unlink()


GOOD, BAD, SKIP = "good", "bad", "skip"


def bisect(repository: Path, good: str, bad: str, judge: Callable[[str], str]) -> list[str]:
    """Bisect for the first bad commit; return several if only skipped ones are left.

    `judge` gets a commit and says GOOD, BAD or SKIP.
    """
    with tempfile.TemporaryDirectory(prefix="quire-bisect-") as directory:
        clone = Path(directory) / "clone"
        # This clone shares the repository's objects.
        git(repository, "clone", "-q", "--bare", "--shared", str(repository), str(clone))
        said = git(clone, "bisect", "start", "--no-checkout", bad, good)
        while True:
            if one := re.search(r"^(\w{40,64}) is the first bad commit", said, re.M):
                return [one[1]]
            if several := re.search(r"could be any of:\n((?:\w{40,64}\n)+)", said):
                return several[1].split()
            commit = git(clone, "rev-parse", "BISECT_HEAD").strip()
            # git fails if only skipped revisions are left.
            said = run_git(clone, "bisect", judge(commit), commit).output
