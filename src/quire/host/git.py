# SPDX-License-Identifier: GPL-2.0
"""Run git independently of the user's and the host's settings."""

import os
from collections.abc import Mapping
from pathlib import Path

from quire.host import process
from quire.host.errors import UserError

# User or host settings would change what git accepts and prints.
PLAIN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
# The same base always gives the same commit.
IDENTITY = {
    "GIT_AUTHOR_NAME": "Quire",
    "GIT_AUTHOR_EMAIL": "quire@localhost",
    "GIT_AUTHOR_DATE": "1970-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Quire",
    "GIT_COMMITTER_EMAIL": "quire@localhost",
    "GIT_COMMITTER_DATE": "1970-01-01T00:00:00Z",
}


def run_git(directory: Path, *args: str, env: Mapping[str, str] | None = None) -> process.Finished:
    """Run git in `directory`; return its status and output, even on failure."""
    return process.run(process.Command(["git", *args], cwd=directory, env={**PLAIN, **(env or {})}))


def git(
    directory: Path,
    *args: str,
    env: Mapping[str, str] | None = None,
    what: str = "",
    remedy: str = "see above",
) -> str:
    """Run git in `directory`; return its output. UserError with git's message when it fails."""
    command = process.Command(["git", *args], cwd=directory, env={**PLAIN, **(env or {})})
    what = what or f"git {args[0]} failed in {directory}"
    return process.check(command, what, remedy, UserError)
