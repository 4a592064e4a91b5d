# SPDX-License-Identifier: GPL-2.0
"""Check what the host needs, what is missing, and which command installs it."""

import os
import platform
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture
from quire.host import process
from quire.host.errors import UserError

# A tree with build directories for both architectures, stock and patched.
DISK_GIB = 4


@dataclass(frozen=True)
class Requirement:
    """A program (in PATH) or a file, the Debian packages that provide it, and its purpose."""

    name: str
    packages: tuple[str, ...]
    purpose: str

    def present(self) -> bool:
        """Tell whether the host has it."""
        if self.name.startswith("/"):
            return Path(self.name).exists()
        return shutil.which(self.name) is not None


COMMON = (
    Requirement("make", ("make",), "every build"),
    Requirement("gcc", ("gcc", "libc6-dev"), "the kernel's host tools, the plugin"),
    Requirement("/usr/include/stdio.h", ("libc6-dev",), "the same"),
    Requirement("flex", ("flex",), "the kernel's configuration"),
    Requirement("bison", ("bison",), "the kernel's configuration"),
    Requirement("bc", ("bc",), "the kernel's build"),
    Requirement("perl", ("perl",), "the kernel's build, checkpatch"),
    Requirement("xz", ("xz-utils",), "unpacking the kernel source"),
    Requirement("git", ("git",), "applying and keeping the series"),
    Requirement("setpriv", ("util-linux",), "ending machines when quire is killed"),
    # For objtool, which the x86 kernel build uses.
    Requirement("/usr/include/gelf.h", ("libelf-dev",), "the x86 kernel's build"),
)

# Optional: a compiler cache, and tools of `make lint` and `make test` other than Python's.
DEVELOPMENT = (
    Requirement(
        "ccache", ("ccache",), "kernels: another tree compiles only what its patches affect"
    ),
    Requirement("clang-tidy", ("clang-tidy",), "make lint: the guest and the plugin"),
    Requirement("shellcheck", ("shellcheck",), "make lint: shell scripts"),
    Requirement("b4", ("b4",), "quire report: a thread of mails"),
    Requirement(
        "chromium-headless-shell", ("chromium-headless-shell",), "make test: a report's page"
    ),
)


def needs(architectures: Iterable[Architecture]) -> list[Requirement]:
    """List everything that a demo of these architectures needs."""
    wanted = list(COMMON)
    for arch in architectures:
        wanted += [machine_need(arch)] if arch.qemu else []
        if platform.machine() != arch.machine:
            compiler = f"{arch.cross_compile}gcc"
            wanted.append(
                Requirement(compiler, arch.cross_packages, f"{arch.name} kernels and guests")
            )
            libc = f"/usr/{arch.cross_compile.rstrip('-')}/lib/libc.a"
            wanted.append(Requirement(libc, arch.cross_packages[-1:], f"{arch.name} guests"))
    return wanted


def machine_need(arch: Architecture) -> Requirement:
    """Return the requirement of an architecture's QEMU."""
    return Requirement(arch.qemu, arch.packages, f"{arch.name} machines")


def packages(lacking: Iterable[Requirement]) -> list[str]:
    """List the Debian packages that provide these needs, sorted, without duplicates."""
    return sorted({name for need in lacking for name in need.packages})


def bring(wanted: Sequence[Requirement]) -> None:
    """Install missing packages and list them; UserError if this user or host cannot."""
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


def require(architectures: Sequence[Architecture], further: Sequence[Requirement] = ()) -> None:
    """Raise UserError with everything missing, including `further`, and the install command."""
    lacking = [need for need in (*needs(architectures), *further) if not need.present()]
    if lacking:
        raise lacks(lacking)
    for arch in architectures:
        if not arch.qemu:
            require_uml(arch)


def lacks(lacking: Sequence[Requirement]) -> UserError:
    """Return the error for unmet needs."""
    names = " ".join(packages(lacking))
    remedy = f"as root: apt-get install --no-install-recommends {names}"
    if not shutil.which("apt-get"):
        remedy = f"install your distribution's packages for: {names}   (Debian's names)"
    return UserError("this host lacks prerequisites of quire", _listing(lacking), remedy)


def _listing(lacking: Iterable[Requirement]) -> str:
    return "\n".join(
        f"{need.name:<32} {need.purpose} (Debian: {', '.join(need.packages)})" for need in lacking
    )


# UML keeps its memory in a file there, which grows as the guest uses it.
MEMORY = Path("/dev/shm")
UML_GIB = 2
# Each run of physically contiguous pages is a separate mapping of the host.
MAPS = Path("/proc/sys/vm/max_map_count")
MOST_MAPS = 65530
# Whether a process may be traced, tested in a child.
TRACED = "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, None, None) != 0)"


def require_uml(arch: Architecture) -> None:
    """Raise UserError for the first thing that this host lacks."""
    if platform.machine() != arch.machine:
        what = f"{arch.name} runs on {arch.machine}, but this host is {platform.machine()}"
        raise UserError(what, remedy="use ARCH=x86_64, which QEMU emulates")
    if process.query(sys.executable, "-c", TRACED).status:
        raise UserError(
            "UML needs ptrace, which is not permitted here",
            "ptrace(PTRACE_TRACEME) is refused",
            "in a container: docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined\n"
            "elsewhere, as root: sysctl kernel.yama.ptrace_scope=1",
        )
    free = shutil.disk_usage(MEMORY).free / 2**30 if os.access(MEMORY, os.W_OK) else 0.0
    if free < UML_GIB:
        raise UserError(
            f"{MEMORY} has no room for the guest's memory",
            f"{free:.1f} GiB are free, {UML_GIB} are needed",
            f"as root: mount -o remount,size={2 * UML_GIB}g {MEMORY}\n"
            f"in a container: docker run --shm-size={2 * UML_GIB}g",
        )
    maps = int(MAPS.read_text())
    if maps < MOST_MAPS:
        raise UserError(
            "the limit of mappings per process is too low for the guest",
            f"{MAPS}: {maps}",
            f"as root: sysctl vm.max_map_count={MOST_MAPS}",
        )
