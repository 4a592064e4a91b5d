# SPDX-License-Identifier: GPL-2.0
"""A user's own series: a mailbox, a patch, a quilt series, or a directory of patches."""

from __future__ import annotations

import re
from pathlib import Path

from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import mail, series
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.version import VersionRange

NEWEST = mail.ThreadChoice()
_DIFF = re.compile(r"^(?:diff --git |--- \S.*\n\+\+\+ \S)", re.M)


def read(cache: Cache, path: Path, choice: mail.ThreadChoice = NEWEST) -> Series:
    """The patches in `path`, in order. UserError for any other file, or one without a patch."""
    file, patches = path.resolve(), list[Patch]()
    if file.is_dir():
        file = file / "series"
        if file.is_file():
            return series.read(file)
        patches = [Patch(patch.name, patch) for patch in sorted(file.parent.glob("*.patch"))]
    elif not file.is_file():
        remedy = "name a mailbox, a patch or a directory of patches"
        raise UserError("the series does not exist", str(file), remedy)
    elif mail.is_mail(file):
        patches = mail.patches(cache, file, choice)
    elif _DIFF.search(file.read_text(errors="replace")):
        patches = [Patch(file.name, file)]
    elif file.name.startswith("series"):
        return series.read(file)
    patches = [patch for patch in patches if patch.diff()]
    if not patches:
        remedy = "name a mailbox (git format-patch --stdout, b4 am), a quilt series or a directory"
        raise UserError("there is no patch in this series", str(path), f"{remedy} of *.patch files")
    return Series(file, VersionRange(), tuple(patches))
