# SPDX-License-Identifier: GPL-2.0
"""`git bisect` in a clone of its own that has no files: the user's repository is only read."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from quire.host.git import git, run_git

GOOD, BAD, SKIP = "good", "bad", "skip"


def search(repository: Path, good: str, bad: str, judge: Callable[[str], str]) -> list[str]:
    """The first bad commit between two; several if only those are left that are skipped.

    `judge` gets a commit and says GOOD, BAD or SKIP.
    """
    with tempfile.TemporaryDirectory(prefix="quire-bisect-") as directory:
        clone = Path(directory) / "clone"
        # It shares the repository's objects.
        git(repository, "clone", "-q", "--bare", "--shared", str(repository), str(clone))
        said = git(clone, "bisect", "start", "--no-checkout", bad, good)
        while not (found := _answer(said)):
            commit = git(clone, "rev-parse", "BISECT_HEAD").strip()
            # git ends with an error where only skipped revisions are left.
            said = run_git(clone, "bisect", judge(commit), commit).output
        return found


def _answer(said: str) -> list[str]:
    one = re.search(r"^(\w{40,64}) is the first bad commit", said, re.M)
    several = re.search(r"could be any of:\n((?:\w{40,64}\n)+)", said)
    return [one[1]] if one else several[1].split() if several else []
