# SPDX-License-Identifier: GPL-2.0
"""Configure a kernel from fragments on top of allnoconfig; verify that all options survive."""

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
    """List the line's common fragments (if the architecture uses them), the architecture's own,
    then the extra ones. UserError for a missing fragment, or if the line has none for it."""
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
    """Parse options and their values; "n" for an option that is not set."""
    options = {}
    for name, value, unset in _LINE.findall(text):
        options[name or unset] = value if name else "n"
    return options


def options(fragments: Iterable[Path]) -> list[dict[str, str]]:
    """Return each fragment's requests for a cache key, without comments."""
    return [parse(path.read_text()) for path in fragments]


def lost(requested: Iterable[Path], resolved: Mapping[str, str]) -> list[Lost]:
    """Find requested options whose resolved value differs; later fragments override earlier."""
    wanted: dict[str, Lost] = {}
    for path in requested:
        for option, value in parse(path.read_text()).items():
            wanted[option] = Lost(option, value, resolved.get(option, "n"), path.name)
    return [option for option in wanted.values() if option.actual != option.wanted]


def require(requested: Iterable[Path], config: Path) -> None:
    """Raise BuildFailed that lists every requested option that `config` lacks."""
    missing = lost(requested, parse(config.read_text()))
    if missing:
        what = f"{len(missing)} requested option(s) did not survive olddefconfig"
        where = "\n".join(map(str, missing)) + f"\nresolved configuration: {config}"
        remedy = "add the option's dependencies to the fragment, or remove the option"
        raise BuildFailed(what, where, remedy)
