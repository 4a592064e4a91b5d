# SPDX-License-Identifier: GPL-2.0
"""Use a kernel built elsewhere: an O= directory of any kernel."""

import re
from pathlib import Path

from quire.arch import KNOWN, Architecture
from quire.host.cache import digest, sha256
from quire.host.errors import UserError
from quire.kernels import kconfig
from quire.kernels.kernel import Kernel, toolchain
from quire.source import version
from quire.source.base import Base
from quire.source.tree import Tree

RELEASE = "include/config/kernel.release"
INITRAMFS = "usr/gen_init_cpio"
# Options that must be built in for the guest to mount file systems and to report.
OPTIONS = tuple(
    "CONFIG_BLK_DEV_INITRD CONFIG_BINFMT_ELF CONFIG_PROC_FS CONFIG_SYSFS CONFIG_DEVTMPFS "
    "CONFIG_TMPFS CONFIG_DEBUG_FS CONFIG_CGROUPS".split()
)


def read(objdir: Path, label: str, cross_compile: str | None = None) -> Kernel:
    """Find the kernel in an O= directory. UserError says what it or its configuration lacks.

    Nothing is built or changed there.
    """
    objdir = objdir.resolve()
    config = objdir / ".config"
    if not config.is_file():
        remedy = "name the O= directory of a build"
        raise UserError(f"{objdir.name} is not a built kernel", f"no {config}", remedy)
    options = kconfig.parse(config.read_text())
    arch = _architecture(objdir, options)
    image = objdir / arch.image
    for path in (image, objdir / INITRAMFS, objdir / RELEASE):
        if not path.is_file():
            remedy = f"build it: make O={objdir} ARCH={arch.kbuild} {arch.image_target}"
            raise UserError(f"{objdir.name} is not built", f"no {path}", remedy)
    lacking = [name for name in (*OPTIONS, *arch.guest_options) if options.get(name) != "y"]
    if lacking:
        what = "the guest cannot run on this kernel: required options are not built in"
        remedy = "enable these options and rebuild it"
        raise UserError(what, f"{config}: {', '.join(lacking)}", remedy)
    sha = sha256(image)
    # The record of the build: the release, and the directory instead of a source.
    release = (objdir / RELEASE).read_text().strip()
    number = version.parse(re.split("[-+]", release)[0])
    # The kernel source that kbuild's link names; the directory itself if built in the source.
    sources = (objdir / "source").resolve() if (objdir / "source").is_dir() else objdir
    base = Base(sha, number, f"built kernel {objdir}", f"sha256:{sha}", sources)
    tree = Tree(sha, base, None, sources, label)
    return Kernel(arch, tree, digest(config), toolchain(arch, cross_compile), objdir, sha)


def _architecture(objdir: Path, options: dict[str, str]) -> Architecture:
    for arch in KNOWN.values():
        if options.get(arch.option) == "y":
            return arch
    what = f"{objdir.name} is for an architecture that quire does not boot"
    known = ", ".join(arch.option for arch in KNOWN.values())
    remedy = f"name a kernel for one of: {', '.join(KNOWN)}"
    raise UserError(what, f"{objdir / '.config'} has none of: {known}", remedy)
