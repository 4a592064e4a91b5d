# SPDX-License-Identifier: GPL-2.0
"""Build a kernel's Debian packages with the kernel's own `make bindeb-pkg`."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quire.arch.requirements import Need
from quire.build import kernel
from quire.build.kernel import Kernel, Request, explain
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import BuildFailed

TARGET = "bindeb-pkg"
# kbuild checks these against the package index; needs() checks the programs.
NO_CHECK = "-d"
# For a foreign architecture: programs in the headers' package need its OpenSSL.
NO_HEADERS = "pkg.linux-upstream.nokernelheaders"
NEEDS = (
    Need("dpkg-buildpackage", ("dpkg-dev",), "quire deb"),
    Need("dh", ("debhelper",), "quire deb"),
    Need("rsync", ("rsync",), "quire deb: the kernel's headers"),
    Need("depmod", ("kmod",), "quire deb: modules"),
    Need("cpio", ("cpio",), "quire deb"),
    Need("openssl", ("openssl", "libssl-dev"), "quire deb: modules are signed"),
)


@dataclass(frozen=True)
class Packages:
    """The packages of one kernel; `image` is the one to install."""

    kernel: Kernel
    image: Path
    others: tuple[Path, ...]


def build(
    cache: Cache, request: Request, output: Path, tick: Callable[[int], None] | None = None
) -> Packages:
    """Build the kernel, package it, and move the packages to `output`.

    BuildFailed with the first error line. What was compiled is kept for the next attempt;
    incomplete packages are removed.
    """
    built = kernel.build(cache, request, tick)
    log = kernel.log_file(cache, "deb", request)
    with cache.lock("deb", request.tree.key):
        process.do(_clean, built)
        try:
            _make(request, log, tick)
            process.needs_results("the next commands depend on the packages")
            return _collect(built, output, log)
        finally:
            process.do(_clean, built)


def _make(request: Request, log: Path, tick: Callable[[int], None] | None) -> None:
    """kbuild writes the packages beside the O= directory, where the sources are."""
    native = platform.machine() == request.arch.machine
    profile = "" if native else NO_HEADERS
    version = f"KDEB_PKGVERSION={request.tree.base.version}-1"
    words = (version, f"DPKG_FLAGS={NO_CHECK}", "KDEB_CHANGELOG_DIST=unstable", TARGET)
    made = kernel.make_command(request, *words, log=log)
    env = {**made.env, "DEB_BUILD_PROFILES": profile, "DEB_BUILD_OPTIONS": "terse"}
    command = process.Command(made.argv, made.cwd, env, log)
    if process.run(command, (lambda: tick(kernel.steps(log))) if tick else None).status:
        raise explain(f"the packages of the {request.title} were not built", log, command)


def _collect(built: Kernel, output: Path, log: Path) -> Packages:
    """Move the packages. BuildFailed if there is no image among them."""
    found = _written(built)
    images = [path for path in found if re.match(r"linux-image-[^_]*_", path.name)]
    images = [path for path in images if "-dbg_" not in path.name]
    if len(images) != 1:
        names = ", ".join(path.name for path in found) or "nothing"
        raise BuildFailed(f"{TARGET} made no image package, but {names}", f"whole log: {log}")
    output.mkdir(parents=True, exist_ok=True)
    moved = {path: output / path.name for path in found if path.suffix == ".deb"}
    for path, place in moved.items():
        # Over a file system's border this is a copy, which a full disk may cut.
        partial = place.with_name(f".{place.name}.new")
        try:
            shutil.move(path, partial)
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
    others = tuple(place for path, place in sorted(moved.items()) if path != images[0])
    return Packages(built, moved[images[0]], others)


def _written(built: Kernel) -> list[Path]:
    """What dpkg-buildpackage wrote beside the O= directory."""
    return sorted(built.objdir.parent.glob("linux-*.*deb")) + sorted(
        path for end in ("buildinfo", "changes") for path in built.objdir.parent.glob(f"*.{end}")
    )


def _clean(built: Kernel) -> None:
    """Remove packages of an earlier or failed attempt, and the tree that they were made from."""
    for path in _written(built):
        path.unlink()
    shutil.rmtree(built.objdir / "debian", ignore_errors=True)
