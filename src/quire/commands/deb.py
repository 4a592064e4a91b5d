# SPDX-License-Identifier: GPL-2.0
"""Build Debian packages of the patched kernel with the kernel's bindeb-pkg.

The configuration is Debian's for this version, with the local version -quire and without debug
information. Each image is unpacked and booted in QEMU before it counts as done.

  quire deb ARCH=x86_64                     Debian's configuration: 166 processor minutes
  quire deb --flavour cloud-amd64           Debian's configuration for virtual machines
  quire deb --config ~/my.config ARCH=arm64   your own complete configuration
  quire deb --trimmed ARCH=x86_64           the lab's small configuration: minutes, for tests
  quire deb --stock                         the same without the series, for comparison
  quire deb --output DIR                    where the packages go (default: build/deb/)
"""

import argparse
import time
from pathlib import Path

from quire.arch import Architecture, requirements
from quire.boot import launch
from quire.commands import options
from quire.host.errors import UserError
from quire.package import deb
from quire.session import Session
from quire.source.tree import Tree


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select the kernel and its configuration."""
    options.kernel(part)
    options.emulated(part, "makes packages for hardware")
    options.stock(part)
    add = part.add_argument
    text = "use the lab's configuration, with --config's fragments; it boots on little besides QEMU"
    add("--trimmed", action="store_true", help=text)
    text = "another of Debian's configurations for the architecture, by the end of its package's "
    text += "name: cloud-amd64, rt-amd64, cloud-arm64, …"
    add("--flavour", default="", metavar="NAME", help=text)
    add("--output", type=Path, metavar="DIR", help="where the packages go")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Build, boot and print the packages. GuestLost if one does not boot."""
    options.require_series(arguments)
    if arguments.flavour and (arguments.trimmed or session.configs):
        raise UserError(
            "--flavour conflicts with another configuration",
            remedy="leave out --trimmed and --config, or --flavour",
        )
    requirements.require(session.architectures, deb.NEEDS)
    sides = session.sides()
    tree = sides.a.tree if arguments.stock else sides.b.tree
    for arch in session.architectures:
        _package(session, arguments, arch, tree)


def _package(
    session: Session, arguments: argparse.Namespace, arch: Architecture, tree: Tree
) -> None:
    started = time.monotonic()
    request = deb.request(session, arch, tree, trimmed=arguments.trimmed, flavour=arguments.flavour)
    # Stock and patched must not overwrite each other.
    output = (arguments.output or session.cache.root / "deb") / tree.label
    # The number of make steps is known only for the lab's configuration.
    steps = arch.objects if arguments.trimmed else None
    with session.progress.stage(f"{request.title} and its packages", steps):
        packages = deb.build(session.cache, request, output, session.progress.at)
    built = time.monotonic() - started
    guest = session.guest(packages.kernel)
    with session.progress.stage(f"{request.title} boots"):
        work = launch.workdir(session.cache, f"deb-{arch.name}-{tree.label}")
        release = deb.prove(packages, guest, session.place, work)
    for path in (packages.image, *packages.others):
        print(f"{path} {path.stat().st_size / 2**20:.1f} MiB")
    print(f"{arch.name} {tree.label}: {release} boots; packaged in {built:.0f} s")
