# SPDX-License-Identifier: GPL-2.0
"""A tree that changes from one selection of patches to another.

Only files whose contents differ are written, so that make recompiles only their dependents.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import process
from quire.host.cache import Cache
from quire.source import apply
from quire.source.apply import Contents
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.tree import copy_links

# Beside the tree: the list of files changed by any selection so far.
CHANGED = "changed.json"
# The results of clean selections, and of stock for the others.
NOTES = ("clean", "stock")


@dataclass(frozen=True)
class Stepping:
    """`path` is the tree; files that no patch touches are hard links to the base's."""

    base: Path
    path: Path

    def to(self, series: Series | None) -> None:
        """Change the tree to the base plus the patches of `series`; to the base for None.

        UserError names the patch and hunk that do not apply; the tree is then unchanged.
        """
        patches = series.patches if series else ()
        apply.plan(self.path, patches)
        process.do(self._change, patches)

    def _change(self, patches: Sequence[Patch]) -> None:
        names = self._changed({name for patch in patches for name in patch.files()})
        with tempfile.TemporaryDirectory(prefix="quire-step-") as directory:
            scratch = Path(directory)
            for name in names:
                _copy(self.base / name, scratch / name)
            for patch in patches:
                apply.apply_patch(scratch, patch)
            contents: Contents = {}
            for name in names:
                wanted = _read(scratch / name)
                if wanted != _read(self.path / name):
                    contents[name] = wanted
        apply.write(self.path, contents)

    def _changed(self, names: Iterable[str]) -> list[str]:
        """`names` plus all files changed earlier; recorded before the tree changes."""
        note = self.path.parent / CHANGED
        before = json.loads(note.read_text()) if note.is_file() else []
        after = sorted({*before, *names})
        if after != before:
            new = note.with_suffix(".new")
            new.write_text(json.dumps(after) + "\n")
            new.replace(note)
        return after


def prepare(cache: Cache, base: Base) -> Stepping:
    """The tree for `base`: created once, then kept with its compiled objects."""
    entry = cache.make(
        "architectures", base.key, lambda directory: copy_links(base.path, directory / "linux")
    )
    for name in NOTES:
        process.do((entry / name).mkdir, exist_ok=True)
    return Stepping(base.path, entry / "linux")


def _copy(source: Path, destination: Path) -> None:
    if source.is_file():
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, destination)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
