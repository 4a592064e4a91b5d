# SPDX-License-Identifier: GPL-2.0
"""Find out whether this host can still install seccomp filters."""

import functools
import subprocess
import sys

# One filter of one instruction, which allows every system call: prctl(PR_SET_NO_NEW_PRIVS), then
# prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER).
INSTALL = """
import ctypes
allow = ctypes.c_uint64(0x7fff0000 << 32 | 0x06)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(1, ctypes.addressof(allow))
prctl = ctypes.CDLL(None).prctl
prctl(38, 1, 0, 0, 0)
prctl(22, 2, ctypes.byref(program), 0, 0)
"""
PATIENCE = 20.0


@functools.cache
def hangs(program: str = INSTALL, patience: float = PATIENCE) -> bool:
    """Tell whether a process that installs a filter hangs for that many seconds.

    Linux 6.18 can deadlock when tens of thousands of filters are freed at once: each later filter
    hangs until the host is rebooted, and the process cannot be killed. So nobody waits for it.
    """
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdin=quiet, stdout=quiet, stderr=quiet
    )
    try:
        child.wait(patience)
    except subprocess.TimeoutExpired:
        child.kill()
        return True
    return False
