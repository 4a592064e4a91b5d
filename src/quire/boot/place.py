# SPDX-License-Identifier: GPL-2.0
"""Where machines run: here, or on the workers of a cluster (quire.cluster)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from quire.host import process

if TYPE_CHECKING:
    from quire.boot.machine import Machine


@dataclass(frozen=True)
class Ended:
    """How QEMU ended: its exit status, or that it was killed past the machine's time limit."""

    status: int = 0
    hung: bool = False


class Silent(Exception):
    """Neither the console nor the results have grown for the time that the machine allows."""


class Place(Protocol):
    """Runs a machine whose files are laid out in `directory`, and leaves its outputs there."""

    def run(self, machine: Machine, directory: Path, tick: Callable[[], None] | None, /) -> Ended:
        """To its end. What `tick` raises ends the machine."""


class Here:
    """QEMU as a child of this process."""

    def run(self, machine: Machine, directory: Path, tick: Callable[[], None] | None, /) -> Ended:
        """`tick` is called about five times a second."""
        return execute(
            process.Command(
                process.die_with_us(machine.argv(directory)),
                log=directory / "qemu.log",
                timeout=machine.timeout,
            ),
            tick,
            machine.outputs(directory),
            machine.silence,
        )


def execute(
    command: process.Command,
    tick: Callable[[], None] | None,
    growing: Sequence[Path],
    silence: float,
) -> Ended:
    """Run QEMU. Silent if `silence` is not 0 and no file has grown for so many seconds."""
    try:
        status = process.run(command, until_silent(growing, silence, tick)).status
    except process.TimedOut:
        return Ended(hung=True)
    return Ended(status)


def until_silent(
    files: Sequence[Path], seconds: float, tick: Callable[[], None] | None
) -> Callable[[], None] | None:
    """A callback that calls `tick`, and raises Silent when the files are silent for too long."""
    if not seconds:
        return tick
    said, since = [0] * len(files), time.monotonic()

    def look() -> None:
        nonlocal said, since
        if tick:
            tick()
        sizes = [path.stat().st_size if path.exists() else 0 for path in files]
        if sizes != said:
            said, since = sizes, time.monotonic()
        elif time.monotonic() - since > seconds:
            raise Silent(f"the guest hangs: nothing from it for {seconds:.0f} s")

    return look


_place: Place = Here()


def current() -> Place:
    """Where machines run now."""
    return _place


def use(place: Place) -> None:
    """From now on machines run there."""
    global _place  # noqa: PLW0603 -- one process, one place
    _place = place
