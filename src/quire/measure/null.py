# SPDX-License-Identifier: GPL-2.0
"""Measure the effect of code placement with kernels of one source but different function layouts.

gcc's -falign-functions=N:M:16 aligns a function to N bytes if that skips less than M bytes, else to
16 bytes. Each pair of N and M gives another layout of the same instructions. It moves all C
functions relative to each other and to data, and everything after the image in memory. It does not
move assembly, cold functions or code within a function, and keeps the order of functions. clang
does not support M.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from quire.host.errors import UserError

# N and M; no two pairs give the same kernel on x86-64 or arm64. On x86-64, where functions are
# aligned to 16 bytes, an M below 33 moves few functions.
PLACEMENTS = "64:33 128:49 64:49 128:65 128:33 128:81 128:97 128:113".split()


@dataclass(frozen=True)
class Null:
    """A benchmark's spread over side A and `kernels` builds of its source with other placements,
    relative to side A: in instructions, and in estimated cycles if caches were simulated."""

    kernels: int
    insns: float
    cycles: float | None = None

    @property
    def text(self) -> str:
        """Return the spread in words."""
        cycles = "" if self.cycles is None else f", est. cycles {self.cycles:.1%}"
        return f"placement alone {self.insns:.2%}{cycles}"


def flags(number: int, llvm: str = "") -> str:
    """Return KCFLAGS for kernel `number` (from 1). UserError for an unsuitable compiler."""
    if llvm:
        raise UserError("--null needs gcc's placement of functions", remedy="omit LLVM=")
    most = len(PLACEMENTS)
    if number > most:
        raise UserError(f"--null has {most} placements", remedy=f"use --null {most} or less")
    return f"-falign-functions={PLACEMENTS[number - 1]}:16"


def spread(insns: Sequence[float], cycles: Sequence[float]) -> Null:
    """Compute the spread of a benchmark's cost over side A (the first) and the others."""
    return Null(len(insns) - 1, _share(insns), _share(cycles) if all(cycles) else None)


def _share(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / values[0]
