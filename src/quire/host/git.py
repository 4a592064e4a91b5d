# SPDX-License-Identifier: GPL-2.0
"""git, called so that neither the user's nor the host's settings change what it does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from quire.host import process
from quire.host.errors import UserError

# No settings of the user or the host: they change what git accepts and prints.
PLAIN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
# The same base gives the same commit, whoever makes it.
IDENTITY = {
    "GIT_AUTHOR_NAME": "Quire",
    "GIT_AUTHOR_EMAIL": "quire@localhost",
    "GIT_AUTHOR_DATE": "1970-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Quire",
    "GIT_COMMITTER_EMAIL": "quire@localhost",
    "GIT_COMMITTER_DATE": "1970-01-01T00:00:00Z",
}


def run_git(directory: Path, *args: str, env: Mapping[str, str] | None = None) -> process.Finished:
    """Run git in `directory`, whatever the status."""
    return process.run(process.Command(["git", *args], cwd=directory, env={**PLAIN, **(env or {})}))


def git(directory: Path, *args: str, env: Mapping[str, str] | None = None) -> str:
    """Run git in `directory`; its output. UserError with its complaint when it fails."""
    finished = run_git(directory, *args, env=env)
    if finished.status:
        raise UserError(
            f"git {args[0]} failed in {directory}", finished.output.strip()[-1500:], "see above"
        )
    return finished.output
