# SPDX-License-Identifier: GPL-2.0
"""A user's own series: a mailbox, a patch, a quilt series, or a directory of patches."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
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
    path = path.resolve()
    if path.is_dir():
        quilt = path / "series"
        if quilt.is_file():
            return series.read(quilt)
        return _of(path / "series", _named(sorted(path.glob("*.patch"))), path)
    if not path.is_file():
        raise UserError(
            "the series does not exist",
            str(path),
            "name a mailbox, a patch or a directory of patches",
        )
    text = path.read_text(errors="replace")
    if re.match(r"From |From:|Subject:|Date:|Return-Path:|Received:", text):
        return _of(path, _mails(cache, path), path)
    if re.search(r"^(?:diff --git |--- \S.*\n\+\+\+ \S)", text, re.M):
        return _of(path, [Patch(path.name, path)], path)
    if path.name.startswith("series"):
        return series.read(path)
    return _of(path, [], path)


def _of(file: Path, patches: Sequence[Patch], path: Path) -> Series:
    found = tuple(patch for patch in patches if patch.diff())
    if not found:
        raise UserError(
            "there is no patch in this series",
            str(path),
            "name a mailbox (git format-patch --stdout, b4 am), a quilt series or a directory of "
            "*.patch files",
        )
    return Series(file, VersionRange(), found)


def _named(files: Sequence[Path]) -> list[Patch]:
    return [Patch(file.name, file) for file in files]


def _mails(cache: Cache, mailbox: Path) -> list[Patch]:
    """The patches in a mailbox, split once; sorted by number if all mails have one."""

    def build(directory: Path) -> None:
        command = process.Command(
            ["git", "mailsplit", "-b", "-d4", f"-o{directory}", "--", str(mailbox)]
        )
        finished = process.run(command)
        if finished.status:
            shutil.rmtree(directory, ignore_errors=True)
            raise UserError(
                f"{mailbox.name} is not a mailbox",
                f"{mailbox}\n{finished.output.strip()[-500:]}",
                "write one with git format-patch --stdout or b4 am",
            )
        process.needs_results("the next commands depend on the mailbox")

    directory = cache.make("mailbox", digest(mailbox), build)
    mails = sorted(directory.glob("[0-9]*"))
    patches = [Patch(f"{mail.name} of {mailbox.name}", mail) for mail in mails]
    patches = [patch for patch in patches if patch.diff() and not _is_reply(patch)]
    numbers = [_NUMBER.search(_head(patch)) for patch in patches]
    if all(numbers):
        pairs = zip(patches, numbers, strict=True)
        order = {patch.name: int(found[1]) for patch, found in pairs if found}
        patches.sort(key=lambda patch: order[patch.name])
    return patches


def _head(patch: Patch) -> str:
    return patch.path.read_text(errors="replace").partition("\n\n")[0]


def _is_reply(patch: Patch) -> bool:
    return bool(_REPLY.search(_head(patch)))
