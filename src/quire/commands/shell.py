# SPDX-License-Identifier: GPL-2.0
"""Boot a built kernel with a shell on this terminal.

The guest's shell has the commands bench, test, list, cat FILE and poweroff. Ctrl-A X ends QEMU
immediately. By default, the machine has two CPUs and runs without -icount.

  quire shell ARCH=arm64              the patched kernel
  quire shell ARCH=x86_64 --stock     the base
  quire shell ARCH=um --rootfs        bash in Debian's userland (docs/dev/programs.md)
"""

import argparse

from quire.arch import requirements
from quire.boot import counter, launch
from quire.boot.machine import CHATTY, Disk, Hardware, Machine
from quire.commands import options
from quire.commands import rootfs as images
from quire.host.errors import UserError
from quire.programs import rootfs
from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select the kernel and the machine."""
    options.kernel(part)
    options.stock(part)
    options.cpus(part, 2)
    text = "boot a Debian userland, with --package; changes are lost"
    part.add_argument("--rootfs", action="store_true", help=text)
    text = "a Debian package for --rootfs; may be repeated"
    part.add_argument("--package", action="append", default=[], metavar="NAME", help=text)
    images.suite(part)
    text = "the guest's memory, as for QEMU's -m (default %(default)s)"
    part.add_argument("--memory", default="2G", metavar="SIZE", help=text)


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Boot with the console on this terminal until the guest powers off."""
    options.require_series(arguments)
    if not arguments.rootfs:
        options.refuse(arguments, "package suite", "without --rootfs")
    if len(session.architectures) != 1:
        names = " or ".join(f"ARCH={arch.name}" for arch in session.architectures)
        raise UserError("a shell runs on one architecture", remedy=f"select one: {names}")
    (arch,) = session.architectures
    requirements.require([arch])
    if arch.qemu:
        counter.installed(arch)
    if arguments.rootfs:
        session = rootfs.with_disk(session, arch)
    sides = session.sides()
    kernel = session.kernel(arch, sides.a.tree if arguments.stock else sides.b.tree)
    # Under emulation, any kernel runs; a kernel that is a program is built for one CPU or several.
    cpus = arguments.smp if arch.qemu or kernel.enables("CONFIG_SMP") else 1
    hardware = Hardware(cpus, arguments.memory, icount=False)
    guest, disk = session.guest(kernel), None
    if arguments.rootfs:
        image = rootfs.build(session, kernel, arguments.suite, arguments.package)
        guest, disk = rootfs.with_scripts(session, kernel, {}), Disk(image.file)
    boot = Machine(kernel, guest, ("shell",), hardware, loglevel=CHATTY, disk=disk)
    return launch.interact(boot, launch.workdir(session.cache, f"shell-{arch.name}"))
