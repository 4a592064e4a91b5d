# SPDX-License-Identifier: GPL-2.0
"""Run a machine, here or elsewhere, and judge how it ended."""

import itertools
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quire.boot import results, splat, start
from quire.boot.machine import CHANGES, COMMAND, CONSOLE, LOG, RESULTS, Machine
from quire.boot.results import Results
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import GuestLost
from quire.kernels.kernel import Kernel

# Bytes. The suites write a third of a MiB; an endlessly repeating fault would fill the disk.
FLOOD = 8 << 20


@dataclass(frozen=True)
class Ended:
    """How the command ended: its exit status, or why it was killed."""

    status: int = 0
    killed: str = ""


class Flooded(Exception):
    """The console is longer than that of any normal boot."""


class Silent(Exception):
    """Neither the console nor the results grew for the time that the machine allows."""


class Place(Protocol):
    """A place to run machines: here, or the workers of a cluster (quire.cluster)."""

    @property
    def machines(self) -> int:
        """The number of machines that run at once."""

    def run(self, machine: Machine, directory: Path, tick: Callable[[], None] | None, /) -> Ended:
        """Run a machine whose files are in `directory`, and leave its outputs there.

        Exceptions from `tick` end the machine.
        """


@dataclass(frozen=True)
class Here:
    """Run machines as children of this process. A machine with one CPU keeps one core busy."""

    machines: int = 1

    def run(self, machine: Machine, directory: Path, tick: Callable[[], None] | None, /) -> Ended:
        """Run the command; `tick` is called about five times a second."""
        return execute(
            process.Command(
                start.command(machine, directory),
                log=directory / LOG,
                timeout=machine.timeout,
            ),
            tick,
            machine.outputs(directory),
            machine.silence,
        )


HERE = Here()


def execute(
    command: process.Command,
    tick: Callable[[], None] | None,
    growing: Sequence[Path],
    silence: float,
) -> Ended:
    """Run the command. Raise Silent if no file grew for `silence` seconds, unless that is 0."""
    try:
        status = process.run(command, watching(growing, silence, tick)).status
    except process.TimedOut:
        return Ended(killed=f"the guest hung: not finished after {command.timeout or 0:.0f} s")
    except Flooded:
        return Ended(killed=f"the guest's console output exceeds {FLOOD >> 20} MiB")
    return Ended(status)


def watching(
    files: Sequence[Path], silence: float, tick: Callable[[], None] | None
) -> Callable[[], None]:
    """Return a callback that calls `tick`, and raises Flooded or Silent, as execute() does."""
    said, since = [0] * len(files), time.monotonic()

    def look() -> None:
        nonlocal said, since
        if tick:
            tick()
        sizes = [path.stat().st_size if path.exists() else 0 for path in files]
        consoles = (size for size, path in zip(sizes, files, strict=True) if path.name == CONSOLE)
        if max(consoles, default=0) > FLOOD:
            raise Flooded
        if sizes != said:
            said, since = sizes, time.monotonic()
        elif silence and time.monotonic() - since > silence:
            raise Silent(f"the guest hangs: no output for {silence:.0f} s")

    return look


def boot(
    machine: Machine, place: Place, directory: Path, tick: Callable[[], None] | None = None
) -> Results:
    """Run the machine to its end in `directory`, which receives console, results and counts.

    `tick` is called periodically while it runs.
    GuestLost when it panics, hangs, prints a splat or ends without its `exit` line. The caller
    checks what the guest itself reports (failed verification, exit status).
    """
    return judge(machine, directory, run(machine, place, directory, tick))


def console(machine: Machine, place: Place, directory: Path) -> str:
    """Boot like boot() a machine that may leave no results, and return its console for the caller
    to judge."""
    text = _sound(machine, directory, run(machine, place, directory))
    return text.replace("\r", "")


def run(
    machine: Machine, place: Place, directory: Path, tick: Callable[[], None] | None = None
) -> Ended:
    """Run the machine to its end, and store the command with its logs."""
    text = process.Command(start.command(machine, directory)).text()
    machine.lay_out(directory)
    (directory / COMMAND).write_text(text + "\n")
    try:
        return place.run(machine, directory, tick)
    finally:
        (directory / CHANGES).unlink(missing_ok=True)


def interact(machine: Machine, directory: Path) -> int:
    """Run the machine with its console on our terminal; return the command's status.

    The child stays in our process group, which it needs to read from the terminal.
    """
    return process.interact(process.Command(start.command(machine, directory, terminal=True)))


def judge(machine: Machine, directory: Path, ended: Ended) -> Results:
    """Return the results; GuestLost if the boot is not trustworthy."""
    _sound(machine, directory, ended)
    reported = results.parse(read(directory / RESULTS))
    if reported.exit is None:
        emulator = machine.kernel.arch.emulator
        what = f"the guest ended without a verdict ({emulator}: {ended.status})"
        raise lost(machine, directory, what)
    return reported


def _sound(machine: Machine, directory: Path, ended: Ended) -> str:
    """The console; GuestLost if the kernel complained or hung."""
    text = read(directory / CONSOLE)
    if complaint := splat.find(text):
        raise lost(machine, directory, f"the guest printed a splat ({complaint.kind})", complaint)
    if ended.killed:
        raise lost(machine, directory, ended.killed)
    return text


def lost(
    machine: Machine, directory: Path, what: str, complaint: splat.Splat | None = None
) -> GuestLost:
    """Return the error: the last console lines, decoded where possible, and the path of the whole
    log."""
    console = read(directory / CONSOLE)
    shown = decode(machine.kernel, splat.excerpt(console, complaint)) or "(the console is empty)"
    command = process.tail(directory / LOG, 3) if not console else ""
    said = read(directory / RESULTS).strip().splitlines()[-3:]
    where = [f"{machine.kernel.arch.name} {machine.kernel.tree.label}: {' '.join(machine.init)}"]
    where += [f"| {line}" for line in [*shown.splitlines(), *command.splitlines()]]
    where += [f"results: {line}" for line in said]
    where += [f"whole log: {directory / CONSOLE}"]
    return GuestLost(
        what, "\n".join(where), f"read the log; to boot it again: sh {directory / COMMAND}"
    )


def decode(kernel: Kernel, text: str) -> str:
    """Add file and line to stack lines with the kernel's own script, given debug information."""
    script = kernel.tree.path / "scripts/decode_stacktrace.sh"
    told = kernel.enables("CONFIG_DEBUG_INFO") and script.exists() and shutil.which("awk")
    if not told:
        return text
    command = ["bash", "-c", '"$1" "$2" "$3" <<<"$4"', "decode", str(script)]
    command += [str(kernel.objdir / "vmlinux"), str(kernel.tree.path), text]
    env = {"CROSS_COMPILE": kernel.toolchain.cross_compile}
    try:
        finished = process.run(process.Command(command, env=env, timeout=60))
    except process.TimedOut:
        return text
    return finished.output if finished.status == 0 and finished.output else text


def workdir(cache: Cache, name: str) -> Path:
    """Return the directory for a boot of that name, which keeps a lost guest's files.

    If another quire process uses it, append a number to the name.
    """
    number = next(number for number in itertools.count(1) if cache.reserve("boots", str(number)))
    suffix = f"-{number}" if number > 1 else ""
    directory = cache.root / "boot" / (re.sub(r"[^A-Za-z0-9.=_-]+", "-", name) + suffix)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def read(path: Path) -> str:
    """Read a file that a machine writes; empty if it does not exist yet."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
