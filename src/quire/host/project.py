# SPDX-License-Identifier: GPL-2.0
"""The project's own directories: lines, configs, guest, counter."""

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
    def configs(self) -> Path:
        """Kconfig fragments."""
        return self.root / "configs"

    @property
    def guest(self) -> Path:
        """Sources of the guest's programs."""
        return self.root / "guest"

    @property
    def counter(self) -> Path:
        """Sources of the QEMU plugin."""
        return self.root / "counter"


def find() -> Project:
    """QUIRE_ROOT, or the checkout this module runs from. UserError if it is neither."""
    root = Path(os.environ.get("QUIRE_ROOT") or Path(__file__).resolve().parents[3])
    if not (root / "configs").is_dir() or not (root / "lines").is_dir():
        remedy = "run quire from a checkout, or set QUIRE_ROOT to one"
        raise UserError("quire cannot find its lines and configs", str(root), remedy)
    return Project(root)
