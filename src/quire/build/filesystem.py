# SPDX-License-Identifier: GPL-2.0
"""A new XFS or ext4 for the guest, which has no mkfs: its image is a file of the initramfs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quire.arch import requirements
from quire.arch.requirements import Need
from quire.build import guest
from quire.build.guest import Guest
from quire.build.kernel import Kernel
from quire.host import process
from quire.host.cache import Cache, digest

# As in guest/lib/kernel/image.c.
MIB = 256
# The same for all, so that a guest does not change.
UUID = "71756972-6500-4000-8000-000000000000"


@dataclass(frozen=True)
class Filesystem:
    """A kernel with `option` gets it. `options` of mkfs: the sectors are those of the null_blk
    device. In them, FILE is the image, which has MIB already."""

    image: str
    option: str
    need: Need
    options: tuple[str, ...]

    @property
    def key(self) -> str:
        """A key of what is made."""
        return digest(self.image, str(MIB), *self.options)


# Below 300 MiB, mkfs.xfs has to be told.
_XFS = ("-q", "--unsupported", "-m", f"uuid={UUID}", "-s", "size=4096", "-d")
# Few inodes, all metadata at the beginning, and nothing that the kernel initialises later.
_EXT4 = ("-q", "-F", "-b", "4096", "-N", "64", "-U", UUID, "-J", "size=4")
_PLACED = "lazy_itable_init=0,lazy_journal_init=0,packed_meta_blocks=1,num_backup_sb=0"
FILESYSTEMS = (
    Filesystem(
        "xfs.img",
        "CONFIG_XFS_FS",
        Need("/usr/sbin/mkfs.xfs", ("xfsprogs",), "tests with configs/xfs.config"),
        (*_XFS, f"agcount=1,file,name=FILE,size={MIB}m"),
    ),
    Filesystem(
        "ext4.img",
        "CONFIG_EXT4_FS",
        Need("/usr/sbin/mkfs.ext4", ("e2fsprogs",), "benchmarks with configs/ext4.config"),
        (*_EXT4, "-O", "sparse_super2,^resize_inode", "-E", f"hash_seed={UUID},{_PLACED}", "FILE"),
    ),
)


def added(cache: Cache, plain: Guest, kernel: Kernel) -> Guest:
    """The guest with an image if that kernel has such a filesystem. UserError without its mkfs."""
    wanted = [one for one in FILESYSTEMS if kernel.enables(one.option)]
    if lacking := [one.need for one in wanted if not one.need.present()]:
        raise requirements.lacks(lacking)
    images = {one.image: _image(cache, one) for one in wanted}
    return guest.with_files(cache, plain, images) if images else plain


def _image(cache: Cache, wanted: Filesystem) -> bytes:
    """The image up to the zeroes at its end."""

    def make(directory: Path) -> None:
        file = directory / wanted.image
        with file.open("wb") as empty:
            empty.truncate(MIB << 20)
        words = [word.replace("FILE", str(file)) for word in wanted.options]
        # mkfs.ext4 writes the time.
        env = {"E2FSPROGS_FAKE_TIME": "1"}
        process.check(process.Command([wanted.need.name, *words], env=env))

    return (cache.make("filesystem", wanted.key, make) / wanted.image).read_bytes().rstrip(b"\0")
