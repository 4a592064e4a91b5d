# SPDX-License-Identifier: GPL-2.0
"""Apply a series to a tree: without fuzz, completely or not at all, and idempotently.

The touched files are copied and patched in the copy; the tree is written only when all patches
apply. Patches that the tree already has are first reverted in the copy, and then applied again in
the series' order, so that the result is the same whether the tree had none, some or all of them.
"""

import contextlib
import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.host.errors import UserError
from quire.host.git import run_git
from quire.host.process import Finished
from quire.source.patch import Patch
from quire.source.series import Series

# A file's contents after the series; None: the file is deleted.
Contents = dict[str, bytes | None]
UNCHANGED = "the tree is unchanged"


@dataclass(frozen=True)
class Applied:
    """The result of applying: the files written, and the patches that were already applied."""

    written: tuple[str, ...]
    already: tuple[str, ...]


def apply_series(tree: Path, series: Series, whole: Series | None = None) -> Applied:
    """Apply `series` to `tree`, which may already have other patches of the `whole` series.

    UserError names the patch and hunk; the tree is then unchanged.
    """
    whole = whole or series
    names = touched(whole)
    with copies(tree, names) as scratch:
        already = peel(scratch, whole)
        wanted = {*series.patches, *already}
        union = [patch for patch in whole.patches if patch in wanted]
        written = _update(tree, scratch, union, names)
    return Applied(written, tuple(p.name for p in series.patches if p in already))


def refusal(tree: Path, series: Series) -> UserError | None:
    """Return why the series does not apply to `tree`, or None; the tree is not changed."""
    with copies(tree, touched(series)) as scratch:
        return trouble(scratch, series.patches)


def trouble(
    tree: Path, patches: Iterable[Patch], change: Callable[[Path, Patch], None] | None = None
) -> UserError | None:
    """Apply or revert (`change`) patches until one fails; return the reason, or None."""
    try:
        for patch in patches:
            (change or apply_patch)(tree, patch)
    except UserError as error:
        return error
    return None


def touched(series: Series) -> list[str]:
    """List every file that a patch of the series reads or writes."""
    return sorted({name for patch in series.patches for name in patch.files()})


def set_patches(tree: Path, base: Path, patches: Iterable[Patch], names: Iterable[str]) -> None:
    """Turn these files of `tree` into those of `base` plus the patches; write only differences.

    UserError as for apply_series().
    """
    with copies(base, names) as scratch:
        _update(tree, scratch, patches, names)


@contextlib.contextmanager
def copies(tree: Path, names: Iterable[str]) -> Iterator[Path]:
    """Create a temporary directory with copies of a tree's files, where these exist."""
    with tempfile.TemporaryDirectory(prefix="quire-apply-") as directory:
        scratch = Path(directory)
        for name in names:
            if (tree / name).is_file():
                (scratch / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / name, scratch / name)
        yield scratch


def _update(
    tree: Path, scratch: Path, patches: Iterable[Patch], names: Iterable[str]
) -> tuple[str, ...]:
    """Apply patches in `scratch`, write differences to `tree`; return the changed files."""
    for patch in patches:
        apply_patch(scratch, patch)
    patched = {name: read_file(scratch / name) for name in names}
    contents = {name: data for name, data in patched.items() if data != read_file(tree / name)}
    write(tree, contents)
    for name in contents:
        if (scratch / name).is_file():
            shutil.copymode(scratch / name, tree / name)
    return tuple(contents)


def apply_patch(tree: Path, patch: Patch) -> None:
    """Apply one patch without fuzz. UserError names the patch and the rejected hunk."""
    done = tried(tree, patch)
    if done.status:
        what = f"patch {patch.name} does not apply"
        where = f"{patch.subject()}\n{refusing_hunks(patch, done.output)}\n{UNCHANGED}"
        remedy = "use a base of this series (see quire doctor), or rebase the patch: "
        raise UserError(what, where, f"{remedy}quire tree, quire export")


def revert_patch(tree: Path, patch: Patch) -> None:
    """Revert one patch. UserError names the patch and the rejected hunk."""
    done = tried(tree, patch, "--reverse")
    if done.status:
        where = f"{patch.subject()}\n{refusing_hunks(patch, done.output)}"
        remedy = "first revert later changes to the same lines, or move the patch in the series"
        raise UserError(f"patch {patch.name} cannot be reverted", where, remedy)


def write(tree: Path, contents: Contents) -> None:
    """Write all files or none: first to temporary files, then rename them with signals deferred."""
    beside: dict[Path, Path] = {}
    try:
        for name, data in contents.items():
            if data is not None:
                path = tree / name
                path.parent.mkdir(parents=True, exist_ok=True)
                beside[path] = path.with_name(f".{path.name}.quire")
                beside[path].write_bytes(data)
                if path.exists():
                    shutil.copymode(path, beside[path])
        with _signals_deferred():
            for path, temporary in beside.items():
                temporary.replace(path)
            for name, data in contents.items():
                if data is None:
                    (tree / name).unlink(missing_ok=True)
    finally:
        for temporary in beside.values():
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _signals_deferred() -> Iterator[None]:
    came: list[int] = []
    old: dict[signal.Signals, Any] = {}
    # Only the main thread receives signals.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            old[number] = signal.signal(number, lambda received, _: came.append(received))
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        for received in came:
            os.kill(os.getpid(), received)


def peel(scratch: Path, series: Series) -> list[Patch]:
    """Revert the applied patches in the scratch copy, the last one first."""
    return [p for p in reversed(series.patches) if not tried(scratch, p, "--reverse").status]


def read_file(path: Path) -> bytes | None:
    """Return a file's contents; None if it does not exist."""
    return path.read_bytes() if path.is_file() else None


def tried(tree: Path, patch: Patch, *options: str) -> Finished:
    """Return the result of git apply, which writes nothing if it fails."""
    # Inside another repository, git would resolve paths from that repository's root.
    env = {"GIT_CEILING_DIRECTORIES": str(tree.resolve().parent)}
    words = ("-p1", "--whitespace=nowarn", *options, str(patch.path.resolve()))
    return run_git(tree, "apply", *words, env=env)


def refusing_hunks(patch: Patch, complaint: str) -> str:
    """Describe the hunks that git's complaint names."""
    failed = re.findall(r"^error: patch failed: (.*):(\d+)$", complaint, re.M)
    lines = [patch.hunk_at(file, int(line)) for file, line in failed]
    lines = lines or re.findall(r"^error: (.*)$", complaint, re.M) or [complaint.strip()]
    return "\n".join(lines)
