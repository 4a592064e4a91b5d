# SPDX-License-Identifier: GPL-2.0
"""Files by the hash of their contents: kernels, guests and plugins, once on each host."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from quire.host.errors import UserError


class Blobs:
    """A directory of blobs. A file is there whole or not at all."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def path(self, sha: str) -> Path:
        """The blob's path, whether it is there or not."""
        return self._directory / sha

    def has(self, sha: str) -> bool:
        """Whether it is there."""
        return self.path(sha).is_file()

    def put(self, sha: str, data: bytes) -> None:
        """Keep a blob. UserError if it is another one."""
        if hashlib.sha256(data).hexdigest() != sha:
            raise UserError("a file has changed on its way", sha, "run it again")
        self._directory.mkdir(parents=True, exist_ok=True)
        partial = self._directory / f".{sha}.{os.getpid()}.{threading.get_ident()}"
        try:
            partial.write_bytes(data)
            partial.replace(self.path(sha))
        finally:
            partial.unlink(missing_ok=True)

    def fetched(self, sha: str, fetch: Callable[[str], bytes]) -> Path:
        """The blob's path; fetched once if it is not there."""
        with self._lock:
            lock = self._locks.setdefault(sha, threading.Lock())
        with lock:
            if not self.has(sha):
                self.put(sha, fetch(sha))
        return self.path(sha)
