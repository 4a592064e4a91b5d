# SPDX-License-Identifier: GPL-2.0
"""Build the kernels of steps in turn in one O= directory, and keep their images."""

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
# Sections with the build's hash and the source lines of warnings. A change of a comment affects
# these, but no code.
WITHOUT = ("-R", ".notes", "-R", "__bug_table")


@dataclass(frozen=True)
class Built:
    """A kernel, whose O= directory has the bootable files, and a hash of its code and data."""

    kernel: Kernel
    code: str


def build(
    cache: Cache, request: Request, place: Callable[[], None], tick: Callable[[int], None]
) -> Built:
    """Build the kernel unless it is kept. `place` puts the sources where `request` expects them.

    BuildFailed as for kernel.build().
    """
    key = digest(request.tree.key, request.arch.name, request.config_key)

    def make(directory: Path) -> None:
        with cache.lock("steps", request.tree.path.parent.name):
            # The mark belongs to the previous sources.
            (request.objdir / kernel.BUILT).unlink(missing_ok=True)
            place()
            # The base's objects are up to date here: same timestamps, same relative paths.
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
