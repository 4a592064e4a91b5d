# SPDX-License-Identifier: GPL-2.0
"""One file per command: add_arguments() and run(); its docstring is its --help."""

import argparse
import importlib
from typing import Protocol, cast

from quire.session import Session


class Subcommand(Protocol):
    """The interface of a command module."""

    __doc__: str | None

    def add_arguments(self, part: argparse.ArgumentParser, /) -> None:
        """Add the command's own options."""

    def run(self, session: Session, arguments: argparse.Namespace, /) -> int | None:
        """Run the command; the exit status, None for 0."""


# In the order of the top-level --help. Each is the name of a command and of its module here.
NAMES = tuple(
    "demo bench profile time compare test selftests seeded kunit fuzz soak cluster shell build deb "
    "tree export apply check figures doctor".split()
)


def load(name: str) -> Subcommand:
    """Import a command. Only the one that runs is imported: all take a third of a second."""
    return cast(Subcommand, importlib.import_module(f"quire.commands.{name}"))
