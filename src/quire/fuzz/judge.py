# SPDX-License-Identifier: GPL-2.0
"""Judges: functions from records to faults, which may request that programs run again.

There are three: two sides must agree in what user space sees (difference/), one kernel must keep
its promises (promise/), and side b must not cost more than side a (cost/). The hunt has the
machines: it runs what a judge requests.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.language.record import Record
from quire.fuzz.runner import Runs, Targets

# Steps that are not operations of the program, by their letter.
AT_THE_END = {"r": "read all", "w": "write all"}


class Fault(Protocol):
    """A fault that a program exposes.

    Faults of one kind probably share a cause; without a kind, each has its own. `step` is the name
    of the step that exposes it, if any. `about` is an additional line for reports, `lines` the file
    that describes it, `details` the same for JSON.
    """

    @property
    def kind(self) -> tuple[str, ...]: ...
    @property
    def step(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def lines(self) -> Iterable[str]: ...
    @property
    def details(self) -> Mapping[str, Any]: ...


F = TypeVar("F", bound=Fault)
T = TypeVar("T")
# Programs by number, each with a fault; a program may have several.
Faults = Sequence[tuple[int, F]]


@dataclass(frozen=True)
class Rerun:
    """Programs to run again. Side b stops after `losses` lost guests.

    `symbols`: what operations cost is counted by symbol, too.
    """

    programs: Numbered
    losses: int | None = None
    symbols: bool = False


# Requests runs until it returns its result.
Requests = Generator[Rerun, Runs, T]
# Programs that show a fault, and the records of all that ran.
Shown = tuple[Mapping[int, F], Runs]


@dataclass(frozen=True)
class Finding(Generic[F]):
    """A program with a fault, before and after shrinking, and records of the latter.

    `kind` is that of the original's fault, `sides` are the labels of the kernels.
    """

    number: int
    original: Program
    program: Program
    fault: F
    kind: tuple[str, ...]
    records: tuple[Record, ...]
    sides: tuple[str, ...]


@dataclass
class Tally(Generic[F]):
    """A judge's observations in a hunt so far."""

    programs: int = 0
    suspects: int = 0
    # Programs whose fault did not repeat, and those in trouble where they must not be; and why.
    unstable: dict[int, tuple[Program, str]] = field(default_factory=dict)
    troubled: dict[int, tuple[Program, str]] = field(default_factory=dict)
    # Faults that repeated, how many of each kind, and those that were shrunk.
    confirmed: list[tuple[int, F]] = field(default_factory=list)
    kinds: Counter[tuple[str, ...]] = field(default_factory=Counter)
    findings: list[Finding[F]] = field(default_factory=list)
    # For each rule or entry of a series, how often it excused something.
    excused: Counter[str] = field(default_factory=Counter)


class Judge(Protocol[F]):
    """Judges records. If it is `noisy`, one run proves little, and may shrink a program too far."""

    tally: Tally[F]
    noisy: ClassVar[bool] = False
    # The name of a finding, and of the file in its folder; what a program with a fault does.
    finding: ClassVar[str]
    file: ClassVar[str]
    does: ClassVar[str]
    # The file that lists all confirmed faults, shrunk or not; and what they are.
    listing: ClassVar[str] = ""
    listed: ClassVar[str] = ""
    # A seeded bug, a table of them, and what it shows of each.
    bug: ClassVar[str] = "bug"
    bugs: ClassVar[str]
    shows: ClassVar[str]
    # What a command says of that many findings on that kernel, or bugs missed, and the remedy.
    failing: ClassVar[tuple[str, str]] = (
        "the kernels differ on {} programs",
        "replay one: quire fuzz replay FILE; the records are in its folder",
    )
    missing: ClassVar[tuple[str, str]] = (
        "{} seeded bugs were not found",
        "use more --programs, or add a recipe to src/quire/fuzz/generate/",
    )

    def judge(self, programs: Numbered, runs: Runs) -> Faults[F]:
        """Return the faults that the records show, and count them in the tally."""

    def confirm(self, programs: Numbered, suspects: Faults[F], runs: Runs) -> Requests[Faults[F]]:
        """Return those that show in further boots, too, in other orders."""

    def repeat(self, programs: Numbered, fault: F, *, last: bool = False) -> Requests[Shown[F]]:
        """Return which programs show the same fault, and the records. `last`: be thorough.

        Side b stops after a guest that is lost; what follows shows nothing.
        """

    def row(self, fault: F | None) -> Mapping[str, Any]:
        """Return the JSON of a seeded bug that shows this, or of one that is missed."""

    def summary(self, targets: Targets, seconds: float) -> str:
        """Summarise a hunt that took `seconds`, without the number of findings."""

    def notes(self) -> Sequence[str]:
        """Return further lines for the summary."""

    def figures(self, targets: Targets) -> Mapping[str, Any]:
        """Return the summary for JSON."""
