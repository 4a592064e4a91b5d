# SPDX-License-Identifier: GPL-2.0
"""The difference of two trees, as a series of one patch.

The second side is then built like a patched tree: from the first side's objects, compiling only
what differs.
"""

from __future__ import annotations

from pathlib import Path

from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.errors import BuildFailed
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.tree import copy_links
from quire.source.version import VersionRange

FILE = "difference.patch"


def between(cache: Cache, one: Base, other: Base) -> Series:
    """The patch that turns `one` into `other`; no patch if they are equal."""

    def build(directory: Path) -> None:
        # git makes the usual a/ and b/ prefixes from these names.
        copy_links(one.path, directory / "a")
        copy_links(other.path, directory / "b")
        words = ["diff", "--no-index", "--no-prefix", "--binary", "--no-renames", "--no-color"]
        words += ["--output", FILE, "a", "b"]
        finished = process.run(process.Command(["git", *words], cwd=directory))
        process.needs_results("the next commands depend on the difference")
        # Status 1 means that they differ, as for diff.
        if finished.status not in (0, 1):
            raise BuildFailed(
                "cannot compare the two sides",
                finished.output.strip()[-1000:],
                "free some space, or name another build directory with O=DIR",
            )
        process.check(process.Command(["rm", "-rf", "a", "b"], cwd=directory))

    directory = cache.make("difference", digest(one.key, other.key), build)
    patch = Patch(FILE, directory / FILE)
    found = (patch,) if patch.path.is_file() and patch.diff() else ()
    return Series(directory / "series", VersionRange(), found)
