# SPDX-License-Identifier: GPL-2.0
"""A call as it travels: a function of ours, its arguments, and the files that they name.

Paths below the client's build directory become the same paths below the worker's. Other files
travel with the call.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from quire.host import process
from quire.host.cache import Cache, sha256
from quire.host.errors import QuireError
from quire.source.tree import OBJDIR_PREFIX, SOURCES

# Below the build directory, and elsewhere.
_BUILT, _OTHER = "built", "other"
# The archive of an entry of the build directory.
ARCHIVE = "entry.tar.gz"


@dataclass(frozen=True)
class Call:
    """`function(cache, jobs, *arguments)`, with the worker's cache and its number of processors.

    It returns a list of things with a `trouble` that may name a log. `entries` are directories of
    the build directory that it needs: sources.
    """

    name: str
    function: Callable[..., Sequence[Any]]
    arguments: tuple[Any, ...]
    entries: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Order:
    """A call, pickled; its files, compressed; its entries by the hash of their archives."""

    name: str
    pickled: bytes
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    entries: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """What a worker made of an order: what the function returned or raised, and its logs.

    `root` is the worker's build directory, which is part of the logs' paths.
    """

    worker: str
    root: str
    found: Sequence[Any] = ()
    error: QuireError | None = None
    logs: dict[str, bytes] = field(default_factory=dict)


def of(call: Call, cache: Cache, put: Callable[[str, Path], None]) -> Order:
    """The order of a call; `put` gets each archive to travel by its hash."""
    entries = {}
    for entry in call.entries:
        archive = _archive(cache, entry)
        key = sha256(archive)
        put(key, archive)
        entries[str(entry.relative_to(cache.root))] = key
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, cache.root, call.entries)
    pickler.dump((call.function, call.arguments))
    return Order(call.name, buffer.getvalue(), pickler.files, entries)


def _archive(cache: Cache, entry: Path) -> Path:
    """An entry without its compiled objects, as one file."""

    def build(directory: Path) -> None:
        argv = ["tar", "-C", str(entry), f"--exclude=./{SOURCES}/{OBJDIR_PREFIX}*"]
        argv += ["--use-compress-program=gzip -1", "-cf", str(directory / ARCHIVE), "."]
        process.check(process.Command(argv))

    return cache.make("archive", entry.name, build) / ARCHIVE


def read(order: Order, cache: Cache, scratch: Path) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function and its arguments, with paths of this host; files go below `scratch`."""
    for where, data in order.files.items():
        path = _place(where, cache.root, scratch)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(data))
    function, arguments = _Unpickler(io.BytesIO(order.pickled), cache.root, scratch).load()
    return function, arguments


def unpack(order: Order, cache: Cache, fetch: Callable[[str], Path]) -> None:
    """The entries of an order in the worker's build directory, each once."""
    for name, key in order.entries.items():

        def build(directory: Path, key: str = key) -> None:
            process.check(process.Command(["tar", "-C", str(directory), "-xzf", str(fetch(key))]))

        kind, _, entry = name.partition("/")
        cache.make(kind, entry, build)


def received(reply: Reply, cache: Cache) -> Sequence[Any]:
    """What the call has returned, with its logs where a call here leaves them; or its error."""

    def here(text: str) -> str:
        return text.replace(reply.root, str(cache.root))

    for name, data in reply.logs.items():
        path = Path(here(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(data))
    if reply.error:
        reply.error.where = here(reply.error.where)
        raise reply.error
    return [replace(one, trouble=here(one.trouble)) for one in reply.found]


def _place(where: tuple[str, str], root: Path, scratch: Path) -> Path:
    kind, name = where
    return root / name if kind == _BUILT else scratch / name.lstrip("/")


class _Pickler(pickle.Pickler):
    """Replaces paths, and keeps the files that they name unless they are part of an entry."""

    def __init__(self, file: io.BytesIO, root: Path, entries: Sequence[Path]) -> None:
        super().__init__(file)
        self.files: dict[tuple[str, str], bytes] = {}
        self._root, self._entries = root, entries

    def persistent_id(self, obj: object) -> tuple[str, str] | None:
        """The kind and the name of a path."""
        if not isinstance(obj, Path):
            return None
        built = obj.is_relative_to(self._root)
        where = (_BUILT, str(obj.relative_to(self._root))) if built else (_OTHER, str(obj))
        if obj.is_file() and not any(obj.is_relative_to(entry) for entry in self._entries):
            self.files[where] = zlib.compress(obj.read_bytes())
        return where


class _Unpickler(pickle.Unpickler):
    """Makes paths of this host."""

    def __init__(self, file: io.BytesIO, root: Path, scratch: Path) -> None:
        super().__init__(file)
        self._root, self._scratch = root, scratch

    def persistent_load(self, pid: tuple[str, str]) -> Path:
        """The path of a kind and a name."""
        return _place(pid, self._root, self._scratch)
