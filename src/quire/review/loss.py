# SPDX-License-Identifier: GPL-2.0
"""A guest that was lost: each side runs twice before a series is blamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quire.build.kernel import Kernel
from quire.host import process
from quire.host.errors import GuestLost


@dataclass(frozen=True)
class Loss:
    """Where a guest was lost: `what` ran on `kernel`, which has the series, and on side A.

    For each run of a side: why the guest was lost, or None.
    """

    what: str
    kernel: Kernel
    a: tuple[GuestLost | None, ...]
    b: tuple[GuestLost | None, ...]

    @property
    def blamed(self) -> bool:
        """Whether the series has to answer for it: always lost with it, and never without."""
        return all(self.b) and not any(self.a)

    @property
    def name(self) -> str:
        """The architecture, and what ran."""
        return f"{self.kernel.arch.title}, {self.what}"

    @property
    def why(self) -> str:
        """Why the guest was lost, with the series if that was so."""
        return next(lost.what for lost in (*self.b, *self.a) if lost)

    def text(self) -> str:
        """The loss in a sentence."""
        said, runs = f"{self.name}: the guest is lost", len(self.b)
        if self.blamed:
            return f"{said} in {runs} of {runs} runs, in none without the series: {self.why}."
        if any(self.a) and any(self.b):
            return f"{said} on both sides, a fault of the base."
        if any(self.b):
            return f"{said} in 1 of {runs} runs, which does not repeat: {self.why}."
        return f"{said} without the series only."


def of(run: Callable[[], object]) -> GuestLost | None:
    """Why the guest was lost when `run` ran; None if it was not."""
    try:
        run()
    except GuestLost as lost:
        process.go_on()
        return lost
    return None
