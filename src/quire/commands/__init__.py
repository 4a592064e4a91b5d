# SPDX-License-Identifier: GPL-2.0
"""One file per command: add_arguments(part), and run(session, arguments), whose result is the exit
status, or None for 0; its docstring is its --help.
"""

import importlib
from types import ModuleType

# By purpose, in the order of --help. Each is the name of a command and of its
# module here.
GROUPS = {
    "use the series": "apply deb doctor demo".split(),
    "judge a change": "report bench test steps bisect profile time compare".split(),
    "work on Quire": (
        "tree export check build shell fuzz soak selftests seeded kunit coverage cluster figures"
    ).split(),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)


def load(name: str) -> ModuleType:
    """Import a command. Only the one that runs is imported: all take a third of a second."""
    return importlib.import_module(f"quire.commands.{name}")
