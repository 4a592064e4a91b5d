# SPDX-License-Identifier: GPL-2.0
"""A kernel that somebody else has built: an O= directory of any kernel."""

from __future__ import annotations

from pathlib import Path

from quire.arch import ARCHITECTURES, Architecture
from quire.build import kconfig
from quire.build.kernel import Kernel, toolchain
from quire.host.cache import digest, sha256
from quire.host.errors import UserError
from quire.source import version
from quire.source.base import Base
from quire.source.tree import Tree

RELEASE = "include/config/kernel.release"
INITRAMFS = "usr/gen_init_cpio"
# What the guest needs built in to mount its file systems and to report.
OPTIONS = tuple(
    "CONFIG_BLK_DEV_INITRD CONFIG_BINFMT_ELF CONFIG_PROC_FS CONFIG_SYSFS CONFIG_DEVTMPFS "
    "CONFIG_TMPFS CONFIG_DEBUG_FS CONFIG_CGROUPS CONFIG_VIRTIO_MMIO CONFIG_VIRTIO_CONSOLE".split()
)


def read(objdir: Path, label: str, cross_compile: str | None = None) -> Kernel:
    """The kernel in an O= directory. UserError says what the directory or its configuration lacks.

    Nothing is built or changed there.
    """
    objdir = objdir.resolve()
    config = objdir / ".config"
    if not config.is_file():
        raise UserError(
            f"{objdir.name} is no built kernel", f"no {config}", "name the O= directory of a build"
        )
    options = kconfig.parse(config.read_text())
    arch = _architecture(objdir, options)
    image = objdir / arch.image
    for path in (image, objdir / INITRAMFS, objdir / RELEASE):
        if not path.is_file():
            remedy = f"build it: make O={objdir} ARCH={arch.name} {arch.image_target}"
            raise UserError(f"{objdir.name} is not built", f"no {path}", remedy)
    _require(arch, objdir, options)
    sha = sha256(image)
    return Kernel(
        arch,
        Tree(sha, _base(objdir, sha), None, _sources(objdir), label),
        digest(config),
        toolchain(arch, cross_compile),
        objdir,
        sha,
    )


def _architecture(objdir: Path, options: dict[str, str]) -> Architecture:
    for arch in ARCHITECTURES.values():
        if options.get(arch.option) == "y":
            return arch
    raise UserError(
        f"{objdir.name} is for an architecture that quire does not boot",
        f"{objdir / '.config'} has none of: "
        + ", ".join(arch.option for arch in ARCHITECTURES.values()),
        f"name a kernel for one of: {', '.join(ARCHITECTURES)}",
    )


def _require(arch: Architecture, objdir: Path, options: dict[str, str]) -> None:
    lacking = [one for one in (*OPTIONS, *arch.guest_options) if options.get(one) != "y"]
    if lacking:
        raise UserError(
            "the guest cannot run on this kernel: options are not built in",
            f"{objdir / '.config'}: {', '.join(lacking)}",
            "enable these options and build it again",
        )


def _base(objdir: Path, sha: str) -> Base:
    """The record of what was built: the release, and the directory in place of a source."""
    release = (objdir / RELEASE).read_text().strip()
    numbers = release.partition("-")[0].partition("+")[0]
    return Base(
        sha, version.parse(numbers), f"built kernel {objdir}", f"sha256:{sha}", _sources(objdir)
    )


def _sources(objdir: Path) -> Path:
    """The kernel source that kbuild's link names; the directory itself if built in the source."""
    link = objdir / "source"
    return link.resolve() if link.is_dir() else objdir
