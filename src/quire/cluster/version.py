# SPDX-License-Identifier: GPL-2.0
"""Which code a process of the cluster runs: all must be the same."""

from __future__ import annotations

import functools
from pathlib import Path

import quire
from quire.host.cache import digest


@functools.cache
def ours() -> str:
    """The version, and a digest of all of quire's own files."""
    root = Path(quire.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.suffix in (".py", ".toml"))
    return f"{quire.__version__}-{digest([str(path.relative_to(root)) for path in files], *files)}"
