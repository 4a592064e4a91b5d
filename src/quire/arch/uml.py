# SPDX-License-Identifier: GPL-2.0
"""Check what user-mode Linux, a kernel that is a program, needs from this host."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

from quire.arch.architecture import Architecture
from quire.host import process
from quire.host.errors import UserError

# UML keeps its memory in a file there, which grows as the guest uses it.
MEMORY = Path("/dev/shm")
MEMORY_GIB = 2
# Each run of physically contiguous pages is a separate mapping of the host.
MAPS = Path("/proc/sys/vm/max_map_count")
MOST_MAPS = 65530
# Whether a process may be traced, tested in a child.
TRACED = "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, None, None) != 0)"


def require(arch: Architecture) -> None:
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
    if free < MEMORY_GIB:
        raise UserError(
            f"{MEMORY} has no room for the guest's memory",
            f"{free:.1f} GiB are free, {MEMORY_GIB} are needed",
            f"as root: mount -o remount,size={2 * MEMORY_GIB}g {MEMORY}\n"
            f"in a container: docker run --shm-size={2 * MEMORY_GIB}g",
        )
    maps = int(MAPS.read_text())
    if maps < MOST_MAPS:
        raise UserError(
            "the limit of mappings per process is too low for the guest",
            f"{MAPS}: {maps}",
            f"as root: sysctl vm.max_map_count={MOST_MAPS}",
        )
