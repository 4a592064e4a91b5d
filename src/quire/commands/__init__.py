# SPDX-License-Identifier: GPL-2.0
"""One file per command: add_arguments(part), and run(session, arguments), whose result is the exit
status, or None for 0; its docstring is its --help.
"""

import importlib
from types import ModuleType

# In the order of the top-level --help. Each is the name of a command and of its module here.
NAMES = tuple(
    "demo bench steps bisect report profile time compare test coverage selftests seeded kunit fuzz "
    "soak cluster shell build deb tree export fit apply check figures doctor".split()
)


def load(name: str) -> ModuleType:
    """Import a command. Only the one that runs is imported: all take a third of a second."""
    return importlib.import_module(f"quire.commands.{name}")
