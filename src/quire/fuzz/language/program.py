# SPDX-License-Identifier: GPL-2.0
"""Programs: texts of memory operations, a line each, that the guest's executor runs.

    folio 64                  anonymous faults bring in folios of 64 KiB from now on
    0 map A 0 48 anon         process 0 maps 48 pages at page 0 of slot A
    0 write A 0 48
    0 fork 1                  process 1 is born
    1 move A 0 16 B 3 move

docs/dev/fuzz.md describes every operation. The number at the beginning is the process;
operations on the whole system have none. `#` starts a comment.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from quire.fuzz.language.verbs import ACTORS, FOLIO_WEIGHTS, MAX_NUMBER, TABLE, VERBS, Verb
from quire.host.errors import UserError

SLOTS = "ABCDE"
# The slot at address 0: a folio whose tail is there would begin below it.
LOW = "E"
SLOT_PAGES = 1024
# The guest's limit.
MAX_OPS = 96


@dataclass(frozen=True)
class Range:
    """Pages of a slot; an address has count 0."""

    slot: str
    page: int
    count: int = 0

    @property
    def end(self) -> int:
        """The page after the last."""
        return self.page + self.count

    @property
    def address(self) -> "Range":
        """The first page, as an address."""
        return replace(self, count=0)

    @property
    def pages(self) -> range:
        return range(self.page, self.end)

    def text(self) -> str:
        """Return the range as a program has it."""
        return f"{self.slot} {self.page} {self.count or ''}".rstrip()


@dataclass(frozen=True)
class Op:
    """One operation. Fields that its verb does not take keep their defaults."""

    verb: str
    actor: int | None = None
    range: Range | None = None
    to: Range | None = None
    number: int = 0
    word: str = ""

    @property
    def kind(self) -> str:
        """The verb, with its word: `advise pageout`, `move keep`."""
        return f"{self.verb} {self.word}".strip()

    @property
    def target(self) -> Range | None:
        """Where a move puts its pages."""
        return replace(self.to, count=self.range.count) if self.range and self.to else None

    @property
    def call(self) -> str:
        """The verb; advice counts as a verb each: `advise pageout`, `move`."""
        return self.kind if self.verb == "advise" else self.verb

    @cached_property
    def entry(self) -> Verb:
        """The operation's entry in the table."""
        return TABLE[self.call]

    def text(self) -> str:
        """Return the line of a program."""
        pages = {"R": self.range, "A": self.to}
        places = {kind: where.text() if where else "?" for kind, where in pages.items()}
        fields = {**places, "n": str(self.number), "w": self.word}
        actor = [] if self.actor is None else [str(self.actor)]
        return " ".join([*actor, self.verb, *(fields[kind] for kind in VERBS[self.verb].takes)])


Program = tuple[Op, ...]
# Programs by their numbers.
Numbered = Mapping[int, Program]


def text(program: Program, comments: Iterable[str] = ()) -> str:
    """Return the text of a program's file, comments first."""
    lines = [f"# {comment}".rstrip() for comment in comments]
    return "\n".join([*lines, *(op.text() for op in program)]) + "\n"


