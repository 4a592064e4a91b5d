# SPDX-License-Identifier: GPL-2.0
"""What code placement alone changes: kernels of one source whose functions begin elsewhere.

gcc's -falign-functions=N:M:16 puts a function on the next N bytes if that skips less than M bytes,
else on the next 16 bytes. Each N and M is another layout of the same instructions. It moves the C
functions of the whole kernel against each other and against data, and what follows the image in
memory. It does not move assembly and cold functions, or anything within a function, and the order
of functions stays. clang takes no M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.host.errors import UserError

# N and M, of which no two give the same kernel on x86-64 or arm64. An M below 33 moves few
# functions of x86-64, which begin and end at 16 bytes.
PLACEMENTS = "64:33 128:49 64:49 128:65 128:33 128:81 128:97 128:113".split()


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
    most = len(PLACEMENTS)
    if number > most:
        raise UserError(f"--null has {most} placements", remedy=f"use --null {most}, or less")
    return f"-falign-functions={PLACEMENTS[number - 1]}:16"


def spread(insns: Sequence[float], cycles: Sequence[float]) -> Null:
    """The spread of what a row takes on side A, which comes first, and on the others."""
    return Null(len(insns) - 1, _share(insns), _share(cycles) if all(cycles) else None)


def _share(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / values[0]
