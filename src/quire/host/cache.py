# SPDX-License-Identifier: GPL-2.0
"""The build directory: entries named by what went into them, whole or not there at all."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from quire.host import process

# Enough of a SHA-256 to tell entries apart, short enough to read.
KEY_LENGTH = 12


def digest(*parts: object) -> str:
    """A key for `parts`: strings, bytes, paths (their contents) or JSON-able values."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            data = part
        elif isinstance(part, Path):
            data = part.read_bytes()
        else:
            data = json.dumps(part, sort_keys=True).encode()
        total.update(f"{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()[:KEY_LENGTH]


def sha256(path: Path) -> str:
    """The SHA-256 of a file's contents, in full."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Cache:
    """Everything quire makes lies under `root` (kbuild's O=, by default build/)."""

    root: Path

    def path(self, kind: str, key: str) -> Path:
        """Where the entry is or would be."""
        return self.root / kind / key

    def log(self, name: str) -> Path:
        """A fresh log file of that name; the previous one is overwritten."""
        path = self.root / "log" / f"{name}.log"
        process.do(path.parent.mkdir, parents=True, exist_ok=True)
        process.do(path.unlink, missing_ok=True)
        return path

    def make(self, kind: str, key: str, builder: Callable[[Path], None]) -> Path:
        """The entry's directory; `builder` fills a new one if it is not there yet.

        The builder works in a temporary directory that is renamed when it returns and removed
        when it raises, so a half-made entry is never seen.
        """
        final = self.path(kind, key)
        if final.is_dir():
            return final
        if process.dry_run():
            # The builder only prints its commands, with the paths they would end up with.
            builder(final)
            return final
        with self.lock(kind, key):
            if final.is_dir():
                return final
            # Its name is fixed: what a killed process left behind is cleared here.
            temporary = final.parent / f".{key}.new"
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
            try:
                builder(temporary)
                temporary.rename(final)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
        return final

    @contextlib.contextmanager
    def lock(self, kind: str, key: str) -> Iterator[None]:
        """Hold the entry's lock; a second quire process waits, and says for what."""
        path = self.root / "lock" / f"{kind}-{key}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            said = False
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not said:
                        print(f"waiting for another quire ({kind} {key})", file=sys.stderr)
                        said = True
                    time.sleep(0.2)
            yield
