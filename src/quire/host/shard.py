# SPDX-License-Identifier: GPL-2.0
"""The option --shard I/N: one of N parts of the work, for independent CI jobs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from quire.host.errors import UserError

Item = TypeVar("Item")


@dataclass(frozen=True)
class Shard:
    """Part `number` (from 1) of `parts`. The division depends only on the list."""

    number: int = 1
    parts: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"

    def some(self, items: Sequence[Item]) -> list[Item]:
        """Select every `parts`-th item: neighbours take similar time. UserError without any."""
        return self._filled(items[self.number - 1 :: self.parts], len(items))

    def range(self, count: int) -> range:
        """Select consecutive numbers below `count`. UserError if there are none."""
        begin, end = (count * upto // self.parts for upto in (self.number - 1, self.number))
        return range(begin, begin + len(self._filled(range(begin, end), count)))

    def _filled(self, items: Sequence[Item], count: int) -> list[Item]:
        if not items and self.parts > 1:
            raise UserError(f"shard {self} is empty", f"there are {count}", "use fewer shards")
        return list(items)


ALL = Shard()


def add(part: argparse.ArgumentParser, what: str) -> None:
    """Add --shard."""
    text = f"run only part I of N of the {what} (docs/ci.md)"
    part.add_argument("--shard", type=parse, default=ALL, metavar="I/N", help=text)


def parse(text: str) -> Shard:
    """Parse I/N. ArgumentTypeError for anything else."""
    part = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if not part or not 1 <= int(part[1]) <= int(part[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with I from 1 to N, such as 1/4")
    return Shard(int(part[1]), int(part[2]))
