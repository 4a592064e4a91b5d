# SPDX-License-Identifier: GPL-2.0
"""A kernel configuration: fragments on top of allnoconfig; verifies that all options survive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture
from quire.host.errors import BuildFailed, UserError
from quire.source.line import ALL, FILE, Line

_LINE = re.compile(r"^(CONFIG_\w+)=(.*)$|^# (CONFIG_\w+) is not set$", re.M)


@dataclass(frozen=True)
class Lost:
    """A requested option whose resolved value differs."""

    option: str
    wanted: str
    actual: str
    fragment: str

    def __str__(self) -> str:
        return f"{self.option}: wanted {self.wanted}, is {self.actual} ({self.fragment})"


def fragments(line: Line, arch: Architecture, extra: Iterable[Path] = ()) -> tuple[Path, ...]:
    """The line's common fragments, if the architecture has them, its own, then the extra ones.
    UserError for a missing fragment, or if the line has none for the architecture."""
    if arch.name not in line.fragments:
        what = f"the line {line.name} has no configuration for {arch.name}"
        remedy = f"add `{arch.name} = [...]` to its [fragments], or choose another ARCH"
        raise UserError(what, str(line.folder / FILE), remedy)
    common = line.fragments.get(ALL, ()) if arch.common_config else ()
    paths = (*common, *line.fragments[arch.name], *extra)
    for path in paths:
        if not path.is_file():
            what = f"configuration fragment {path.name} is missing"
            raise UserError(what, str(path), "check --config")
    return paths


def parse(text: str) -> dict[str, str]:
    """Options and their values; "n" for an option that is not set."""
    options = {}
    for name, value, unset in _LINE.findall(text):
        options[name or unset] = value if name else "n"
    return options


def options(fragments: Iterable[Path]) -> list[dict[str, str]]:
    """What each fragment asks for, for a cache key: a comment makes no other kernel."""
    return [parse(path.read_text()) for path in fragments]


def lost(requested: Iterable[Path], resolved: Mapping[str, str]) -> list[Lost]:
    """The requested options whose resolved value differs; a later fragment overrides an earlier."""
    wanted: dict[str, Lost] = {}
    for path in requested:
        for option, value in parse(path.read_text()).items():
            wanted[option] = Lost(option, value, resolved.get(option, "n"), path.name)
    return [option for option in wanted.values() if option.actual != option.wanted]


def require(requested: Iterable[Path], config: Path) -> None:
    """BuildFailed that lists every requested option that `config` lacks."""
    missing = lost(requested, parse(config.read_text()))
    if missing:
        what = f"{len(missing)} requested option(s) did not survive olddefconfig"
        where = "\n".join(map(str, missing)) + f"\nresolved configuration: {config}"
        remedy = "add the option's dependencies to the fragment, or remove the option"
        raise BuildFailed(what, where, remedy)
