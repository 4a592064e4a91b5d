# SPDX-License-Identifier: GPL-2.0
"""Build a Debian root file system as an ext4 image, without root: packages are unpacked here and
installed in the guest, so that no foreign binary runs on this host."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.arch import Architecture
from quire.arch.requirements import Requirement, lacks
from quire.boot import launch, results
from quire.boot.machine import RESULTS, Disk, Hardware, Machine
from quire.host import process
from quire.host.cache import digest
from quire.host.errors import BuildFailed, UserError
from quire.kernels import guest
from quire.kernels.guest import UUID, Guest
from quire.kernels.kernel import Kernel
from quire.programs import packages
from quire.session import Session

NEEDS = (
    Requirement("/usr/sbin/mke2fs", ("e2fsprogs",), "images with a userland"),
    Requirement("dpkg-deb", ("dpkg",), "images with a userland"),
)
# The image's size; it is sparse.
MIB = 2048
# What an image takes while it is built: packages, their files, the image.
FREE_MIB = 1536
IMAGE, RECORD = "root.ext4", "packages.json"
# In the project's guest folder, and in the initramfs.
SECOND_STAGE = "rootfs/second-stage"
PACKAGES = "var/cache/quire"
# Seconds: the second stage takes half a minute where it runs natively.
TIMEOUT = 3600.0
# Milliseconds of guest time.
PATIENCE = "quire_timeout=3600000"
# These are links to /usr, as in every current Debian.
MERGED = ("bin", "lib", "lib64", "sbin")
LEFT_OUT = ("doc", "info", "locale", "man")


@dataclass(frozen=True)
class Image:
    """A root file system and the versions of its packages."""

    suite: str
    file: Path
    versions: dict[str, str]


def with_disk(session: Session, arch: Architecture) -> Session:
    """Return the session whose kernels for `arch` have what a userland and its disk need."""
    names = ("rootfs", "rootfs-virtio" if arch.qemu else "rootfs-um")
    paths = tuple(session.project.configs / f"{name}.config" for name in names)
    return replace(session, configs=(*paths, *session.configs))


def build(session: Session, kernel: Kernel, suite: str, wanted: Sequence[str]) -> Image:
    """Build the image of a suite with these packages, unless it is cached.

    `kernel` runs the second stage; the image serves every kernel of its architecture. UserError if
    the disk is full, the mirror is unreachable or a package is unknown; BuildFailed if the packages
    cannot be installed.
    """
    names = tuple(sorted(set(wanted)))
    script = session.project.guest / SECOND_STAGE
    debian = kernel.arch.debian
    key = f"{suite}-{debian}-{digest(suite, debian, names, script, MIB, packages.ALWAYS)}"
    if lacking := [need for need in NEEDS if not need.present()]:
        raise lacks(lacking)

    def make(directory: Path) -> None:
        _require_room(directory)
        tree = directory / "tree"
        (tree / PACKAGES).mkdir(parents=True)
        with session.progress.stage(f"{debian} packages of {suite}"):
            found = packages.download(session.cache, suite, debian, names, tree / PACKAGES / "new")
            _unpack(tree)
            _format(tree, directory / IMAGE)
            shutil.rmtree(tree)
        with session.progress.stage(f"{kernel.arch.name} second stage", len(found)):
            _install(session, kernel, directory / IMAGE, script)
        (directory / RECORD).write_text(json.dumps(found, indent=1) + "\n")

    directory = session.cache.make("rootfs", key, make)
    return Image(suite, directory / IMAGE, json.loads((directory / RECORD).read_text()))


def _require_room(directory: Path) -> None:
    free = shutil.disk_usage(directory).free >> 20
    if free < FREE_MIB:
        what = "no room for a root file system"
        where = f"{directory.parent}: {free} MiB free, {FREE_MIB} needed"
        raise UserError(what, where, "free some space, or name another build directory with O=DIR")


def _unpack(tree: Path) -> None:
    """Unpack all packages; only what dpkg itself needs in the guest must be complete."""
    for name in MERGED:
        (tree / "usr" / name).mkdir(parents=True)
        (tree / name).symlink_to(f"usr/{name}")
    script = 'dpkg-deb --fsys-tarfile "$1" | tar -x --no-same-owner --keep-directory-symlink'
    script += "".join(f" --exclude='./usr/share/{name}/*'" for name in LEFT_OUT) + ' -C "$2"'
    new = tree / PACKAGES / "new"
    for package in sorted(new.glob("*.deb")):
        what = f"{package.name} could not be unpacked"
        process.check(process.pipeline(script, package, tree), what, "free some space; try again")
        package.rename(tree / PACKAGES / package.name)
    new.rmdir()


def _format(tree: Path, image: Path) -> None:
    words = ["-q", "-F", "-t", "ext4", "-O", "^has_journal", "-U", UUID, "-L", "quire"]
    words += ["-E", f"root_owner=0:0,hash_seed={UUID}", "-d", str(tree), str(image), f"{MIB}M"]
    remedy = f"free some space, or use fewer packages: an image has {MIB} MiB"
    what = "the image could not be written"
    process.check(process.Command(["/usr/sbin/mke2fs", *words]), what, remedy)


def _install(session: Session, kernel: Kernel, image: Path, script: Path) -> None:
    """Run the second stage in the guest."""
    work = launch.workdir(session.cache, f"rootfs-{kernel.arch.name}-{image.parent.name}")
    boot = Machine(
        kernel,
        with_scripts(session, kernel, {script.name: script.read_bytes()}),
        ("program", "run", f"/user/{script.name}"),
        Hardware(icount=False, lean=True),
        timeout=TIMEOUT,
        parameters=(PATIENCE,),
        disk=Disk(image, keep=True),
    )

    def tick() -> None:
        said = launch.read(work / RESULTS).splitlines()[-1:]
        done = launch.read(work / RESULTS).count("# Setting up ")
        session.progress.at(done, said[0].removeprefix("# ") if said else "")

    ended = launch.boot(boot, session.place, work, tick)
    if ended.exit:
        raise _failed(ended, work)


def _failed(ended: results.Results, work: Path) -> BuildFailed:
    where = "\n".join([*ended.other[-8:], f"whole log: {work / RESULTS}"])
    full = any("No space left on device" in line for line in ended.other)
    remedy = "use fewer packages" if full else "read the log: dpkg names the package that failed"
    what = f"the image of {MIB} MiB is full" if full else "the packages could not be installed"
    return BuildFailed(what, where, remedy)


def with_scripts(session: Session, kernel: Kernel, files: dict[str, bytes]) -> Guest:
    """Build the guest with these files in /user."""
    plain = guest.build(session.cache, session.project.guest, kernel, session.jobs)
    inside = {f"user/{name}": data for name, data in files.items()}
    return guest.with_files(session.cache, plain, {"user/": b"", **inside})
