# SPDX-License-Identifier: GPL-2.0
"""Where the project's own files are: patches, configs, guest, counter."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from quire.host.errors import UserError


@dataclass(frozen=True)
class Project:
    """A checkout of Quire."""

    root: Path

    @property
    def patches(self) -> Path:
        """The series, one folder per stable line."""
        return self.root / "patches"

    @property
    def configs(self) -> Path:
        """Kconfig fragments."""
        return self.root / "configs"

    @property
    def guest(self) -> Path:
        """Sources of the guest's program."""
        return self.root / "guest"

    @property
    def counter(self) -> Path:
        """Sources of the QEMU plugin."""
        return self.root / "counter"

    @property
    def expected(self) -> Path:
        """What kernels are known to fail, a file per stable line."""
        return self.root / "guest/expected"

    @property
    def sabotage(self) -> Path:
        """Seeded bugs on top of the series."""
        return self.root / "sabotage"


def find() -> Project:
    """QUIRE_ROOT, or the checkout this module runs from. UserError if it is neither."""
    root = Path(os.environ.get("QUIRE_ROOT") or Path(__file__).resolve().parents[2])
    if not (root / "configs").is_dir() or not (root / "patches").is_dir():
        raise UserError(
            "quire does not find its patches and configs",
            str(root),
            "run it from a checkout, or name one in QUIRE_ROOT",
        )
    return Project(root)
