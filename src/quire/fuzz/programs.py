# SPDX-License-Identifier: GPL-2.0
"""Select programs: from a range of seeds, or from files."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quire.fuzz.generate import generator
from quire.fuzz.language import program
from quire.fuzz.language.program import MAX_OPS, Numbered, Op, Program
from quire.host.errors import UserError

# A comment in a corpus program: a promise that Linux is known to break.
_BREAKS = re.compile(r"^# breaks: (.+)$", re.MULTILINE)

RECLAIMS = 3  # how often a program for the oracle reclaims memory at its end


@dataclass(frozen=True)
class Programs:
    """Programs by number: first those `given`, then generated ones, `seed` being the first's.

    `faults`: allocations fail. `oracle`: pages migrate, and the epilogue is added. `without`: these
    operations are left out of all.
    """

    count: int = 1000
    seed: int = 1
    given: Numbered = field(default_factory=dict)
    faults: bool = False
    oracle: bool = False
    without: Collection[str] = ()

    @property
    def total(self) -> int:
        """The number of programs of a hunt: those given, or else generated ones."""
        return len(self.given) or self.count

    def program(self, number: int, pool: Sequence[Program] = ()) -> Program:
        """Return the program of a number; the pool lends its programs to generated ones."""
        ops = self.given.get(number)
        if not ops:
            seed = self.seed + number - len(self.given)
            ops = generator.following(seed, pool, migrating=self.oracle)
            ops = generator.with_faults(seed, ops) if self.faults else ops
        ops = tuple(op for op in ops if op.verb not in self.without)
        return with_epilogue(ops) if self.oracle else ops


def with_epilogue(program: Program) -> Program:
    """Return the program with an end that judges reclaim, if it is short enough and has none yet.

    The processes drop what they hold and lift traps, and memory is reclaimed several times in a
    row. After that all pages are read: what was swapped out must come back as it was.
    """
    actors = sorted({0} | {op.number for op in program if op.verb == "fork"})
    drops = tuple(Op("drop", actor) for actor in actors)
    traps = dict.fromkeys(
        (op.actor, op.target if op.verb == "take" else op.range)
        for op in program
        if op.verb == "rwp" or op.word == "to-rwp"
    )
    drops += tuple(Op("unrwp", actor, range=where) for actor, where in traps)
    end = (*drops, Op("swap", word="on"), *(Op("reclaim"),) * RECLAIMS)
    if len(program) + len(end) > MAX_OPS or program[-RECLAIMS:] == end[-RECLAIMS:]:
        return program
    return program + end


def corpus(root: Path) -> list[Path]:
    """Return the files of the corpus. UserError if there are none."""
    files = sorted((root / "tests/fuzz").glob("*.fuzz"))
    if not files:
        raise UserError("there is no corpus", "tests/fuzz/*.fuzz", "quire fuzz compare")
    return files


def read(files: Sequence[Path]) -> tuple[Numbered, dict[int, str]]:
    """Return programs from files, and the rules that they say they break. UserError: where."""
    try:
        texts = [path.read_text() for path in files]
    except OSError as error:
        what, remedy = "cannot read a program", "name an existing file"
        raise UserError(what, str(error), remedy) from error
    programs = {n: program.parse(text, str(files[n])) for n, text in enumerate(texts)}
    matches = {n: _BREAKS.search(text) for n, text in enumerate(texts)}
    return programs, {n: match[1] for n, match in matches.items() if match}
