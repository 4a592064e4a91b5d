# SPDX-License-Identifier: GPL-2.0
"""Boot what is in an image package, as unpacked from it, with the lab's guest."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

from quire.boot import launch
from quire.boot.launch import Place
from quire.boot.machine import CHATTY, CONSOLE, RESULTS, Hardware, Machine
from quire.build.guest import Guest
from quire.build.kernel import Kernel
from quire.host import process
from quire.host.cache import sha256
from quire.host.errors import BuildFailed, GuestLost
from quire.package.deb import Packages

# Seconds: a distribution's kernel has more to initialise than ours.
TIMEOUT = 600.0
# A distribution has the driver of the results port as a module: the guest then uses the console.
DONE = re.compile(r"^exit 0\s*$", re.M)
RELEASE = re.compile(r"Linux version (\S+)")


def prove(packages: Packages, guest: Guest, place: Place, work: Path) -> str:
    """Boot the package's kernel; the release that it reports.

    GuestLost if it does not come to its end, or is not the packaged release.
    """
    kernel = unpack(packages, work)
    boot = Machine(kernel, guest, ("list",), Hardware(lean=True), timeout=TIMEOUT, loglevel=CHATTY)
    console = launch.console(boot, place, work)
    if not (DONE.search(launch.read(work / RESULTS)) or DONE.search(console)):
        raise launch.lost(boot, work, "the packaged kernel did not run the guest", None)
    packaged = packages.image.name.removeprefix("linux-image-").partition("_")[0]
    release = reported[1] if (reported := RELEASE.search(console)) else "no version"
    if release != packaged:
        what = f"booted {release}, expected {packaged}"
        raise GuestLost(what, str(work / CONSOLE), "read the console log")
    return packaged


def unpack(packages: Packages, work: Path) -> Kernel:
    """The package's files, and a kernel of them: its image where the lab expects it.

    BuildFailed if the package has no image.
    """
    root, objdir = work / "root", work / "o"
    process.check(process.Command(["dpkg-deb", "-x", str(packages.image), str(root)]))
    images = sorted((root / "boot").glob("vmlinuz-*"))
    if len(images) != 1:
        raise BuildFailed("the package has no kernel image", str(packages.image))
    image = objdir / packages.kernel.arch.image
    image.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(images[0], image)
    for config in (root / "boot").glob("config-*"):
        shutil.copy2(config, objdir / ".config")
    shutil.rmtree(root)
    return replace(packages.kernel, objdir=objdir, image_sha256=sha256(image))
