# SPDX-License-Identifier: GPL-2.0
"""What of the model a step may have changed so that a rule breaks which did not break before.

Elsewhere, what is seen as it was seen before is known to be right. A mark or a content that the
model gives up breaks no rule.
"""

from dataclasses import dataclass, replace

from quire.fuzz.language.program import SLOT_PAGES, Op, Range
from quire.fuzz.promise.checks import ENOUGH
from quire.fuzz.promise.memory import Memory, Process


@dataclass(frozen=True)
class Touched:
    """Pages of one process, or `all` pages of all; `objects`: and all that show shared memory."""

    actor: int | None = None
    ranges: tuple[Range, ...] = ()
    objects: bool = False
    all: bool = False

    def touches(self, actor: int, slot: str) -> bool:
        """Whether some page of a slot may have changed."""
        if self.all or self.objects:
            return True
        return actor == self.actor and any(where.slot == slot for where in self.ranges)

    def numbers(self, actor: int, process: Process, slot: str) -> set[int]:
        """The pages of a slot that may have changed, unless these are all."""
        ranges = self.ranges if actor == self.actor else ()
        numbers = {number for where in ranges if where.slot == slot for number in where.pages}
        if self.objects:
            numbers |= {
                number
                for (at, number), page in process.pages.items()
                if at == slot and (page.shared or page.behind)
            }
        return numbers


EVERYTHING, NOTHING = Touched(all=True), Touched()


def by(memory: Memory, op: Op) -> Touched:
    """What an operation touches; the model still has the state before it."""
    enough = memory.reclaims >= ENOUGH
    if (op.verb == "swap" and (enough or op.word == "off")) or (
        op.verb == "reclaim" and not enough and memory.reclaims + 1 >= ENOUGH
    ):
        # Each page may be one that must not be where it is.
        return EVERYTHING
    process = memory.processes.get(op.actor) if op.actor is not None else None
    if not process:
        return NOTHING
    to = op.target or (op.to and replace(op.to, count=1))
    ranges = tuple(where for where in (op.range, to) if where)
    if op.verb == "resize" and op.range:
        ranges = (Range(op.range.slot, 0, SLOT_PAGES),)
    objects = any(page.shared for where in ranges for page in process.within(where))
    return Touched(op.actor, ranges, objects)
