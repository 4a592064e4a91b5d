# SPDX-License-Identifier: GPL-2.0
"""One file per command: add_arguments(part), and run(session, arguments), whose result is the exit
status, or None for 0; its docstring is its --help. A command of several modes has MODES instead.
"""

import argparse
import importlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

# By purpose, in the order of --help. Each name is that of a command and of its module here.
GROUPS = {
    "use the series": "fit apply deb doctor demo".split(),
    "judge a change": "report bench test steps bisect profile time".split(),
    "work on Quire": (
        "tree export check build rootfs shell fuzz soak selftests suite seeded kunit coverage "
        "cluster"
    ).split(),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)


@dataclass(frozen=True)
class Mode:
    """A mode of a command, with its own options; `about` is its --help."""

    name: str
    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    # Like run() of a command.
    run: Callable[[Any, argparse.Namespace], int | None]


def load(name: str) -> ModuleType:
    """Import a command. Importing all of them would take a third of a second."""
    return importlib.import_module(f"quire.commands.{name}")


def renamed(words: Sequence[str]) -> str:
    """Return the replacement of an old spelling, which the next version drops; else empty."""
    name, *rest = words or [""]
    if name == "figures":
        return shlex.join(["scripts/figures", *rest])
    if name == "compare":
        return shlex.join(["quire", "time", "compare", *rest])
    if name not in ("fuzz", "time") or {"-h", "--help"}.intersection(rest[:1]):
        return ""
    if rest[:1] and rest[0] in [mode.name for mode in load(name).MODES]:
        return ""
    modes = {"time": ["leaf"], "fuzz": ["seeded", "replay", "corpus", "oracle", "cost"]}[name]
    mode = next((mode for mode in modes if f"--{mode}" in rest), "")
    # --corpus remains an option of replay.
    gone = {f"--{mode}", "--replay", *(["--no-coverage"] if mode else [])} - {"--corpus"}
    new = {"": {"time": "run", "fuzz": "compare"}[name], "corpus": "replay"}.get(mode, mode)
    return shlex.join(["quire", name, new, *(word for word in rest if word not in gone)])
