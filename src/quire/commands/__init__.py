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


class Command(Protocol):
    """What a module in here offers."""

    __doc__: str | None
    NAME: str

    def add_arguments(self, part: argparse.ArgumentParser, /) -> None:
        """Its own options."""

    def run(self, session: Session, arguments: argparse.Namespace, /) -> int:
        """Do it; the exit status."""


# In the order of the top-level --help.
ALL: tuple[Command, ...] = (
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
