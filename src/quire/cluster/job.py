# SPDX-License-Identifier: GPL-2.0
"""A boot as it travels: QEMU's command line, and its files by hash or, if small, as they are."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from quire.boot import machine
from quire.boot.launch import Ended
from quire.boot.machine import Machine
from quire.host.cache import sha256

# In the command line, in place of a path: an input's number, and the directory of outputs.
INPUT, OUTPUT = "@quire-input-{}@", "@quire-output@"
# The largest file that travels with its job.
SMALL = 16384
OUTPUTS = (machine.RESULTS, machine.CONSOLE, machine.COUNTS, machine.STOPS, "qemu.log")


@dataclass(frozen=True)
class Input:
    """A file: the blob that it begins with, if any, and what follows, compressed."""

    sha256: str = ""
    tail: bytes = b""


@dataclass(frozen=True)
class Job:
    """One boot. `qemu` is the version that the worker must have."""

    name: str
    argv: tuple[str, ...]
    inputs: tuple[Input, ...]
    qemu: str
    timeout: float
    silence: float


@dataclass(frozen=True)
class Outcome:
    """What a worker made of a job: how QEMU ended, and its outputs, compressed."""

    worker: str
    ended: Ended
    # Why the guest counts as silent, or empty.
    silent: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


def of(boot: Machine, directory: Path, qemu: str, put: Callable[[str, Path], None]) -> Job:
    """The job of a machine whose files are laid out; `put` gets each file to travel by its hash."""
    argv = boot.argv(directory)
    inputs = []
    for number, path in enumerate(boot.inputs(directory)):
        argv = [word.replace(str(path), INPUT.format(number)) for word in argv]
        inputs.append(_input(path, boot.guest.begins_with if boot.guest else None, put))
    words = tuple(word.replace(str(directory), OUTPUT) for word in argv)
    return Job(directory.name, words, tuple(inputs), qemu, boot.timeout, boot.silence)


def _input(path: Path, known: Path | None, put: Callable[[str, Path], None]) -> Input:
    size = path.stat().st_size
    if size <= SMALL:
        return Input(tail=zlib.compress(path.read_bytes()))
    if known and known.stat().st_size <= size and known != path:
        head, data = known.read_bytes(), path.read_bytes()
        if data.startswith(head):
            key = sha256(known)
            put(key, known)
            return Input(key, zlib.compress(data[len(head) :]))
    key = sha256(path)
    put(key, path)
    return Input(key)


def unpack(outcome: Outcome, directory: Path) -> None:
    """Write the outputs where the boot would have left them."""
    for name in OUTPUTS:
        (directory / name).unlink(missing_ok=True)
    for name, data in outcome.files.items():
        (directory / name).write_bytes(zlib.decompress(data))


def pack(directory: Path) -> dict[str, bytes]:
    """The outputs of a boot, compressed."""
    found = (directory / name for name in OUTPUTS)
    return {path.name: zlib.compress(path.read_bytes(), 6) for path in found if path.is_file()}
