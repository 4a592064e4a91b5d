# SPDX-License-Identifier: GPL-2.0
"""Build the stock and the patched kernel of each architecture.

Prints the path of each: an ordinary O= directory, usable with vng, QEMU or `make O=`.

  quire build                               all four kernels
  quire build --stock ARCH=arm64            one
  quire build --config configs/debug.config with a further fragment
"""

import argparse

from quire.session import Session


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select one of the two trees."""
    which = part.add_mutually_exclusive_group()
    which.add_argument("--stock", action="store_true", help="only the unpatched base")
    which.add_argument(
        "--patched", action="store_true", help="only the base with the series applied"
    )


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Build and print the directories."""
    sides = session.sides()
    a, b = (side.tree for side in sides.both)
    trees = [a] if arguments.stock or sides.same else [b] if arguments.patched else [a, b]
    for arch in session.architectures:
        for tree in trees:
            kernel = session.kernel(arch, tree)
            print(f"{arch.name} {tree.label} {kernel.objdir}")
    return 0
