# SPDX-License-Identifier: GPL-2.0
"""Build a Debian root file system for the guest, with these packages.

An ext4 image, for QEMU and for user-mode Linux. apt downloads the packages from the mirror that
this machine uses, and dpkg installs them in the guest, under the stock kernel. Neither root nor an
emulator of foreign programs is needed. See docs/dev/programs.md.

  quire rootfs                                the essential packages, both architectures
  quire rootfs stress-ng --suite bookworm ARCH=um
  quire shell --rootfs ARCH=um                log in: changes are lost at the end
"""

import argparse
import json

from quire.arch import requirements
from quire.commands import options
from quire.programs import packages, rootfs
from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select packages and the kernel of the second stage."""
    options.kernel(part)
    part.add_argument("package", nargs="*", help="Debian packages besides the essential ones")
    suite(part)
    options.as_json(part)


def suite(part: argparse.ArgumentParser) -> None:
    """Add --suite."""
    text = "Debian's release (default %(default)s)"
    part.add_argument("--suite", choices=packages.SUITES, default=packages.SUITES[-1], help=text)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Build the images and print their paths."""
    requirements.require(session.architectures, rootfs.NEEDS)
    tree = session.sides().a.tree
    images = {}
    for arch in session.architectures:
        own = rootfs.with_disk(session, arch)
        kernel = own.kernel(arch, tree)
        images[arch.name] = rootfs.build(own, kernel, arguments.suite, arguments.package)
    if arguments.json:
        rows = [
            {"architecture": name, "suite": image.suite, "image": str(image.file),
             "packages": image.versions}
            for name, image in images.items()
        ]  # fmt: skip
        print(json.dumps(rows, indent=1))
        return
    for name, image in images.items():
        print(f"{name} {image.suite}, {len(image.versions)} packages: {image.file}")
