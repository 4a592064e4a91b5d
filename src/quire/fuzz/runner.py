# SPDX-License-Identifier: GPL-2.0
"""Run programs on a kernel, many per boot, in the guest's executor, until each has its record."""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.arch import Architecture
from quire.boot import launch, machine, splat
from quire.boot.counts import Stop
from quire.boot.launch import HERE, Place, Silent
from quire.boot.machine import CHATTY, Counting, Hardware, Machine
from quire.fuzz.language import program as language
from quire.fuzz.language import record
from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.language.record import Record
from quire.host import parallel
from quire.host.errors import GuestLost
from quire.kernels.guest import Guest, cpio
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.source.side import Sides
from quire.source.tree import Tree

PROGRAMS = "programs"  # the file in the initramfs that the executor reads
# Programs need little memory, and the host clears what they touch. Those that offline memory need
# more; only blocks of ZONE_MOVABLE reliably go offline.
MEMORY, MORE_MEMORY, MOVABLE = "512M", "1536M", {"x86_64": ("movablecore=1G",)}
# Wall-clock seconds for a boot on a busy host, and on average for each program. A guest without
# output for this long hangs: a program takes a tenth of a second.
BOOT_SECONDS, PROGRAM_SECONDS, SILENT_SECONDS = 400.0, 4.0, 150.0
# An endless loop in the kernel becomes a panic after 3 virtual seconds, the least possible.
STALLS = ("rcupdate.rcu_cpu_stall_timeout=3", "sysctl.kernel.panic_on_rcu_stall=1")
# Swap devices, by the executor's names. `block` is a null_blk device.
ZRAM, BLOCK, NONE = SWAPS = ("zram", "block", "none")

Records = dict[int, Record]
# The records of one kernel or of both sides.
Runs = tuple[Records, ...]
# Gets each record as soon as it is complete; True ends the boot.
Watch = Callable[[int, Record], bool]


@dataclass(frozen=True)
class Probe:
    """What the plugin counts in a boot, and what becomes of it.

    `word` tells the executor what a region is: a program (`cover`) or an operation (`cost`).
    `take` gets the boot's directory, its programs in their order, and whether it ran to its end,
    and returns the stops of operations.
    """

    counting: Counting
    word: str
    take: Callable[[Path, Sequence[Program], bool], Sequence[Stop]]
    parameters: tuple[str, ...] = ()  # further kernel parameters


@dataclass
class Target:
    """A kernel to run programs on, its guest, and the directory where its boots leave their logs.

    `parameters` go to the kernel. `swap` is one of SWAPS. `spent` has the seconds of each boot.
    """

    kernel: Kernel
    guest: Guest
    directory: Path
    parameters: tuple[str, ...] = ()
    probe: Probe | None = None
    swap: str = ZRAM
    place: Place = HERE
    backwards: bool = False  # the programs of a boot run from the last to the first
    spent: list[float] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The side's name in reports and logs: the tree, and unusual settings."""
        return " ".join((self.kernel.tree.label, *self.parameters, *self._swap))

    @property
    def init(self) -> tuple[str, ...]:
        """The executor's arguments."""
        return ("fuzz", *((self.probe.word,) if self.probe else ()), *self._swap)

    def counting(self, symbols: bool) -> "Target":
        """Return the same, with or without counts by symbol, if it counts."""
        if not self.probe:
            return self
        counting = replace(self.probe.counting, detail=symbols)
        return replace(self, probe=replace(self.probe, counting=counting))

    @property
    def _swap(self) -> tuple[str, ...]:
        return (f"swap={self.swap}",) if self.swap != ZRAM else ()


@dataclass(frozen=True)
class Targets:
    """The kernels that run the same programs: one, or sides a and b. The last is under test."""

    all: tuple[Target, ...]

    @property
    def tried(self) -> Target:
        return self.all[-1]

    @property
    def arch(self) -> Architecture:
        return self.tried.kernel.arch

    @property
    def labels(self) -> tuple[str, ...]:
        """The kernels' names in reports and logs."""
        return tuple(target.label for target in self.all)

    @property
    def boots(self) -> int:
        return sum(len(target.spent) for target in self.all)

    def rate(self, programs: int) -> float:
        """Return programs per minute of a boot."""
        spent = sum(sum(target.spent) for target in self.all)
        return programs * len(self.all) * 60 / spent if spent else 0.0

    def on_each(self, work: Callable[[Target], Records]) -> Runs:
        """Return the records that `work` produces on each kernel."""
        return tuple(
            parallel.side_by_side(self.all, work, lambda *_: None, self.tried.place.machines)
        )

    def run(self, programs: Numbered, losses: int | None = None, *, symbols: bool = False) -> Runs:
        """Return the records of each. The one on trial stops after `losses` lost guests.

        `symbols`: what operations cost is counted by symbol, too, which takes time.
        """
        most = {id(self.tried): losses}
        return self.on_each(
            lambda target: run(target.counting(symbols), programs, most.get(id(target)))
        )

    def with_parameters(self, *parameters: str) -> "Targets":
        """Return the same, with these parameters on trial."""
        tried = replace(self.tried, parameters=parameters)
        return replace(self, all=(*self.all[:-1], tried))

    def apart(self, name: str) -> "Targets":
        """Return the same kernels with separate directories, for parallel boots."""
        apart = (replace(target, directory=target.directory / name) for target in self.all)
        return replace(self, all=tuple(apart))

    def remove(self) -> None:
        for target in self.all:
            shutil.rmtree(target.directory, ignore_errors=True)


