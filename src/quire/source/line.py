# SPDX-License-Identifier: GPL-2.0
"""Read a kernel line (6.12, 7.3) from its folder: lines/NAME/line.toml and the files it names.

docs/dev/lines.md explains the keys. A line needs no code; every part (a series, seeded bugs,
expected failures, posted figures) is optional.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from quire.host import data
from quire.host.errors import UserError
from quire.source import series
from quire.source.series import Series
from quire.source.version import Version, parse

FILE = "line.toml"
# The fragments common to all architectures.
ALL = "all"


@dataclass(frozen=True)
class Debian:
    """The Debian packages of a line: the source, the configurations, the suites that have them."""

    package: str
    config: str
    suites: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One line. `exact` is false if the line stands in for a version without its own line, where
    options of its fragments may be missing."""

    name: str
    folder: Path
    debian: Debian | None
    # By architecture, and ALL.
    fragments: Mapping[str, tuple[Path, ...]]
    # The folder of the series files; None for a line that has none or stands in.
    series: Path | None = None
    exact: bool = True
    # Fuzzer operations that this line's kernels may repeat until the process is killed.
    endless: tuple[str, ...] = ()

    def file(self, name: str) -> Path:
        """Return an optional file: `expected` failures; `topics` that passed alone; `moved`, the
        upstream commits that changed context of the series; `posted` figures; `unreached` lines."""
        return self.folder / f"{name}.toml"

    @property
    def seeded(self) -> Path:
        """Seeded bugs; the folder is optional."""
        return self.folder / "seeded"

    def patches_for(self, name: str) -> Path:
        """Return the series file of patches for both sides that the architecture or the --config
        fragment of this name requires; optional."""
        return self.folder / name / "series"

    @property
    def architectures(self) -> Path:
        """Options for `quire check --architectures` that other lines lack; optional."""
        return self.folder / "configs" / "architectures"

    @property
    def differences(self) -> tuple[Path, ...]:
        """Reasons for differences from Debian's configurations, of all lines and of this one; each
        file is optional."""
        return tuple(at / "debian-differences.toml" for at in (self.folder.parent, self.folder))


@dataclass(frozen=True)
class _Source:
    debian: Debian | None = None


@dataclass(frozen=True)
class _Series:
    folder: str


@dataclass(frozen=True)
class _LineFile:
    fragments: Mapping[str, tuple[str, ...]]
    source: _Source = _Source()
    series: _Series | None = None
    endless: tuple[str, ...] = ()


def read(root: Path, folder: Path) -> Line:
    """Read the line in `folder`; series are below `root`. UserError says what is wrong."""
    file = data.read(folder / FILE, _LineFile, "fix it: docs/dev/lines.md explains the keys")
    fragments = {
        name: tuple((folder / path).resolve() for path in paths)
        for name, paths in file.fragments.items()
    }
    patches = root / file.series.folder if file.series else None
    debian = file.source.debian
    return Line(folder.name, folder, debian, fragments, patches, endless=file.endless)


def known(root: Path) -> list[Line]:
    """List all lines of a project, oldest first."""
    folders = [path.parent for path in (root / "lines").glob(f"*/{FILE}")]
    return [read(root, folder) for folder in sorted(folders, key=lambda path: parse(path.name))]


def all_series(root: Path) -> list[tuple[Line, Series]]:
    """List all series files of a project, each with its line."""
    having = ((line, line.series) for line in known(root))
    return [(line, each) for line, folder in having if folder for each in series.variants(folder)]


def named(root: Path, name: str) -> Line:
    """Return the line called `name`, or the line of that version. UserError if there is none."""
    lines, wanted = known(root), parse(name.partition("-")[0]).line
    for line in lines:
        if line.name == wanted:
            return line
    raise UserError(
        f"no line for Linux {name}",
        str(root / "lines"),
        f"use one of: {', '.join(line.name for line in lines)}\n"
        "or add a folder to lines/ (docs/dev/lines.md), or name a tree with --source, --git, --a",
    )


def of_version(root: Path, version: Version) -> Line:
    """Return the line for a tree of that version, or else the nearest older line, or the oldest.
    UserError if the project has no lines."""
    lines = known(root)
    if not lines:
        raise UserError("the project has no kernel lines", str(root / "lines"))
    below = [line for line in lines if parse(line.name) <= version]
    nearest = below[-1] if below else lines[0]
    if nearest.name == version.line:
        return nearest
    # The line has no series for this version, and options of its fragments may not exist.
    return replace(nearest, series=None, exact=False)
