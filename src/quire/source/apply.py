# SPDX-License-Identifier: GPL-2.0
"""Apply a series to a tree: without fuzz, completely or not at all, and idempotently.

The touched files are copied and patched in the copy; the tree is written only when all patches
apply. Topics that the tree already has are first reverted in the copy, so that the result is the
same whether the tree had none, some or all of the series.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from quire.host import process
from quire.host.errors import UserError
from quire.host.git import PLAIN
from quire.source.patch import Patch
from quire.source.series import Series

# A file's contents after the series; None: the file is deleted.
Contents = dict[str, bytes | None]


@dataclass(frozen=True)
class Applied:
    """The result of applying: the files written, and the patches that were already applied."""

    written: tuple[str, ...]
    already: tuple[str, ...]


def plan(tree: Path, patches: Iterable[Patch]) -> None:
    """Under --dry-run, print the commands that apply the patches to `tree`.

    Without it the patches are applied to a copy of some files.
    """
    for patch in patches:
        argv = ["git", "-C", str(tree), "apply", "-p1", str(patch.path)]
        process.plan(process.Command(argv))


def apply_series(tree: Path, series: Series) -> Applied:
    """Apply `series` to `tree`. UserError names patch and hunk; the tree is then unchanged."""
    names = sorted({name for patch in series.patches for name in patch.files()})
    with tempfile.TemporaryDirectory(prefix="quire-apply-") as directory:
        scratch = Path(directory)
        _copy(tree, scratch, names)
        already = _peel(scratch, series)
        for patch in series.patches:
            apply_patch(scratch, patch)
        contents = _changed(tree, scratch, names)
        modes = {
            n: (scratch / n).stat().st_mode for n, data in contents.items() if data is not None
        }
    write(tree, contents)
    for name, mode in modes.items():
        (tree / name).chmod(mode)
    return Applied(tuple(contents), tuple(already))


def apply_patch(tree: Path, patch: Patch) -> None:
    """Apply one patch without fuzz. UserError names the patch and the rejected hunk."""
    refusal = _git_apply(tree, patch)
    if refusal is not None:
        raise UserError(
            f"patch {patch.name} does not apply",
            f"{patch.subject()}\n{_refusing_hunks(patch, refusal)}\nthe tree is unchanged",
            "use a base of this series (quire doctor lists them), "
            "or rebase the patch: quire tree, quire export",
        )


def write(tree: Path, contents: Contents) -> None:
    """Write all files or none: first to temporary files, then rename them with signals deferred."""
    beside: list[tuple[Path, Path | None]] = []
    try:
        for name, data in contents.items():
            beside.append(_write_beside(tree / name, data))
    except BaseException:
        for _, temporary in beside:
            if temporary:
                temporary.unlink(missing_ok=True)
        raise
    with _Uninterrupted():
        for place, temporary in beside:
            if temporary:
                temporary.replace(place)
            else:
                place.unlink(missing_ok=True)


def _write_beside(place: Path, data: bytes | None) -> tuple[Path, Path | None]:
    if data is None:
        return place, None
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name}.quire")
    try:
        temporary.write_bytes(data)
        if place.exists():
            shutil.copymode(place, temporary)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return place, temporary


class _Uninterrupted:
    """Defers signals. Only the main thread receives them, so it does nothing in other threads."""

    _signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __enter__(self) -> None:
        self._came: list[int] = []
        self._main = threading.current_thread() is threading.main_thread()
        if self._main:
            self._old = [signal.signal(number, self._note) for number in self._signals]

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._came.append(number)

    def __exit__(self, *exception: object) -> None:
        if self._main:
            for number, old in zip(self._signals, self._old, strict=True):
                signal.signal(number, old)
        for came in self._came:
            os.kill(os.getpid(), came)


def _peel(scratch: Path, series: Series) -> list[str]:
    """Revert topics that are completely applied in the scratch copy, the last one first."""
    already: list[str] = []
    for topic in reversed(series.topics):
        patches = [patch for patch in series.patches if patch.topic == topic]
        with tempfile.TemporaryDirectory(prefix="quire-peel-") as directory:
            trial = Path(directory) / "tree"
            shutil.copytree(scratch, trial)
            if all(_git_apply(trial, patch, "--reverse") is None for patch in reversed(patches)):
                shutil.rmtree(scratch)
                shutil.copytree(trial, scratch)
                already = [patch.name for patch in patches] + already
    return already


def _copy(tree: Path, scratch: Path, names: Iterable[str]) -> None:
    for name in names:
        if (tree / name).is_file():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, scratch / name)


def _changed(tree: Path, scratch: Path, names: Iterable[str]) -> Contents:
    contents: Contents = {}
    for name in names:
        old = (tree / name).read_bytes() if (tree / name).is_file() else None
        new = (scratch / name).read_bytes() if (scratch / name).is_file() else None
        if old != new:
            contents[name] = new
    return contents


def _git_apply(tree: Path, patch: Patch, *options: str) -> str | None:
    """None on success, else git's message. On failure nothing is written."""
    finished = process.run(
        process.Command(
            ["git", "apply", "-p1", "--whitespace=nowarn", *options, str(patch.path.resolve())],
            cwd=tree,
            # Inside another repository, git would resolve paths from that repository's root.
            env={"GIT_CEILING_DIRECTORIES": str(tree.resolve().parent), **PLAIN},
        )
    )
    return finished.output if finished.status else None


def _refusing_hunks(patch: Patch, complaint: str) -> str:
    lines = []
    for file, line in re.findall(r"^error: patch failed: (.*):(\d+)$", complaint, re.M):
        hunk = patch.hunk_at(file, int(line))
        lines.append(str(hunk) if hunk else f"{file}, line {line}")
    if not lines:
        lines = re.findall(r"^error: (.*)$", complaint, re.M) or [complaint.strip()]
    return "\n".join(lines)
