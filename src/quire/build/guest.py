# SPDX-License-Identifier: GPL-2.0
"""The guest: our static program as /init of an initramfs, built without root, and its XFS.

The guest has no mkfs: the image of a new XFS is a file of the initramfs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture, requirements
from quire.arch.requirements import Requirement
from quire.build.kernel import Kernel, Toolchain, explain
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.host.errors import BuildFailed

# In an entry of the cache.
INITRD = "guest.cpio"
# Input for the kernel's gen_init_cpio: mount points, a console for init, init itself.
LIST = """\
dir /dev 0755 0 0
nod /dev/console 0600 0 0 c 5 1
dir /proc 0755 0 0
dir /sys 0755 0 0
dir /tmp 0755 0 0
dir /root 0700 0 0
file /init {program} 0755 0 0
"""


@dataclass(frozen=True)
class Guest:
    """An initramfs for one architecture. `sha256` is part of the key of cached counts."""

    arch: Architecture
    initrd: Path
    sha256: str
    # The guest that this one begins with, byte for byte.
    begins_with: Path | None = None


def build(
    cache: Cache, sources: Path, kernel: Kernel, jobs: int, toolchain: Toolchain | None = None
) -> Guest:
    """Compile the program and build its initramfs. BuildFailed with the first error line."""
    arch, tools = kernel.arch, toolchain or kernel.toolchain
    key = f"{arch.name}-{digest(LIST, tools.version, *source_files(sources))}"

    def make(directory: Path) -> None:
        log = cache.log(f"guest-{arch.name}")
        argv = ["make", "-C", str(sources), f"-j{jobs}", f"ARCH={arch.guest}"]
        argv += [f"CROSS_COMPILE={tools.cross_compile}", f"O={directory}"]
        command = process.Command(argv, log=log)
        if process.run(command).status:
            raise explain(f"the guest for {arch.name} did not build", log, command)
        pack(kernel, directory / "quire-guest", directory / INITRD)

    return _guest(arch, cache.make("guest", key, make))


def pack(kernel: Kernel, program: Path, initrd: Path) -> None:
    """Build an initramfs with `program` as /init, with the kernel's gen_init_cpio."""
    listing = initrd.with_suffix(".list")
    argv = [str(kernel.objdir / "usr/gen_init_cpio"), "-t", "0", str(listing)]
    command = process.Command(argv, output=initrd)
    listing.write_text(LIST.format(program=program))
    if process.run(command).status:
        what, remedy = "the initramfs could not be built", "run the command by hand"
        raise BuildFailed(what, command.text(), remedy)


def with_files(cache: Cache, guest: Guest, files: Mapping[str, bytes]) -> Guest:
    """The guest with additional executable files, in existing directories or in `files`' own.

    A name that ends with a slash is a directory.
    """
    key = f"{guest.arch.name}-{digest(guest.sha256, list(files), *files.values())}"

    def make(directory: Path) -> None:
        archive = guest.initrd.read_bytes() + cpio(files)
        (directory / INITRD).write_bytes(archive)

    return _guest(guest.arch, cache.make("guest", key, make))


def _guest(arch: Architecture, directory: Path) -> Guest:
    initrd = directory / INITRD
    return Guest(arch, initrd, sha256(initrd))


def cpio(files: Mapping[str, bytes]) -> bytes:
    """A further archive in the kernel's format for an initramfs: "newc", padded to 512 bytes."""
    members = [_member(name, data) for name, data in files.items()]
    archive = b"".join([*members, _member("TRAILER!!!", b"", 0)])
    return archive + bytes(-len(archive) % 512)


def _member(name: str, data: bytes, mode: int | None = None) -> bytes:
    if mode is None:
        mode = 0o040755 if name.endswith("/") else 0o100755
    name = name.rstrip("/")
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % number for number in fields) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def source_files(directory: Path) -> list[Path]:
    """All sources and makefiles below `directory`, sorted, without editors' backup files."""
    return sorted(
        path
        for path in directory.rglob("*")
        if path.suffix in (".c", ".h", ".S") or path.name == "Makefile"
    )


# A kernel with this gets it.
XFS = "CONFIG_XFS_FS"
MKFS = Requirement("/usr/sbin/mkfs.xfs", ("xfsprogs",), "tests with configs/xfs.config")
# As in guest/lib/kernel/xfs.c.
IMAGE, MIB = "xfs.img", 256
# The same for all, so that a guest does not change. Below 300 MiB, mkfs.xfs has to be told.
UUID = "71756972-6500-4000-8000-000000000000"
# The sectors are those of the null_blk device.
MKFS_OPTIONS = ("-q", "--unsupported", "-m", f"uuid={UUID}", "-s", "size=4096")
XFS_KEY = digest(IMAGE, str(MIB), *MKFS_OPTIONS)


def with_filesystem(cache: Cache, plain: Guest, kernel: Kernel) -> Guest:
    """The guest with the image if that kernel has XFS. UserError without mkfs.xfs."""
    if not kernel.enables(XFS):
        return plain
    if not MKFS.present():
        raise requirements.lacks([MKFS])
    return with_files(cache, plain, {IMAGE: _xfs(cache)})


def _xfs(cache: Cache) -> bytes:
    """The image up to the zeroes at its end."""

    def make(directory: Path) -> None:
        place = f"agcount=1,file,name={directory / IMAGE},size={MIB}m"
        process.check(process.Command([MKFS.name, *MKFS_OPTIONS, "-d", place]))

    return (cache.make("filesystem", XFS_KEY, make) / IMAGE).read_bytes().rstrip(b"\0")
