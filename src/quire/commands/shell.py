# SPDX-License-Identifier: GPL-2.0
"""Boot a built kernel with a shell on this terminal.

The guest's shell has the commands bench, test, list, cat FILE and poweroff. Ctrl-A X ends QEMU
immediately. By default, the machine has two CPUs and runs without -icount.

  quire shell ARCH=arm64              the patched kernel
  quire shell ARCH=x86_64 --stock     the base
"""

import argparse

from quire.arch import requirements
from quire.boot import counter, launch
from quire.boot.machine import CHATTY, Hardware, Machine
from quire.commands import options
from quire.host.errors import UserError
from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select the kernel and the machine."""
    options.kernel(part)
    options.stock(part)
    options.cpus(part, 2)
    text = "the guest's memory, as for QEMU's -m (default %(default)s)"
    part.add_argument("--memory", default="2G", metavar="SIZE", help=text)


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Boot with the console on this terminal until the guest powers off."""
    options.require_series(arguments)
    if len(session.architectures) != 1:
        names = " or ".join(f"ARCH={arch.name}" for arch in session.architectures)
        raise UserError("a shell runs on one architecture", remedy=f"select one: {names}")
    (arch,) = session.architectures
    requirements.require([arch])
    if arch.qemu:
        counter.installed(arch)
    sides = session.sides()
    kernel = session.kernel(arch, sides.a.tree if arguments.stock else sides.b.tree)
    # Under emulation, any kernel runs; a kernel that is a program is built for one CPU or several.
    cpus = arguments.smp if arch.qemu or kernel.enables("CONFIG_SMP") else 1
    hardware = Hardware(cpus, arguments.memory, icount=False)
    boot = Machine(kernel, session.guest(kernel), ("shell",), hardware, loglevel=CHATTY)
    return launch.interact(boot, launch.workdir(session.cache, f"shell-{arch.name}"))
