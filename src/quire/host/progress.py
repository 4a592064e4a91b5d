# SPDX-License-Identifier: GPL-2.0
"""Show progress on stderr: stage, elapsed time, remaining stages. Results go to stdout."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

# Without a terminal, at most one line in this many seconds.
PLAIN_INTERVAL = 15.0


@dataclass(frozen=True)
class Stage:
    """A planned stage and its approximate duration, to estimate the remaining time."""

    name: str
    seconds: float


@dataclass
class Progress:
    """The stages of one command. Only the main thread starts stages; any thread may report."""

    plan: list[Stage] = field(default_factory=list)
    quiet: bool = False
    # Additional text for each line, for instance about a cluster's workers.
    also: Callable[[], str] | None = None
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    _started: float = field(default_factory=time.monotonic)
    _bar: Bar = field(default_factory=lambda: Bar(disable=True))
    _stage: str = ""
    _stage_started: float = 0.0
    _done: int = 0
    _total: int | None = None
    _detail: str = ""
    _printed: float = 0.0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        """Show `name` while the body runs; at() counts up to `total`, which may be unknown."""
        self._stage, self._total, self._done, self._detail = name, total, 0, ""
        self._stage_started = time.monotonic()
        terminal = self.console.is_terminal and not self.quiet
        columns = (TimeElapsedColumn(), BarColumn(), TextColumn("{task.description}", markup=False))
        with Bar(*columns, console=self.console, transient=True, disable=not terminal) as self._bar:
            self._bar.add_task(self._text(), total=total)
            if not terminal:
                self.say(f"{self._clock()} {self._text()}")
            yield
        self.plan = [step for step in self.plan if step.name != name]
        took = time.monotonic() - self._stage_started
        if took >= 1:
            self.say(f"{self._clock()} {name}: done in {took:.0f} s")
        self._stage = ""

    def at(self, done: int, detail: str = "") -> None:
        """Report the stage's progress."""
        self._done, self._detail = done, detail or self._detail
        if not self._bar.disable:
            self._bar.update(TaskID(0), completed=done, description=self._text())
        elif time.monotonic() - self._printed >= PLAIN_INTERVAL:
            self.say(f"{self._clock()} {self._text()}")

    def say(self, text: str) -> None:
        """Print a permanent line."""
        if self.quiet:
            return
        self._printed = time.monotonic()
        if self.console.is_terminal:
            self.console.print(Text(text))
        else:
            # Not through rich, which would wrap the line at an arbitrary width.
            print(text, file=sys.stderr, flush=True)

    def _text(self) -> str:
        text = self._stage
        if self._total:
            text += f" {min(self._done, self._total)}/{self._total}"
        elif self._done:
            text += f" {self._done}"
        if self._detail:
            text += f" {self._detail}"
        if self.also and (said := self.also()):
            text += f" · {said}"
        left = [step for step in self.plan if step.name != self._stage]
        if left:
            names = ", ".join(step.name for step in left[:3]) + (", …" if len(left) > 3 else "")
            text += f" · left: {names}"
        if self.plan:
            seconds = self._seconds_left()
            about = f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"
            text += f" (about {about})"
        return text

    def _seconds_left(self) -> float:
        here = sum(step.seconds for step in self.plan if step.name == self._stage)
        left = sum(step.seconds for step in self.plan) - here
        if self._total and self._done > self._total / 20:
            # The pace on this host is a better estimate than the plan.
            took = time.monotonic() - self._stage_started
            return left + took * max(self._total - self._done, 0) / self._done
        return left + here

    def _clock(self) -> str:
        seconds = int(time.monotonic() - self._started)
        return f"[{seconds // 60:2d}:{seconds % 60:02d}]"
