# SPDX-License-Identifier: GPL-2.0
"""The build directory: each entry is named by a hash of its inputs, and is complete or absent."""

import contextlib
import fcntl
import hashlib
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# What this process has reserved, until it ends.
_RESERVED: dict[Path, IO[str]] = {}
_RESERVING = threading.Lock()
# Long enough to be unique, short enough to read.
KEY_LENGTH = 12
# The remedy where a tree is written and the disk is probably full.
FREE_SPACE = "free some space (a tree needs 1.5 GB), or name another build directory with O=DIR"


def digest(*parts: object) -> str:
    """Return a key for `parts`: strings, bytes, paths (hashed by contents) or JSON-able values."""
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
    """Return the full SHA-256 of a file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Cache:
    """Everything that quire builds, below `root` (kbuild's O=, by default build/)."""

    root: Path

    def path(self, kind: str, key: str) -> Path:
        """Return the entry's path, whether it exists or not."""
        return self.root / kind / key

    def log(self, name: str) -> Path:
        """Return the path of a new log file; remove a previous log of that name."""
        path = self.root / "log" / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        return path

    def make(self, kind: str, key: str, builder: Callable[[Path], None]) -> Path:
        """Return the entry's directory; `builder` fills it if it does not exist.

        The builder works in a temporary directory. This is renamed when the builder returns and
        removed when it raises, so an incomplete entry is never visible.
        """
        final = self.path(kind, key)
        if final.is_dir():
            return final
        with self.lock(kind, key):
            if final.is_dir():
                return final
            # The name is fixed, so this removes leftovers of a killed process.
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
        """Lock the entry; a second quire process waits, and prints what it waits for."""
        path = self.root / "lock" / f"{kind}-{key}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            if not _locked(file):
                print(f"waiting for another quire process ({kind} {key})", file=sys.stderr)
                while not _locked(file):
                    time.sleep(0.2)
            yield

    def reserve(self, kind: str, key: str) -> bool:
        """Reserve the entry for this process until it ends; False if another process has it."""
        path = self.root / "lock" / f"{kind}-{key}"
        # A second open file in this process would conflict with the first one's lock.
        with _RESERVING:
            if path in _RESERVED:
                return True
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a")
            if _locked(file):
                _RESERVED[path] = file
            else:
                file.close()
            return path in _RESERVED


def _locked(file: IO[str]) -> bool:
    """Lock the file; False if another has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
