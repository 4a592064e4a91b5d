# SPDX-License-Identifier: GPL-2.0
"""Boot a built kernel with an interactive shell on this terminal.

The guest's shell has the commands bench, test, list, cat FILE and poweroff. Ctrl-A X ends QEMU at
once. By default the machine has two CPUs and runs without -icount.

  quire shell ARCH=arm64              the patched kernel
  quire shell ARCH=x86_64 --stock     the base
"""

import argparse

from quire.arch import requirements
from quire.boot import counter, launch
from quire.boot.machine import CHATTY, Hardware, Machine
from quire.host.errors import UserError
from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select the kernel and the machine."""
    part.add_argument("--stock", action="store_true", help="boot the base, without the series")
    part.add_argument("--smp", type=int, default=2, metavar="N", help="virtual CPUs (default 2)")
    part.add_argument("--memory", default="2G", metavar="SIZE", help="as QEMU's -m (default 2G)")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Boot with the console on this terminal until the guest powers off."""
    if len(session.architectures) != 1:
        names = " or ".join(f"ARCH={arch.name}" for arch in session.architectures)
        raise UserError("a shell runs on one architecture", remedy=f"select one: {names}")
    (arch,) = session.architectures
    requirements.require([arch])
    counter.installed(arch)
    sides = session.sides()
    kernel = session.kernel(arch, sides.a.tree if arguments.stock else sides.b.tree)
    program = session.guest(kernel)
    boot = Machine(
        kernel,
        program,
        ("shell",),
        Hardware(arguments.smp, arguments.memory, icount=False),
        loglevel=CHATTY,
    )
    return launch.interact(boot, launch.workdir(session.cache, f"shell-{arch.name}"))
