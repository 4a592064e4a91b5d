# SPDX-License-Identifier: GPL-2.0
"""Coverage as a guide: programs that reach new code are kept, and lend themselves to new ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quire import counter, host
from quire.fuzz import coverage, program
from quire.fuzz.program import Program
from quire.fuzz.runner import Target
from quire.report.table import console
from quire.series import Series
from quire.session import Session

# Unreached lines on the terminal; all of them are in the file.
SHOWN = 12


class Guide:
    """Counts what a target's programs reach. `pool` are the programs that reached new code."""

    def __init__(self, session: Session, target: Target, series: Series, output: Path) -> None:
        self.pool: list[Program] = []
        self.output = output
        sources = sorted({f for p in series.patches for f in p.files() if f.endswith(".c")})
        names = coverage.touched(series)
        self.coverage, target.symbols = coverage.prepare(target.kernel, names, sources, output)
        qemu = host.qemu(target.kernel.arch)
        target.plugin = counter.build(session.cache, session.project.counter, qemu)
        target.take_counts = self._take

    def _take(self, counts: Path, programs: Sequence[Program]) -> None:
        for region in sorted(self.coverage.add(counts)):
            self.pool.append(programs[region])

    @property
    def summary(self) -> str:
        """For the progress line."""
        reached = sum(number for _, _, number, _ in self.coverage.functions())
        return f", {reached} of {len(self.coverage.blocks)} blocks"

    def report(self, *, quiet: bool) -> None:
        """The table and the list of what was not reached, to a file; the gist to the terminal."""
        rows = self.coverage.functions()
        table = [f"{'function':<40} {'times':>10} {'blocks':>7} {'of':>5}"]
        table += [f"{name:<40} {times:>10} {hit:>7} {of:>5}" for name, times, hit, of in rows]
        missed = self._missed()
        path = self.output / "coverage"
        path.write_text("\n".join([*table, "", "not reached:", *missed]) + "\n")
        for number, ops in enumerate(self.pool):
            where = self.output / "interesting" / f"{number:04}.fuzz"
            where.parent.mkdir(exist_ok=True)
            where.write_text(program.text(ops))
        if quiet:
            return
        out = console()
        called = sum(1 for _, _, hit, _ in rows if hit)
        out.print(f"reached {called} of {len(rows)} functions that the series touch{self.summary}")
        for line in missed[:SHOWN]:
            out.print(f"  not reached: {line}")
        if len(missed) > SHOWN:
            out.print(f"  … and {len(missed) - SHOWN} more in {path}")

    def _missed(self) -> list[str]:
        """Source lines of blocks that nobody reached; places in functions where none is known."""
        texts = [f"{b.line or b.name} ({b.function})" for b in self.coverage.unreached()]
        never = [name for name, _, hit, _ in self.coverage.functions() if not hit]
        return [*(f"{name}, never called" for name in never), *dict.fromkeys(texts)]
