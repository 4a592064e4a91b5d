# SPDX-License-Identifier: GPL-2.0
"""Time both sides in machines: A, B, A, B, … under KVM; or emulated, to try the code paths."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture
from quire.boot import launch
from quire.boot.machine import LOG, Hardware, Machine
from quire.build.kernel import Kernel
from quire.host.errors import Difference, UserError
from quire.session import Session
from quire.timing import document, program
from quire.timing.document import Timing

KVM = Path("/dev/kvm")
CPUINFO = Path("/proc/cpuinfo")
# QEMU writes it, stops the machine, and goes on running.
BROKEN = "KVM internal error"
# Seconds for a boot, on top of the rows' own.
TIMEOUT = 600.0
# With so many boots of each side, a boot is one value of the comparison.
BOOTS = 7


@dataclass(frozen=True)
class BootPlan:
    """How to boot: how often each side, with which words of the program, on a CPU or emulated."""

    number: int
    words: tuple[str, ...]
    kvm: bool
    timeout: float = TIMEOUT


def require_kvm(arch: Architecture) -> None:
    """UserError unless this host can run `arch` with KVM."""
    if platform.machine() != arch.machine:
        raise UserError(
            f"this host's CPU is {platform.machine()}, and KVM runs no other",
            f"{arch.name} needs {arch.machine}",
            f"run a bundle on a machine of {arch.name}: quire time run --bundle DIR",
        )
    if not os.access(KVM, os.R_OK | os.W_OK):
        raise UserError(
            "KVM cannot be used",
            f"{KVM} {'may not be opened' if KVM.exists() else 'does not exist'}",
            "as root: modprobe kvm_intel or kvm_amd; or join the group kvm",
        )
    if arch.kvm_flags and not set(arch.kvm_flags) & set(CPUINFO.read_text().split()):
        raise UserError(
            "this CPU does not run guests by itself, and KVM would emulate part of them",
            f"{CPUINFO}: none of the flags {', '.join(arch.kvm_flags)}",
            "use a machine, or a virtual one that allows nesting; or run a bundle here",
        )


def run(session: Session, kernels: Sequence[Kernel], built: Path, boots: BootPlan) -> list[Timing]:
    """Boot the kernels in turn; one timing for each. GuestLost for the first that does not end."""
    arch = kernels[0].arch
    accelerator = arch.kvm_args if boots.kvm else ()
    hardware = Hardware(icount=False, lean=not boots.kvm, accelerator=accelerator)
    machines = [
        Machine(
            kernel,
            program.as_guest(session.cache, kernel, built),
            ("time", *boots.words),
            hardware,
            timeout=boots.timeout,
        )
        for kernel in kernels
    ]
    timings: list[list[Timing]] = [[] for _ in kernels]
    with session.progress.stage(f"{arch.name} time", boots.number * len(kernels)), pinned():
        for number in range(boots.number):
            for at, machine in enumerate(machines):
                timings[at].append(_boot(session, machine, number))
                done = number * len(kernels) + at + 1
                session.progress.at(done, machine.kernel.tree.label)
    labels = [kernel.tree.label for kernel in kernels]
    return [document.merge(*boots_of) for boots_of in zip(timings, labels, strict=True)]


def _boot(session: Session, boot: Machine, number: int) -> Timing:
    label = f"time-{boot.kernel.arch.name}-{boot.kernel.tree.label}-{number}"
    work = launch.workdir(session.cache, label)
    outcome = launch.boot(boot, session.place, work, lambda: _require_running(boot, work))
    text = "\n".join(outcome.other)
    if not text.startswith("{"):
        raise Difference("the guest timed nothing", "\n".join([*outcome.notes, str(work)]))
    return document.parse(text, label)


def _require_running(boot: Machine, work: Path) -> None:
    """GuestLost if KVM has given up."""
    log = work / LOG
    if log.is_file() and BROKEN in log.read_text(errors="replace"):
        raise launch.lost(boot, work, f"{BROKEN}: {log}")


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """Keep this thread and the machines that it starts on the last CPU that we may use."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
