# SPDX-License-Identifier: GPL-2.0
"""One file per command: NAME, add_arguments(), run(); its docstring is its --help."""

import argparse
from typing import Protocol

from quire.commands import (
    apply,
    bench,
    build,
    check,
    demo,
    doctor,
    export,
    fuzz,
    kunit,
    profile,
    seeded,
    selftests,
    shell,
    soak,
    test,
    tree,
)
from quire.session import Session


class Subcommand(Protocol):
    """The interface of a command module."""

    __doc__: str | None
    NAME: str

    def add_arguments(self, part: argparse.ArgumentParser, /) -> None:
        """Add the command's own options."""

    def run(self, session: Session, arguments: argparse.Namespace, /) -> int:
        """Run the command; return the exit status."""


# In the order of the top-level --help.
ALL: tuple[Subcommand, ...] = (
    demo,
    bench,
    profile,
    test,
    selftests,
    seeded,
    kunit,
    fuzz,
    soak,
    shell,
    build,
    tree,
    export,
    apply,
    check,
    doctor,
)
