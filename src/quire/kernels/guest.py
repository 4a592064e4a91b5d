# SPDX-License-Identifier: GPL-2.0
"""Build the guest: our static program as /init of an initramfs, and its filesystem, without root.

The guest has no mkfs: the image of a new XFS or ext4 is a file of the initramfs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture, requirements
from quire.arch.requirements import Requirement
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.host.errors import BuildFailed
from quire.kernels.kernel import Kernel, Toolchain, compile

# File names in a cache entry.
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
    # The guest that this one extends, byte for byte.
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
        compile(process.Command(argv, log=log), f"the guest for {arch.name} did not build")
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
    """Add executable files to a guest, in existing directories or in directories of `files`.

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
    """Return an additional initramfs archive in the kernel's format, "newc", padded to 512."""
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
    """List all sources and makefiles below `directory`, sorted, without editors' backup files."""
    return sorted(
        path
        for path in directory.rglob("*")
        if path.suffix in (".c", ".h", ".S") or path.name == "Makefile"
    )


# As in guest/lib/kernel/image.c.
MIB = 256
# Constant, so that guests are reproducible.
UUID = "71756972-6500-4000-8000-000000000000"


@dataclass(frozen=True)
class Filesystem:
    """A filesystem image for kernels with `option`. `options` are mkfs's, with the sector size of
    the null_blk device; FILE stands for the image, which already has MIB."""

    image: str
    option: str
    mkfs: Requirement
    options: tuple[str, ...]

    @property
    def key(self) -> str:
        """Return the cache key of the image."""
        return digest(self.image, str(MIB), *self.options)


# Below 300 MiB, mkfs.xfs needs an explicit option.
_XFS = ("-q", "--unsupported", "-m", f"uuid={UUID}", "-s", "size=4096", "-d")
# Few inodes, all metadata at the beginning, and nothing that the kernel initialises later.
_EXT4 = ("-q", "-F", "-b", "4096", "-N", "64", "-U", UUID, "-J", "size=4")
_PLACED = "lazy_itable_init=0,lazy_journal_init=0,packed_meta_blocks=1,num_backup_sb=0"
FILESYSTEMS = (
    Filesystem(
        "xfs.img",
        "CONFIG_XFS_FS",
        Requirement("/usr/sbin/mkfs.xfs", ("xfsprogs",), "tests with configs/xfs.config"),
        (*_XFS, f"agcount=1,file,name=FILE,size={MIB}m"),
    ),
    Filesystem(
        "ext4.img",
        "CONFIG_EXT4_FS",
        Requirement("/usr/sbin/mkfs.ext4", ("e2fsprogs",), "benchmarks with configs/ext4.config"),
        (*_EXT4, "-O", "sparse_super2,^resize_inode", "-E", f"hash_seed={UUID},{_PLACED}", "FILE"),
    ),
)


def with_filesystem(cache: Cache, plain: Guest, kernel: Kernel) -> Guest:
    """Add an image to the guest if the kernel has such a filesystem. UserError without mkfs."""
    wanted = [one for one in FILESYSTEMS if kernel.enables(one.option)]
    if lacking := [one.mkfs for one in wanted if not one.mkfs.present()]:
        raise requirements.lacks(lacking)
    images = {one.image: _image(cache, one) for one in wanted}
    return with_files(cache, plain, images) if images else plain


def _image(cache: Cache, wanted: Filesystem) -> bytes:
    """The image without trailing zeroes."""

    def make(directory: Path) -> None:
        file = directory / wanted.image
        with file.open("wb") as empty:
            empty.truncate(MIB << 20)
        words = [word.replace("FILE", str(file)) for word in wanted.options]
        # mkfs.ext4 writes the current time.
        env = {"E2FSPROGS_FAKE_TIME": "1"}
        process.check(process.Command([wanted.mkfs.name, *words], env=env))

    return (cache.make("filesystem", wanted.key, make) / wanted.image).read_bytes().rstrip(b"\0")
