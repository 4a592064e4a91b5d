# SPDX-License-Identifier: GPL-2.0
"""Small tables as text files: one row a line, fields separated by `|`, comments begin with `#`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host.errors import UserError


@dataclass(frozen=True)
class Table:
    """The columns; those in `may_be_empty` need no text. `what` names a row in error messages."""

    what: str
    columns: tuple[str, ...]
    may_be_empty: tuple[str, ...] = ()

    def read(self, file: Path) -> list[list[str]]:
        """The fields of every row. UserError names the first malformed line."""
        found = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split("|")]
            if not self._complete(fields):
                raise UserError(
                    f"{self.what} lacks a field",
                    f"{file}:{number}: {line}",
                    f"write: {' | '.join(self.columns)}",
                )
            found.append(fields)
        return found

    def _complete(self, fields: Sequence[str]) -> bool:
        return len(fields) == len(self.columns) and all(
            field or column in self.may_be_empty
            for column, field in zip(self.columns, fields, strict=True)
        )