def prepare(
    session: Session, arch: Architecture, sides: Sides, *, alone: bool, noise: bool, swap: str
) -> Targets:
    """Return the kernels of both sides, or of side b `alone`, built; for noise, side a twice."""

    def target(tree: Tree) -> Target:
        kernel, use = session.kernel(arch, tree), "oracle" if alone else "fuzz"
        directory = launch.workdir(session.cache, f"{use}-{arch.name}-{tree.path.parent.name}")
        return Target(kernel, session.guest(kernel), directory, swap=swap, place=session.place)

    if alone:
        return Targets((target(sides.b.tree),))
    a = target(sides.a.tree)
    if not noise and sides.a is not sides.b:
        return Targets((a, target(sides.b.tree)))
    # Noise must not depend on the order of the programs.
    again = launch.workdir(session.cache, f"fuzz-{arch.name}-again")
    return Targets((a, replace(a, directory=again, backwards=noise, spent=[])))


class Enough(Exception):
    """The watch saw what it waited for."""


class Complaint(Exception):
    """The kernel complains, during a boot with a watch."""


def run(
    target: Target, programs: Numbered, losses: int | None = None, watch: Watch | None = None
) -> Records:
    """Return a record for each program. GuestLost: a boot begins none, or the executor gives up.

    If a program loses the guest (panic, hang), its record says so, and the programs after it run
    in another boot, up to `losses` times. When `watch` returns True, nothing further runs.
    """
    records: Records = {}
    left = dict(programs)
    while left and (losses is None or sum(bool(r.lost) for r in records.values()) < losses):
        booted, enough = _boot(target, left, watch)
        if not booted:
            what, remedy = "the executor started no program", "read its console log"
            raise GuestLost(what, f"logs: {target.directory}", remedy)
        records |= booted
        if enough:
            break
        left = {number: ops for number, ops in left.items() if number not in records}
    return records


def _boot(target: Target, programs: Numbered, watch: Watch | None) -> tuple[Records, bool]:
    """Boot once. Return the records, and whether the watch ended it.

    The last record says why the guest was lost.
    """
    started = time.monotonic()
    if target.backwards:
        programs = dict(reversed(list(programs.items())))
    lost, enough = _run_machine(target, _machine(target, programs), watch)
    target.spent.append(time.monotonic() - started)
    stops: Sequence[Stop] = ()
    if target.probe:
        whole = not lost and not enough
        stops = target.probe.take(target.directory, list(programs.values()), whole)
    records = record.read(launch.read(target.directory / machine.RESULTS).splitlines(), stops)
    if enough:
        return {number: seen for number, seen in records.items() if not seen.lost}, True
    for seen in records.values():
        if seen.lost:
            seen.lost = lost or "the executor ended"
    return records, False


def _run_machine(target: Target, boot: Machine, watch: Watch | None) -> tuple[str, bool]:
    """Run the machine: why the guest was lost, or empty, and whether the watch ended the boot."""
    directory = target.directory
    try:
        tick = _watching(directory, watch) if watch else None
        outcome = launch.boot(boot, target.place, directory, tick)
    except Enough:
        return "", True
    except (Complaint, Silent) as error:
        return str(error), False
    except GuestLost as error:
        # A splat that does not end the guest is in the record of its program.
        return error.what, False
    if outcome.exit:
        raise GuestLost("the executor gave up", "\n".join(outcome.notes), f"logs: {directory}")
    return "", False


def _machine(target: Target, programs: Numbered) -> Machine:
    """Return the machine, with the programs appended to the guest's initramfs."""
    initrd, probe, kernel = target.directory / "initrd", target.probe, target.kernel
    empties = any(op.verb == "offline" for ops in programs.values() for op in ops)
    text = "".join(f"program {number}\n{language.text(ops)}" for number, ops in programs.items())
    target.directory.mkdir(parents=True, exist_ok=True)
    for name in (machine.RESULTS, machine.CONSOLE, machine.COUNTS, machine.STOPS):
        # The files of the previous boot must not be read as this one's.
        (target.directory / name).unlink(missing_ok=True)
    initrd.write_bytes(target.guest.initrd.read_bytes() + cpio({PROGRAMS: text.encode()}))
    parameters = (
        *(*STALLS, *machine.nodes(kernel), kernel.arch.append_fuzz),
        *(MOVABLE.get(kernel.arch.name, ()) if empties else ()),
        *(*target.parameters, *(probe.parameters if probe else ())),
    )
    return Machine(
        kernel,
        Guest(target.guest.arch, initrd, "", target.guest.initrd),
        target.init,
        Hardware(memory=kernel.arch.memory or (MORE_MEMORY if empties else MEMORY), lean=True),
        probe.counting if probe else None,
        timeout=BOOT_SECONDS + PROGRAM_SECONDS * len(programs),
        silence=SILENT_SECONDS,
        loglevel=CHATTY,
        parameters=parameters,
    )


def _watching(directory: Path, watch: Watch) -> Callable[[], None]:
    """Return a callback that shows new records to `watch`. It raises Enough, or Complaint."""
    shown = said = 0

    def tick() -> None:
        nonlocal shown, said
        text = launch.read(directory / machine.RESULTS)
        console = launch.read(directory / machine.CONSOLE)
        # Up to the line that ends the last whole record.
        end = text.rfind("\nq ")
        end = text.find("\n", end + 1) if end >= 0 else -1
        fresh = record.read(text[shown : end + 1].splitlines()) if end >= 0 else {}
        shown = max(shown, end + 1)
        if any(watch(number, seen) for number, seen in fresh.items()):
            raise Enough
        if fresh:
            # The records contain what the kernel said about these programs.
            said = len(console)
        complaint = splat.find(console[said:])
        if complaint and "\np " in text[max(shown - 1, 0) :]:
            raise Complaint(f"splat: {complaint.kind}")

    return tick
