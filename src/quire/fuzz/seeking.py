# SPDX-License-Identifier: GPL-2.0
"""Looking for seeded bugs in turn, whatever a search for one is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from quire.fuzz.language.program import Program
from quire.host.progress import Progress
from quire.test.seeded import Bug


class Shrunk(Protocol):
    """A finding: the program that shows a bug, shrunk."""

    @property
    def program(self) -> Program: ...


F = TypeVar("F", bound=Shrunk)


@dataclass(frozen=True)
class Detection(Generic[F]):
    """One bug: the number of programs that ran, and the shrunk finding if one showed it."""

    bug: Bug
    programs: int
    finding: F | None = None
    # Why no program looked for it.
    reason: str = ""

    @property
    def missed(self) -> bool:
        """Whether programs looked for it and did not find it."""
        return not self.finding and not self.reason

    @property
    def outcome(self) -> str:
        """What came of the search, in a few words."""
        if self.reason:
            return f"not looked for: {self.reason}"
        if not self.finding:
            return f"missed in {self.programs} programs"
        return f"{self.programs} programs, {len(self.finding.program)} operations"


@dataclass(frozen=True)
class Steps(Generic[F]):
    """What a search does for each bug. `title` says what shows it, or nothing."""

    look_for: Callable[[Bug], Detection[F]]
    write: Callable[[F, Path], object]
    title: Callable[[F], str] = lambda _: ""


def in_turn(
    steps: Steps[F],
    stage: str,
    bugs: Sequence[Bug],
    left_out: Mapping[str, str],
    output: Path,
    progress: Progress,
) -> list[Detection[F]]:
    """Look for the bugs in turn, but for those left out, which have a reason.

    Each result is reported, and its finding written, at once: all bugs together take hours.
    """
    results = []
    with progress.stage(stage, len(bugs)):
        for number, bug in enumerate(bugs, 1):
            reason = left_out.get(bug.name, "")
            result = Detection[F](bug, 0, reason=reason) if reason else steps.look_for(bug)
            results.append(result)
            progress.at(number, bug.name)
            title = steps.title(result.finding) if result.finding else ""
            progress.say(f"{bug.name}: {result.outcome}" + (f": {title}" if title else ""))
            if result.finding:
                steps.write(result.finding, output / bug.name)
    return results
