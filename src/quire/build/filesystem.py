# SPDX-License-Identifier: GPL-2.0
"""A new XFS for the guest, which has no mkfs: its image is a file of the initramfs."""

from __future__ import annotations

from pathlib import Path

from quire.arch import requirements
from quire.arch.requirements import Requirement
from quire.build import guest
from quire.build.guest import Guest
from quire.build.kernel import Kernel
from quire.host import process
from quire.host.cache import Cache, digest

# A kernel with this gets it.
OPTION = "CONFIG_XFS_FS"
NEED = Requirement("/usr/sbin/mkfs.xfs", ("xfsprogs",), "tests with configs/xfs.config")
# As in guest/lib/kernel/xfs.c.
IMAGE, MIB = "xfs.img", 256
# The same for all, so that a guest does not change. Below 300 MiB, mkfs.xfs has to be told.
UUID = "71756972-6500-4000-8000-000000000000"
# The sectors are those of the null_blk device.
OPTIONS = ("-q", "--unsupported", "-m", f"uuid={UUID}", "-s", "size=4096")
KEY = digest(IMAGE, str(MIB), *OPTIONS)


def added(cache: Cache, plain: Guest, kernel: Kernel) -> Guest:
    """The guest with the image if that kernel has XFS. UserError without mkfs.xfs."""
    if not kernel.enables(OPTION):
        return plain
    if not NEED.present():
        raise requirements.lacks([NEED])
    return guest.with_files(cache, plain, {IMAGE: _image(cache)})


def _image(cache: Cache) -> bytes:
    """The image up to the zeroes at its end."""

    def make(directory: Path) -> None:
        place = f"agcount=1,file,name={directory / IMAGE},size={MIB}m"
        process.check(process.Command([NEED.name, *OPTIONS, "-d", place]))

    return (cache.make("filesystem", KEY, make) / IMAGE).read_bytes().rstrip(b"\0")
