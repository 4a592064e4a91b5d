# SPDX-License-Identifier: GPL-2.0
"""Configure and build a kernel's Debian packages, with its own `make bindeb-pkg`."""

import platform
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from quire.arch import Architecture
from quire.arch.requirements import Requirement
from quire.boot import launch
from quire.boot.launch import Place
from quire.boot.machine import CHATTY, CONSOLE, RESULTS, Hardware, Machine
from quire.check import distribution
from quire.host import process
from quire.host.cache import Cache, sha256
from quire.host.errors import BuildFailed, GuestLost, UserError
from quire.kernels import kernel
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel, Request, compile
from quire.session import Session
from quire.source.base import Base
from quire.source.line import Line
from quire.source.tree import Tree

TARGET = "bindeb-pkg"
# kbuild checks these against the package index; needs() checks the programs.
NO_CHECK = "-d"
# For a foreign architecture: programs in the headers package need its OpenSSL.
NO_HEADERS = "pkg.linux-upstream.nokernelheaders"
NEEDS = (
    Requirement("dpkg-buildpackage", ("dpkg-dev",), "quire deb"),
    Requirement("dh", ("debhelper",), "quire deb"),
    Requirement("rsync", ("rsync",), "quire deb: the kernel's headers"),
    Requirement("depmod", ("kmod",), "quire deb: modules"),
    Requirement("cpio", ("cpio",), "quire deb"),
    Requirement("openssl", ("openssl", "libssl-dev"), "quire deb: signing modules"),
)


# In configs/: fragments for every package, and on top of a distribution's configuration.
ALWAYS, DISTRIBUTION = "deb.config", "deb-distribution.config"


@dataclass(frozen=True)
class Packages:
    """One kernel's packages; `image` is the one to install."""

    kernel: Kernel
    image: Path
    others: tuple[Path, ...]


def request(
    session: Session, arch: Architecture, tree: Tree, *, trimmed: bool, flavour: str = ""
) -> Request:
    """Describe the kernel: with the user's configuration (--config), the lab's, or Debian's.

    `flavour` selects one of Debian's; empty: the default. UserError if a file is missing, or if
    Debian does not offer the configuration.
    """
    line, configs = session.line(tree.base), session.project.configs
    tools = kernel.toolchain(arch, session.cross_compile, session.llvm)
    files = session.configs
    if trimmed:
        files = session.fragments(arch, line)
    elif not files:
        files = (_debians(session, line, tree.base, arch, flavour),)
    for path in files:
        if not path.is_file():
            raise UserError(f"configuration {path.name} is missing", str(path), "check --config")
    files += (configs / ALWAYS,) if trimmed else (configs / DISTRIBUTION, configs / ALWAYS)
    # Debian's options for other compilers or architectures may be lost.
    return Request(arch, tree, files, tools, session.jobs, strict=trimmed)


def _debians(session: Session, line: Line, base: Base, arch: Architecture, flavour: str) -> Path:
    """Debian's configuration for the base's version, as a file."""
    options = distribution.fetch(session.cache, line, base, arch, flavour)
    name = f"debian-{base.key}-{flavour or arch.debian}.config"
    file = session.cache.root / "package" / name
    text = "".join(f"{option}={value}\n" for option, value in sorted(options.items()))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def build(
    cache: Cache, request: Request, output: Path, tick: Callable[[int], None] | None = None
) -> Packages:
    """Build the kernel, package it, and move the packages to `output`.

    BuildFailed with the first error line. Objects are kept for the next attempt; incomplete
    packages are removed.
    """
    built = kernel.build(cache, request, tick)
    log = kernel.log_file(cache, "deb", request)
    with cache.lock("deb", request.tree.key):
        _clean(built)
        try:
            _make(cache, request, log, tick)
            return _collect(built, output, log)
        finally:
            _clean(built)


def _make(cache: Cache, request: Request, log: Path, tick: Callable[[int], None] | None) -> None:
    """Run kbuild, which writes packages next to the O= directory, among the sources."""
    native = platform.machine() == request.arch.machine
    version = f"KDEB_PKGVERSION={request.tree.base.version}-1"
    words = (version, f"DPKG_FLAGS={NO_CHECK}", "KDEB_CHANGELOG_DIST=unstable", TARGET)
    make = kernel.make_command(cache, request, *words, log=log)
    profile = {"DEB_BUILD_PROFILES": "" if native else NO_HEADERS, "DEB_BUILD_OPTIONS": "terse"}
    command = replace(make, env={**make.env, **profile})
    what = f"the packages of the {request.title} were not built"
    compile(command, what, (lambda: tick(kernel.steps(log))) if tick else None)


def _collect(built: Kernel, output: Path, log: Path) -> Packages:
    """Move the packages. BuildFailed if there is no image among them."""
    written = _written(built)
    images = [path for path in written if re.match(r"linux-image-[^_]*(?<!-dbg)_", path.name)]
    if len(images) != 1:
        names = ", ".join(path.name for path in written) or "nothing"
        raise BuildFailed(f"{TARGET} created no image package, only {names}", f"whole log: {log}")
    output.mkdir(parents=True, exist_ok=True)
    moved = {path: output / path.name for path in written if path.suffix == ".deb"}
    for path, place in moved.items():
        # Between file systems this is a copy, which a full disk may truncate.
        partial = place.with_name(f".{place.name}.new")
        try:
            shutil.move(path, partial)
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
    others = tuple(place for path, place in sorted(moved.items()) if path != images[0])
    return Packages(built, moved[images[0]], others)


def _written(built: Kernel) -> list[Path]:
    """The files that dpkg-buildpackage wrote next to the O= directory."""
    patterns = ("linux-*.*deb", "*.buildinfo", "*.changes")
    return [path for glob in patterns for path in sorted(built.objdir.parent.glob(glob))]


def _clean(built: Kernel) -> None:
    """Remove packages of an earlier or failed attempt, and their staging tree."""
    for path in _written(built):
        path.unlink()
    shutil.rmtree(built.objdir / "debian", ignore_errors=True)


# Seconds. A distribution's kernel initialises more than ours.
TIMEOUT = 600.0
# Distributions build the results port's driver as a module, so the guest uses the console.
DONE = re.compile(r"^exit 0\s*$", re.M)
RELEASE = re.compile(r"Linux version (\S+)")


def prove(packages: Packages, guest: Guest, place: Place, work: Path) -> str:
    """Boot the package's kernel and return its release.

    GuestLost if it does not finish, or is not the packaged release.
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
    """Unpack the package, and return its kernel, with the image where the lab expects it.

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
