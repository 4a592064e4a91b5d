# SPDX-License-Identifier: GPL-2.0
"""The command that starts a machine: QEMU, or, without an emulator, the kernel itself (UML)."""

from __future__ import annotations

import os
from pathlib import Path

from quire.boot.machine import CONSOLE, RESULTS, Machine
from quire.host import process
from quire.host.errors import UserError

# Descriptor 3 has the results. Without TMPDIR, UML has the guest's memory in /dev/shm.
# 6.12 counts the host's random gap below the heap as memory.
UML = 'unset TMPDIR TMP TEMP; exec setarch -R "$@" </dev/null'
UML_FILES = f'{UML} >"$0/{CONSOLE}" 2>&1 3>"$0/{RESULTS}"'
UML_TERMINAL = UML.removesuffix(" </dev/null")
# UML of one CPU and its processes take turns: waking the other one up on an idle CPU takes most of
# a switch. They get one CPU of the host to themselves, as long as they have its file locked; if
# none is free, they run anywhere.
ALONE = (
    'for cpu in $0; do { flock -n 9 && exec taskset -c $cpu "$@"; } 9>>/dev/shm/quire-cpu-$cpu; '
    'done; exec "$@"'
)


def command(machine: Machine, directory: Path, *, terminal: bool = False) -> list[str]:
    """The command, which ends with us; logs and results go to `directory`, or to our terminal."""
    words = argv(machine, directory, terminal=terminal)
    if not machine.kernel.arch.qemu and machine.hardware.cpus == 1:
        cpus = " ".join(map(str, sorted(os.sched_getaffinity(0))))
        words = ["sh", "-c", ALONE, cpus, *words]
    return process.die_with_us(words)


def argv(machine: Machine, directory: Path, *, terminal: bool = False) -> list[str]:
    """The same without the program that ends it.

    UserError for a machine that this kernel cannot be.
    """
    start = _qemu if machine.kernel.arch.qemu else _uml
    return start(machine, directory, terminal=terminal)


def _qemu(machine: Machine, directory: Path, *, terminal: bool) -> list[str]:
    arch, hardware, guest = machine.kernel.arch, machine.hardware, machine.guest
    words = [arch.qemu, *arch.machine_args, *(arch.lean_args if hardware.lean else ())]
    words += hardware.accelerator
    words += ["-m", hardware.memory, "-smp", str(hardware.cpus)]
    if hardware.icount:
        # One instruction takes one nanosecond, and an idle CPU skips to the next timer.
        words += ["-icount", "shift=0,sleep=off", "-rtc", "base=2024-11-17,clock=vm"]
    words += ["-seed", "1", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    words += ["-kernel", str(machine.kernel.image), "-append", machine.append()]
    words += ["-initrd", str(guest.initrd)] if guest else []
    words += ["-serial", "mon:stdio" if terminal else f"file:{directory / CONSOLE}"]
    # Without a port for results the guest writes them to the console.
    if guest and not terminal:
        words += ["-device", arch.results_device]
        words += ["-chardev", f"file,id=q,path={directory / RESULTS}"]
        words += ["-device", "virtserialport,chardev=q,name=quire"]
    if machine.counting:
        words += ["-plugin", machine.counting.argument(machine.kernel, directory)]
    return words


def _uml(machine: Machine, directory: Path, *, terminal: bool) -> list[str]:
    kernel, hardware = machine.kernel, machine.hardware
    if hardware.cpus > 1 and not kernel.enables("CONFIG_SMP"):
        what = f"this kernel for {kernel.arch.name} has one CPU"
        raise UserError(what, f"{kernel.config}: no CONFIG_SMP", "use --smp 1")
    words = [str(kernel.image), f"mem={hardware.memory}"]
    words += [f"ncpus={hardware.cpus}"] if hardware.cpus > 1 else []
    words += [f"initrd={machine.guest.initrd}"] if machine.guest else []
    # A line's directions: read from, write to.
    words += ["con0=fd:0,fd:1", *(() if terminal else ("ssl0=null,fd:3", "quire_results=ttyS0"))]
    # UML's words and the kernel's are the same ones.
    return ["sh", "-c", UML_TERMINAL if terminal else UML_FILES, str(directory),
            *words, *machine.append().split()]  # fmt: skip
