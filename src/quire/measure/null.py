# SPDX-License-Identifier: GPL-2.0
"""What code placement alone changes: kernels of one source whose functions begin elsewhere.

gcc's -falign-functions=64:M:16 puts a function on the next cache line of 64 bytes if that skips
less than M bytes, else on the next 16 bytes. Each M is another layout of the same instructions. It
moves the C functions of the whole kernel against each other and against data, and what follows the
image in memory. It does not move assembly and cold functions, or anything within a function, and
the order of functions stays. clang takes no M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.host.errors import UserError

# M is below 64, in steps of the shortest instruction of arm64.
MOST, STEP = 15, 4


@dataclass(frozen=True)
class Null:
    """The spread of a row over side A and `kernels` of its source placed otherwise, as a share of
    side A: of instructions, and of estimated cycles if caches were simulated."""

    kernels: int
    insns: float
    cycles: float | None = None

    @property
    def text(self) -> str:
        """The spread in words."""
        cycles = "" if self.cycles is None else f", est. cycles {self.cycles:.1%}"
        return f"placement alone {self.insns:.2%}{cycles}"


def flags(number: int, llvm: str = "") -> str:
    """KCFLAGS of the kernel of that number, from 1 on. UserError for a compiler that cannot."""
    if llvm:
        raise UserError("--null places functions as only gcc can", remedy="leave LLVM= out")
    if number > MOST:
        raise UserError(f"--null has {MOST} placements", remedy=f"use --null {MOST}, or less")
    return f"-falign-functions=64:{STEP * number + 1}:16"


def spread(insns: Sequence[float], cycles: Sequence[float]) -> Null:
    """The spread of what a row takes on side A, which comes first, and on the others."""
    return Null(len(insns) - 1, _share(insns), _share(cycles) if all(cycles) else None)


def _share(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / values[0]
