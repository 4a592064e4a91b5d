# SPDX-License-Identifier: GPL-2.0
"""Kernels of steps: built one after the other in one O= directory, of which the image is kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.kernels import kernel
from quire.kernels.existing import INITRAMFS
from quire.kernels.kernel import Kernel, Request

RECORD = "step.json"
# Of the linked kernel: the hash of the build, and where warnings are in the sources. A comment
# changes these, and nothing that runs.
WITHOUT = ("-R", ".notes", "-R", "__bug_table")


@dataclass(frozen=True)
class Built:
    """A kernel, whose O= directory has what boots of it, and a hash of the code and data in it."""

    kernel: Kernel
    code: str


def build(
    cache: Cache, request: Request, place: Callable[[], None], tick: Callable[[int], None]
) -> Built:
    """Build unless it is kept. `place` puts the sources where `request` has them.

    BuildFailed as for kernel.build().
    """
    key = digest(request.tree.key, request.arch.name, request.config_key)

    def make(directory: Path) -> None:
        with cache.lock("steps", request.tree.path.parent.name):
            # The mark is of the sources that were placed before.
            (request.objdir / kernel.BUILT).unlink(missing_ok=True)
            place()
            # What was built of the base is up to date here: same times, same relative paths.
            begun = request.tree.base.path / request.objdir.name
            if not request.objdir.exists() and (begun / kernel.BUILT).is_file():
                shutil.copytree(begun, request.objdir, symlinks=True)
                (request.objdir / kernel.BUILT).unlink()
            built = kernel.build(cache, request, tick)
            for path in (built.image, built.system_map, built.config, built.objdir / INITRAMFS):
                kept = directory / path.relative_to(built.objdir)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, kept)
            code = directory / "code"
            argv = [f"{built.toolchain.cross_compile}objcopy", "-O", "binary", *WITHOUT]
            process.check(process.Command([*argv, str(built.objdir / "vmlinux"), str(code)]))
            record = {"image_sha256": built.image_sha256, "code": sha256(code)}
            code.unlink()
            (directory / RECORD).write_text(json.dumps(record) + "\n")

    directory = cache.make("step", key, make)
    record = json.loads((directory / RECORD).read_text())
    kept = replace(kernel.load(request), objdir=directory, image_sha256=record["image_sha256"])
    return Built(kept, record["code"])
