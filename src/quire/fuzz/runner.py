# SPDX-License-Identifier: GPL-2.0
"""Programs on a kernel: many per boot, in the guest's executor, until each has its record."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quire import machine
from quire.counter import Plugin
from quire.errors import GuestLost
from quire.fuzz import program as language
from quire.fuzz import record
from quire.fuzz.program import Program
from quire.fuzz.record import Record
from quire.guest import Guest, cpio
from quire.kernel import Kernel
from quire.machine import CHATTY, Machine
from quire.run import dry_run

# Where the executor looks for them.
PROGRAMS = "programs"
# Wall-clock seconds: a boot on a busy host, and what a program may take on top on average.
BOOT_SECONDS, PROGRAM_SECONDS = 400.0, 4.0

Records = dict[int, Record]


@dataclass
class Target:
    """A kernel to run programs on, and where its boots leave their logs.

    `parameters` go to the kernel. `boots` and `seconds` add up what was spent.
    """

    kernel: Kernel
    guest: Guest
    directory: Path
    parameters: tuple[str, ...] = ()
    # With a plugin, each program is a region that it counts, by the symbols of that file; what
    # takes the counts gets the file and the programs in the regions' order.
    plugin: Plugin | None = None
    symbols: Path | None = None
    take_counts: Callable[[Path, Sequence[Program]], None] = field(default=lambda *_: None)
    boots: int = 0
    seconds: float = 0.0


def run(target: Target, programs: Mapping[int, Program], losses: int | None = None) -> Records:
    """A record for each program.

    One with which the guest is lost (panic, hang) says so in its record; those behind it run in
    another boot, unless that many were lost already.
    """
    records: Records = {}
    left = dict(programs)
    if dry_run():
        _boot(target, left)
        return records
    while left and (losses is None or sum(bool(r.lost) for r in records.values()) < losses):
        found = _boot(target, left)
        if not found:
            raise GuestLost(
                "the executor began no program",
                f"logs: {target.directory}",
                "read the console log there",
            )
        records |= found
        left = {number: ops for number, ops in left.items() if number not in records}
    return records


def _boot(target: Target, programs: Mapping[int, Program]) -> Records:
    """One boot: the records it brought. The last may tell of the guest's loss."""
    started = time.monotonic()
    initrd = target.directory / "initrd"
    text = "".join(f"program {number}\n{language.text(ops)}" for number, ops in programs.items())
    if not dry_run():
        target.directory.mkdir(parents=True, exist_ok=True)
        initrd.write_bytes(target.guest.initrd.read_bytes() + cpio({PROGRAMS: text.encode()}))
    boot = Machine(
        target.kernel,
        Guest(target.guest.arch, initrd, ""),
        ("fuzz", "cover") if target.plugin else ("fuzz",),
        plugin=target.plugin,
        symbols=target.symbols,
        timeout=BOOT_SECONDS + PROGRAM_SECONDS * len(programs),
        loglevel=CHATTY,
        parameters=target.parameters,
    )
    lost = ""
    try:
        outcome = machine.boot(boot, target.directory)
    except GuestLost as error:
        # A splat without further consequences is in the record of its program.
        lost = error.what
    else:
        if outcome.exit:
            raise GuestLost(
                "the executor gave up", "\n".join(outcome.notes), f"logs: {target.directory}"
            )
    if dry_run():
        return {}
    target.boots += 1
    target.seconds += time.monotonic() - started
    if target.plugin and not lost:
        target.take_counts(target.directory / machine.COUNTS, list(programs.values()))
    results = target.directory / machine.RESULTS
    records = record.read(results.read_text(errors="replace").splitlines())
    for found in records.values():
        if found.lost:
            found.lost = lost or "the executor ended"
    return records


def numbered(programs: Sequence[Program], first: int = 0) -> dict[int, Program]:
    """Programs with numbers from `first` on."""
    return dict(enumerate(programs, first))
