# SPDX-License-Identifier: GPL-2.0
"""Find the project's own directories: lines, configs, guest, counter."""

import os
from dataclasses import dataclass
from pathlib import Path

from quire.host.errors import UserError

# In an installed package: the other folders of a checkout (pyproject.toml, force-include).
INSTALLED = "data"


@dataclass(frozen=True)
class Project:
    """The location of Quire's data: a checkout, or the copy in an installed package."""

    root: Path
    installed: bool = False

    @property
    def configs(self) -> Path:
        """Kconfig fragments."""
        return self.root / "configs"

    @property
    def guest(self) -> Path:
        """The sources of the guest's programs."""
        return self.root / "guest"

    @property
    def counter(self) -> Path:
        """The sources of the QEMU plugin."""
        return self.root / "counter"

    @property
    def build(self) -> Path:
        """The default build directory; outside a checkout, it is in the user's cache."""
        if not self.installed:
            return self.root / "build"
        cache = os.environ.get("XDG_CACHE_HOME")
        return (Path(cache) if cache else Path.home() / ".cache") / "quire"

    def writable(self) -> Path:
        """Return the root, to change files of Quire itself. UserError for an installed copy."""
        if self.installed:
            remedy = "clone Quire and run ./quire there, or set QUIRE_ROOT to a checkout"
            raise UserError("an installed quire cannot change its files", str(self.root), remedy)
        return self.root


def find() -> Project:
    """Find QUIRE_ROOT, or this module's checkout or package. UserError if that is not one."""
    package = Path(__file__).resolve().parents[1]
    named = os.environ.get("QUIRE_ROOT")
    roots = [Path(named)] if named else [package.parents[1], package / INSTALLED]
    for root in roots:
        if (root / "configs").is_dir() and (root / "lines").is_dir():
            return Project(root, installed=root == package / INSTALLED)
    remedy = "install quire again, run it from a checkout, or set QUIRE_ROOT to one"
    raise UserError("quire cannot find its data (lines, configs)", str(roots[0]), remedy)
