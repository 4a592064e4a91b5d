# SPDX-License-Identifier: GPL-2.0
"""A user's own series: a mailbox, a patch, a quilt series, or a directory of patches."""

from __future__ import annotations

import re
from pathlib import Path

from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.errors import UserError
from quire.source import series
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.version import VersionRange

_NUMBER = re.compile(r"^Subject:.*?\[[^]]*?\b(\d+)/\d+\s*\]", re.M | re.S)
_REPLY = re.compile(r"^Subject:\s*(?:Re|RE|Fwd):", re.M)


def read(cache: Cache, path: Path) -> Series:
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
    else:
        text = file.read_text(errors="replace")
        if re.match(r"From |From:|Subject:|Date:|Return-Path:|Received:", text):
            patches = _mails(cache, file)
        elif re.search(r"^(?:diff --git |--- \S.*\n\+\+\+ \S)", text, re.M):
            patches = [Patch(file.name, file)]
        elif file.name.startswith("series"):
            return series.read(file)
    patches = [patch for patch in patches if patch.diff()]
    if not patches:
        remedy = "name a mailbox (git format-patch --stdout, b4 am), a quilt series or a directory"
        raise UserError("there is no patch in this series", str(path), f"{remedy} of *.patch files")
    return Series(file, VersionRange(), tuple(patches))


def _mails(cache: Cache, mailbox: Path) -> list[Patch]:
    """The patches in a mailbox, split once; sorted by number if all mails have one."""

    def build(directory: Path) -> None:
        argv = ["git", "mailsplit", "-b", "-d4", f"-o{directory}", "--", str(mailbox)]
        remedy = "write one with git format-patch --stdout or b4 am"
        process.check(process.Command(argv), f"{mailbox} is not a mailbox", remedy, UserError)
        process.needs_results("the next commands depend on the mailbox")

    directory = cache.make("mailbox", digest(mailbox), build)
    numbered: list[tuple[int | None, Patch]] = []
    for mail in sorted(directory.glob("[0-9]*")):
        patch = Patch(f"{mail.name} of {mailbox.name}", mail)
        head = mail.read_text(errors="replace").partition("\n\n")[0]
        if patch.diff() and not _REPLY.search(head):
            number = _NUMBER.search(head)
            numbered.append((int(number[1]) if number else None, patch))
    if all(number is not None for number, _ in numbered):
        numbered.sort(key=lambda pair: pair[0] or 0)
    return [patch for _, patch in numbered]
