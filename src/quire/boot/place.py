# SPDX-License-Identifier: GPL-2.0
"""Where machines run: here, or on the workers of a cluster (quire.cluster)."""

from __future__ import annotations

from collections.abc import Callable
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
        )


def execute(command: process.Command, tick: Callable[[], None] | None) -> Ended:
    """Run QEMU, to its end or to the command's time limit."""
    try:
        return Ended(process.run(command, tick).status)
    except process.TimedOut:
        return Ended(hung=True)


_place: Place = Here()


def current() -> Place:
    """Where machines run now."""
    return _place


def use(place: Place) -> None:
    """From now on machines run there."""
    global _place  # noqa: PLW0603 -- one process, one place
    _place = place
