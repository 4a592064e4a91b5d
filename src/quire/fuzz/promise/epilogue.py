# SPDX-License-Identifier: GPL-2.0
"""What every program ends with, so that reclaim can be judged.

The processes drop what they hold, and memory is reclaimed several times with nothing in between.
After that all pages are read: what was swapped out must come back as it was.
"""

from __future__ import annotations

from quire.fuzz.language.program import MAX_OPS, Op, Program

RECLAIMS = 3


def added(program: Program) -> Program:
    """The program with the epilogue, if it is short enough and does not have it yet."""
    actors = sorted({0} | {op.number for op in program if op.verb == "fork"})
    drops = tuple(Op("drop", actor) for actor in actors)
    end = (*drops, Op("swap", word="on"), *(Op("reclaim"),) * RECLAIMS)
    if len(program) + len(end) > MAX_OPS or program[-RECLAIMS:] == end[-RECLAIMS:]:
        return program
    return program + end
