# SPDX-License-Identifier: GPL-2.0
"""What a build starts from: a copy of the build of the most similar tree of the same base.

make then rebuilds only what depends on files in which the two trees differ: little, when a patch in
the middle of a series has changed, or a seeded bug was added to it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from quire.host import process
from quire.source import tree as trees
from quire.source.tree import Tree

# Marks a complete build, in its O= directory.
BUILT = ".quire-built"
# Many objects depend on a header.
HEADER_WEIGHT = 100
# Between the times of two objects.
STEP_NS = 100


def copy(tree: Tree, name: str) -> bool:
    """Copy a build into the tree's O= directory of that name, unless there is one.

    Return whether there is one now. A tree without patches starts from nothing.
    """
    objdir = tree.path / name
    if objdir.is_dir():
        return True
    if not tree.series:
        return False
    nearest = min(_candidates(tree, name), key=lambda found: _weight(found[1]), default=None)
    if not nearest:
        return False
    built, differing = nearest
    _copy_build(built / name, objdir)
    _touch(tree, differing)
    return True


def _candidates(tree: Tree, name: str) -> Iterator[tuple[Path, set[str]]]:
    """Trees with a complete build of that name, and the files in which each differs from `tree`."""
    base, ours = trees.stock(tree.base).path, _patched(tree)
    if (base / name / BUILT).is_file():
        yield base, ours
    for other in sorted(tree.path.parent.parent.glob(f"{tree.base.key}+*/{trees.SOURCES}")):
        files = trees.patched_files(other)
        if files and (other / name / BUILT).is_file():
            yield other, {file for file in {*ours, *files} if _differs(tree.path, other, file)}


def _patched(tree: Tree) -> set[str]:
    """The files that the tree's series names."""
    patches = tree.series.patches if tree.series else ()
    return {file for patch in patches for file in patch.files()}


def _differs(tree: Path, other: Path, file: str) -> bool:
    one, two = tree / file, other / file
    if not one.is_file() or not two.is_file():
        return one.is_file() != two.is_file()
    return one.read_bytes() != two.read_bytes()


def _weight(differing: set[str]) -> int:
    """How much there is to rebuild, roughly."""
    return sum(HEADER_WEIGHT if file.endswith(".h") else 1 for file in differing)


def _touch(tree: Tree, files: set[str]) -> None:
    """Make files newer than the copied objects.

    No file may become older: an interrupted build of the tree for another architecture would take
    its objects for up to date, and the kernel would be another tree's.
    """
    for file in sorted(files):
        path = tree.path / file
        if path.is_file():
            _unlink_others(path)
            # Not touch(): the kernel's clock for it may be a tick behind the time of the objects.
            now = time.time_ns()
            os.utime(path, ns=(now, now))


def _unlink_others(path: Path) -> None:
    """Give a hard-linked file a copy of its own: its time is not the base's."""
    if path.stat().st_nlink > 1:
        own = path.with_name(f".{path.name}.quire")
        shutil.copy2(path, own)
        own.replace(path)


def _copy_build(built: Path, objdir: Path) -> None:
    temporary = objdir.with_name(f".{objdir.name}.new")
    shutil.rmtree(temporary, ignore_errors=True)
    process.check(process.Command(["cp", "-a", "--reflink=auto", str(built), str(temporary)]))
    (temporary / BUILT).unlink()
    old, new = f"{built.parent}/".encode(), f"{objdir.parent}/".encode()
    # objtool and the vDSO record absolute paths. Unless these are replaced, objtool is rebuilt, and
    # every x86 object depends on it.
    for command in [*temporary.glob("tools/**/.*.cmd"), *temporary.glob("arch/*/**/.*.cmd")]:
        text = command.read_bytes()
        if old in text:
            times = command.stat()
            command.write_bytes(text.replace(old, new))
            os.utime(command, ns=(times.st_atime_ns, times.st_mtime_ns))
    _renew(temporary)
    temporary.rename(objdir)


def _renew(objdir: Path) -> None:
    """Make all objects newer than the tree's sources, in their order.

    The tree may be younger than the build that was copied, and then so are its patched files, also
    those that are the same in both.
    """
    files = [path for path in objdir.rglob("*") if path.is_file() and not path.is_symlink()]
    times = {path: path.stat().st_mtime_ns for path in files}
    order = {then: rank for rank, then in enumerate(sorted(set(times.values())))}
    # The newest gets the time of now. There are some ten thousand files.
    first = time.time_ns() - len(order) * STEP_NS
    for path, then in times.items():
        new = first + order[then] * STEP_NS
        os.utime(path, ns=(new, new))