def parse(source: str, name: str = "program") -> Program:
    """Parse a program. UserError names the line that is wrong, or a wrong number of lines."""
    ops = []
    for number, line in enumerate(source.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            ops.append(_op(words))
        except (ValueError, IndexError, KeyError) as error:
            where = f"{name}:{number}: {line.strip()}\n{error}"
            remedy = "docs/dev/fuzz.md describes the language"
            raise UserError("a program has an invalid line", where, remedy) from error
    if not 0 < len(ops) <= MAX_OPS:
        what = f"a program has 1 to {MAX_OPS} operations, not {len(ops)}"
        raise UserError(what, name, "write fewer")
    return tuple(ops)


def _op(words: list[str]) -> Op:
    actor = int(words.pop(0)) if words[0].isdigit() else None
    verb = words.pop(0)
    if verb not in VERBS:
        raise ValueError(f"there is no operation {verb!r}")
    grammar = VERBS[verb]
    if grammar.actor != (actor is not None):
        raise ValueError(f"{verb} {'needs a' if grammar.actor else 'has no'} process")
    if actor is not None and actor >= ACTORS:
        raise ValueError(f"processes are 0 to {ACTORS - 1}")
    fields: dict[str, Any] = {}
    for kind in grammar.takes:
        if kind == "R":
            fields["range"] = _range(words.pop(0), int(words.pop(0)), int(words.pop(0)))
        elif kind == "A":
            fields["to"] = _range(words.pop(0), int(words.pop(0)), None)
        elif kind == "n":
            fields["number"] = int(words.pop(0))
        else:
            fields["word"] = words.pop(0)
    if words:
        raise ValueError(f"too many words for {verb}: {' '.join(words)}")
    return check(Op(verb, actor, **fields))


def _range(slot: str, page: int, count: int | None) -> Range:
    if slot not in SLOTS or len(slot) != 1:
        raise ValueError(f"there is no slot {slot!r}")
    end = page + (count if count is not None else 1)
    if count == 0 or not 0 <= page < end <= SLOT_PAGES:
        raise ValueError(f"a slot has pages 0 to {SLOT_PAGES - 1}")
    return Range(slot, page, count or 0)


def check(op: Op) -> Op:
    """Return the operation. ValueError if a word or a number is not allowed."""
    words = VERBS[op.verb].words
    if words and op.word not in words:
        raise ValueError(f"{op.word!r} is not one of: {', '.join(words)}")
    if not 0 <= op.number <= MAX_NUMBER:
        raise ValueError(f"{op.number} is too large")
    if op.verb == "folio" and op.number not in FOLIO_WEIGHTS:
        raise ValueError(f"{op.number} KiB is not a folio size")
    most, what = VERBS[op.verb].largest
    if op.number > most:
        raise ValueError(f"{what} {most}".strip())
    if op.range and op.to and op.to.page + op.range.count > SLOT_PAGES:
        raise ValueError("the target extends past the slot")
    return op


Position = tuple[str, int]  # slot, page
Address = tuple[int, str, int]  # process, slot, page


def positions(where: Range | None) -> list[Position]:
    """Return the pages of a range."""
    return [(where.slot, number) for number in where.pages] if where else []


def addresses(actor: int | None, where: Range | None) -> set[Address]:
    """Return the pages of a range in a process; those that no process has do not exist."""
    return {(-1 if actor is None else actor, *place) for place in positions(where)}


def touched(op: Op) -> set[Address]:
    """Return the pages that an operation can meet; those that moved have their new address."""
    return addresses(op.actor, op.range) | addresses(op.actor, op.target)


def moved(op: Op, outcome: str) -> list[tuple[Position, Position]]:
    """Return the old and the new position of each page that an operation has moved, in order."""
    what = op.range if outcome == "ok" and op.entry.effect in ("move", "take") else None
    if op.range and op.entry.effect == "take":
        # It tells how many pages moved before the one that stayed.
        _, _, count = outcome.partition(" after=")
        what = replace(op.range, count=int(count)) if count else what
    return list(zip(positions(what), positions(op.target), strict=False))


def follow(known: Iterable[set[Address]], op: Op, outcome: str) -> None:
    """Carry what is known of pages along when they move, and copy it to a child."""
    actor = -1 if op.actor is None else op.actor
    pairs = [((actor, *old), (actor, *new)) for old, new in moved(op, outcome)]
    forks = op.entry.effect == "fork" and outcome == "ok"
    for pages in known if pairs or forks else ():
        carried = {new for old, new in pairs if old in pages}
        pages.difference_update(new for _, new in pairs)
        if op.word != "keep":
            pages.difference_update(old for old, _ in pairs)
        pages.update(carried)
        if forks:
            pages.update([(op.number, slot, page) for who, slot, page in pages if who == actor])
