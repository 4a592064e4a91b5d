# SPDX-License-Identifier: GPL-2.0
"""Build the command that starts a machine: QEMU or, without an emulator, the kernel (UML)."""

import os
from pathlib import Path

from quire.boot.machine import CHANGES, CONSOLE, RESULTS, Machine
from quire.host import process, seccomp
from quire.host.errors import UserError

# Results go to descriptor 3. Without TMPDIR, UML keeps the guest's memory in /dev/shm.
# setarch -R: 6.12 counts the host's random gap below the heap as memory.
UML = 'unset TMPDIR TMP TEMP; exec setarch -R "$@" </dev/null'
UML_FILES = f'{UML} >"$0/{CONSOLE}" 2>&1 3>"$0/{RESULTS}"'
UML_TERMINAL = UML.removesuffix(" </dev/null")
# One-CPU UML and its processes run in turn, and waking up an idle CPU would dominate the cost of a
# switch. A lock file reserves one host CPU for them; if none is free, they run anywhere.
ALONE = (
    'for cpu in $0; do { flock -n 9 && exec taskset -c $cpu "$@"; } 9>>/dev/shm/quire-cpu-$cpu; '
    'done; exec "$@"'
)


def command(machine: Machine, directory: Path, *, terminal: bool = False) -> list[str]:
    """Return the command, which ends with us; output goes to `directory` or to our terminal."""
    words = argv(machine, directory, terminal=terminal)
    if not machine.kernel.arch.qemu and machine.hardware.cpus == 1:
        cpus = " ".join(map(str, sorted(os.sched_getaffinity(0))))
        words = ["sh", "-c", ALONE, cpus, *words]
    return process.die_with_us(words)


def argv(machine: Machine, directory: Path, *, terminal: bool = False) -> list[str]:
    """Return the command without the wrapper that ends it with us.

    UserError for a machine that this kernel does not support.
    """
    start = _qemu if machine.kernel.arch.qemu else _uml
    return start(machine, directory, terminal=terminal)


def _qemu(machine: Machine, directory: Path, *, terminal: bool) -> list[str]:
    arch, hardware, guest = machine.kernel.arch, machine.hardware, machine.guest
    words = [arch.qemu, *arch.machine_args, *(arch.lean_args if hardware.lean else ())]
    words += hardware.accelerator
    words += ["-m", hardware.memory, "-smp", str(hardware.cpus)]
    if hardware.icount:
        # Each instruction takes one nanosecond, and an idle CPU skips to the next timer.
        words += ["-icount", "shift=0,sleep=off", "-rtc", "base=2024-11-17,clock=vm"]
    words += ["-seed", "1", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    words += ["-kernel", str(machine.kernel.image), "-append", machine.append()]
    words += ["-initrd", str(guest.initrd)] if guest else []
    words += ["-serial", "mon:stdio" if terminal else f"file:{directory / CONSOLE}"]
    # Without a results port, the guest writes them to the console.
    if guest and not terminal:
        words += ["-device", arch.results_device]
        words += ["-chardev", f"file,id=q,path={directory / RESULTS}"]
        words += ["-device", "virtserialport,chardev=q,name=quire"]
    if disk := machine.disk:
        lasting = "cache=unsafe" if disk.keep else "snapshot=on"
        words += ["-drive", f"if=none,id=disk,format=raw,file={disk.image},{lasting}"]
        words += ["-device", f"{arch.results_device.replace('serial', 'blk')},drive=disk"]
    if machine.counting:
        words += ["-plugin", machine.counting.argument(machine.kernel, directory)]
    return words


def _uml(machine: Machine, directory: Path, *, terminal: bool) -> list[str]:
    kernel, hardware = machine.kernel, machine.hardware
    if hardware.cpus > 1 and not kernel.enables("CONFIG_SMP"):
        what = f"this kernel for {kernel.arch.name} supports only one CPU"
        raise UserError(what, f"{kernel.config}: no CONFIG_SMP", "use --smp 1")
    words = [str(kernel.image), f"mem={hardware.memory}"]
    words += [f"ncpus={hardware.cpus}"] if hardware.cpus > 1 else []
    words += [f"initrd={machine.guest.initrd}"] if machine.guest else []
    if disk := machine.disk:
        changes = "" if disk.keep else f"{directory / CHANGES},"
        words.append(f"ubd0={changes}{disk.image}")
    # A line's directions: read from, write to.
    words += ["con0=fd:0,fd:1", *(() if terminal else ("ssl0=null,fd:3", "quire_results=ttyS0"))]
    # UML's arguments are the kernel's command line.
    words += [_tracing(word) for word in machine.append().split()]
    return ["sh", "-c", UML_TERMINAL if terminal else UML_FILES, str(directory), *words]


def _tracing(word: str) -> str:
    """Replace UML's mode with seccomp by the slower one with ptrace where the host would hang."""
    return "seccomp=off" if word == "seccomp=auto" and seccomp.hangs() else word
