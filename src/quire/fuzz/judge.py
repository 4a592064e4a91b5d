# SPDX-License-Identifier: GPL-2.0
"""What a hunt asks of a judge: which programs show a fault, again, and how to describe it.

There are three: two sides must agree in what user space sees (difference/), one kernel must keep
its promises (promise/), and side b must not cost more than side a (cost/).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.language.record import Record
from quire.fuzz.runner import Runs, Targets

# Steps that are no operation of the program, by their letter.
AT_THE_END = {"r": "read all", "w": "write all"}


class Fault(Protocol):
    """What a program shows.

    Faults of one kind have, as far as can be told, one cause; without a kind, each has its own.
    `step` is the name of the step that shows it, if one does. str() may say more than `text`.
    """

    @property
    def kind(self) -> tuple[str, ...]: ...
    @property
    def step(self) -> str: ...
    @property
    def text(self) -> str: ...


F = TypeVar("F", bound=Fault)
# Programs by number, each with a fault; a program may have several.
Faults = Sequence[tuple[int, F]]
# Programs that show a fault again, and the records of all that ran.
Again = tuple[Mapping[int, F], Runs]


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


@dataclass(frozen=True)
class Description:
    """A finding in words: for the head of its program, in a line of a report, in a file, as JSON.

    `row` is for the table of seeded bugs.
    """

    comments: Sequence[str]
    about: str
    file: Iterable[str]
    details: Mapping[str, Any]
    row: Mapping[str, Any]


@dataclass(frozen=True)
class Account:
    """What a hunt came to: in a sentence without its end, in further lines, and as JSON."""

    summary: str
    notes: Sequence[str]
    figures: Mapping[str, Any]


@dataclass(frozen=True)
class Words:
    """What a judge calls things."""

    # A finding, in reports and in the name of its folder; the file there that describes it.
    finding: str
    file: str
    does: str  # what a program with a fault does
    # A seeded bug, a table of them, what it shows of each, and the JSON of one that is missed.
    bug: str
    bugs: str
    shows: str
    missed: Mapping[str, Any]
    # What a command says of so many findings on that kernel, or bugs missed, and the remedy.
    failing: tuple[str, str] = (
        "the kernels differ on {} programs",
        "replay one: quire fuzz replay FILE; the records are beside it",
    )
    missing: tuple[str, str] = (
        "{} seeded bugs were not found",
        "more --programs, or a recipe in src/quire/fuzz/generate/",
    )
    # The file that lists all faults that were confirmed, shrunk or not; and what they are.
    listing: str = ""
    listed: str = ""


@dataclass
class Tally(Generic[F]):
    """What a judge has seen in a hunt so far."""

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

    words: Words
    noisy: bool
    targets: Targets
    tally: Tally[F]

    def judge(self, programs: Numbered, runs: Runs) -> Faults[F]:
        """The faults that the records show, counted in the tally."""

    def confirm(
        self, programs: Numbered, suspects: Faults[F], runs: Runs
    ) -> Iterable[tuple[int, F]]:
        """Those that show in further boots, too, in other orders."""

    def again(self, programs: Numbered, fault: F, *, last: bool = False) -> Again[F]:
        """Run programs: which show the same fault, and the records. `last`: be thorough.

        Side b stops after a guest that is lost; what is behind it shows nothing.
        """

    def describe(self, finding: Finding[F]) -> Description:
        """A finding in words."""

    def account(self, seconds: float) -> Account:
        """What a hunt of so many seconds came to."""
