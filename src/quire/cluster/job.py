# SPDX-License-Identifier: GPL-2.0
"""Define a job: a command, its input files, and its output files.

It runs in its own directory, on any host; its files' names are relative to that directory. Contents
are sent separately from the job, by their SHA-256.
"""

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quire.boot import launch, machine, start
from quire.boot.launch import Ended, Silent
from quire.boot.machine import Machine
from quire.host import process
from quire.host.cache import sha256
from quire.host.errors import UserError

OUTPUTS = (machine.RESULTS, machine.CONSOLE, machine.COUNTS, machine.STOPS, machine.LOG)
# A resource that each worker has once; jobs that run alone require it.
ALONE = {"alone": 1}

# Files by the hash of their contents.
Contents = dict[str, Path]
Tick = Callable[[], None]


@dataclass(frozen=True)
class File:
    """A file: shared contents, and the compressed remainder."""

    name: str
    sha256: str
    tail: bytes = b""


@dataclass(frozen=True)
class RemoteJob:
    """A command and its files.

    `same`: commands whose first line of output must match the client's. PYTHON, BUILD (a build
    directory) and JOBS in the command's environment are the worker's. Logs in that directory that
    the outputs name are also outputs.
    """

    name: str
    argv: tuple[str, ...]
    outputs: tuple[str, ...]
    same: tuple[tuple[tuple[str, ...], str], ...] = ()
    files: tuple[File, ...] = ()
    timeout: float | None = None
    silence: float = 0.0


@dataclass(frozen=True)
class RemoteOutcome:
    """A job's end, the reason if a guest counts as silent, and the compressed outputs."""

    worker: str
    ended: Ended = field(default_factory=Ended)
    silent: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    build: str = ""

    def write(self, directory: Path, names: Iterable[str]) -> None:
        """Write outputs where the command would have left them locally."""
        for name in names:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(zlib.decompress(self.files[name]))

    def text(self, name: str, build: Path) -> str:
        """Return an output with another build directory instead of the worker's."""
        return zlib.decompress(self.files[name]).decode().replace(self.build, str(build))


def boot(what: Machine, directory: Path, contents: Contents) -> RemoteJob:
    """Return the job of a machine whose files are in `directory`."""
    argv, files = start.argv(what, Path()), []
    for number, path in enumerate(what.inputs(directory)):
        # QEMU looks for a plugin without a slash in the system's directories.
        name = path.name if path.parent == directory else f"in/{number}"
        argv = [word.replace(str(path), name) for word in argv]
        files.append(sent(name, path, contents, what.guest.begins_with if what.guest else None))
    qemu, limits = what.kernel.arch.qemu, (what.timeout, what.silence)
    tools = (same(qemu, "--version") if qemu else same("uname", "-m"),)
    return RemoteJob(directory.name, tuple(argv), OUTPUTS, tools, tuple(files), *limits)


def sent(name: str, path: Path, contents: Contents, begin: Path | None = None) -> File:
    """Prepare a file for sending; if it extends another file, that one and the rest."""
    tail = b""
    if begin and path.read_bytes().startswith(head := begin.read_bytes()):
        path, tail = begin, zlib.compress(path.read_bytes()[len(head) :])
    contents[key := sha256(path)] = path
    return File(name, key, tail)


def same(*argv: str) -> tuple[tuple[str, ...], str]:
    """Return a command with the first line of its output."""
    return argv, process.first_line(*argv)


def carry_out(
    job: RemoteJob, data: Mapping[str, bytes], directory: Path, env: Mapping[str, str], tick: Tick
) -> RemoteOutcome:
    """Run a job in an empty directory. Exceptions from `tick` end it.

    UserError if this host's tools differ from the client's, or if a checksum is wrong.
    """
    for argv, line in job.same:
        if (here := same(*argv)[1]) != line:
            what, remedy = (
                f"a worker has another version of {argv[0]}",
                "install the same version everywhere",
            )
            raise UserError(what, f"{here}; the client has {line}", remedy)
    for file in job.files:
        head = data[file.sha256]
        if hashlib.sha256(head).hexdigest() != file.sha256:
            raise UserError("checksum mismatch in transfer", file.name, "run it again")
        (path := directory / file.name).parent.mkdir(exist_ok=True)
        path.write_bytes(head + zlib.decompress(file.tail) if file.tail else head)
        # The kernel may be an executable.
        path.chmod(0o755)
    words, log = process.die_with_us(job.argv), directory / OUTPUTS[-1]
    command = process.Command(words, directory, env, log, timeout=job.timeout)
    growing = [directory / name for name in OUTPUTS[:2]]
    ended, silent = Ended(), ""
    try:
        ended = launch.execute(command, tick, growing, job.silence)
    except Silent as error:
        silent = str(error)
    paths = {name: path for name in job.outputs if (path := directory / name).is_file()}
    text = b"\n".join(path.read_bytes() for path in paths.values()).decode(errors="replace")
    logs = re.findall(rf"whole log: {env['BUILD']}/([^\s\"\\]+)", text)
    paths |= {name: path for name in logs if (path := Path(env["BUILD"], name)).is_file()}
    files = {name: zlib.compress(path.read_bytes()) for name, path in paths.items()}
    return RemoteOutcome("", ended, silent, files, env["BUILD"])
