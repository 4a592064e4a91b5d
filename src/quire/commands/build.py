# SPDX-License-Identifier: GPL-2.0
"""Build the stock and the patched kernel of each architecture.

Prints the path of each kernel: an ordinary O= directory, usable with vng, QEMU or `make O=`.

  quire build                               all four kernels
  quire build --stock ARCH=arm64            one kernel
  quire build --config configs/debug.config with an additional fragment
"""

import argparse

from quire.commands import options
from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select one of the trees."""
    options.kernel(part)
    group = part.add_mutually_exclusive_group()
    options.stock(group)
    group.add_argument("--patched", action="store_true", help="only the patched kernel")


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Build the kernels and print their directories."""
    options.require_series(arguments)
    sides = session.sides()
    a, b = (side.tree for side in sides.both)
    trees = [a] if arguments.stock or sides.same else [b] if arguments.patched else [a, b]
    for arch in session.architectures:
        for tree in trees:
            print(f"{arch.name} {tree.label} {session.kernel(arch, tree).objdir}")
