# SPDX-License-Identifier: GPL-2.0
"""What the host needs, what is missing, and the command that installs it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture, uml
from quire.host import process
from quire.host.errors import UserError

# A tree with build directories for both architectures, stock and patched.
DISK_GIB = 4


@dataclass(frozen=True)
class Need:
    """A program (found in PATH) or a file, the Debian packages that provide it, and its use."""

    name: str
    packages: tuple[str, ...]
    purpose: str

    def present(self) -> bool:
        """Whether the host has it."""
        if self.name.startswith("/"):
            return Path(self.name).exists()
        return shutil.which(self.name) is not None


COMMON = (
    Need("make", ("make",), "every build"),
    Need("gcc", ("gcc", "libc6-dev"), "the kernel's host tools, the plugin"),
    Need("/usr/include/stdio.h", ("libc6-dev",), "the same"),
    Need("flex", ("flex",), "the kernel's configuration"),
    Need("bison", ("bison",), "the kernel's configuration"),
    Need("bc", ("bc",), "the kernel's build"),
    Need("perl", ("perl",), "the kernel's build, checkpatch"),
    Need("xz", ("xz-utils",), "unpacking the kernel source"),
    Need("git", ("git",), "applying and keeping the series"),
    Need("setpriv", ("util-linux",), "a machine ends when quire is killed"),
    # For objtool, which the x86 kernel build uses.
    Need("/usr/include/gelf.h", ("libelf-dev",), "the x86 kernel's build"),
)

# What no command of quire needs: a compiler cache, and what `make lint` and `make test` run besides
# Python tools.
DEVELOPMENT = (
    Need("ccache", ("ccache",), "kernels: a further tree compiles only what its patches reach"),
    Need("clang-tidy", ("clang-tidy",), "make lint: the guest and the plugin"),
    Need("shellcheck", ("shellcheck",), "make lint: shell scripts"),
    Need("b4", ("b4",), "quire report: a thread of mails"),
    Need("chromium-headless-shell", ("chromium-headless-shell",), "make test: a report's page"),
)


def needs(architectures: Iterable[Architecture]) -> list[Need]:
    """Everything that a demo of these architectures needs."""
    wanted = list(COMMON)
    for arch in architectures:
        wanted += [machine_need(arch)] if arch.qemu else []
        if platform.machine() != arch.machine:
            compiler = f"{arch.cross_compile}gcc"
            wanted.append(Need(compiler, arch.cross_packages, f"{arch.name} kernels and guests"))
            libc = f"/usr/{arch.cross_compile.rstrip('-')}/lib/libc.a"
            wanted.append(Need(libc, arch.cross_packages[-1:], f"{arch.name} guests"))
    return wanted


def machine_need(arch: Architecture) -> Need:
    """The QEMU binary for an architecture."""
    return Need(arch.qemu, arch.packages, f"{arch.name} machines")


def packages(lacking: Iterable[Need]) -> list[str]:
    """The Debian packages that provide these needs, sorted, without duplicates."""
    return sorted({name for need in lacking for name in need.packages})


def bring(wanted: Sequence[Need]) -> None:
    """Install missing packages and list them; UserError when this user or host cannot."""
    lacking = [need for need in wanted if not need.present()]
    if not lacking:
        return
    names = packages(lacking)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise lacks(lacking)
    print(f"quire: installing Debian packages: {' '.join(names)}", file=sys.stderr, flush=True)
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    # The index may be old or empty. If this fails, the installation reports a clearer error.
    process.run(process.Command(["apt-get", "-q", "update"], env=env))
    words = ("install", "-y", "--no-install-recommends", *names)
    command = process.Command(["apt-get", *words], env=env)
    what, remedy = "apt could not install the packages", "fix apt, or install them by hand"
    process.check(command, what, remedy, UserError)
    still = [need for need in wanted if not need.present()]
    if still:
        raise UserError(what, f"{command.text()}\n{_listing(still)}", remedy)


def obtainable(package: str) -> bool:
    """Whether this host's package index contains that Debian package."""
    if not shutil.which("apt-cache"):
        return False
    return process.query("apt-cache", "show", package).status == 0


def require(architectures: Sequence[Architecture], further: Sequence[Need] = ()) -> None:
    """UserError that lists what is missing, also of `further`, and the command that installs it."""
    lacking = [need for need in (*needs(architectures), *further) if not need.present()]
    if lacking:
        raise lacks(lacking)
    for arch in architectures:
        if not arch.qemu:
            uml.require(arch)


def lacks(lacking: Sequence[Need]) -> UserError:
    """The error for unmet needs."""
    names = " ".join(packages(lacking))
    remedy = f"as root: apt-get install --no-install-recommends {names}"
    if not shutil.which("apt-get"):
        remedy = f"install your distribution's packages for: {names}   (Debian's names)"
    return UserError("this host lacks prerequisites of quire", _listing(lacking), remedy)


def _listing(lacking: Iterable[Need]) -> str:
    return "\n".join(
        f"{need.name:<32} {need.purpose} (Debian: {', '.join(need.packages)})" for need in lacking
    )
