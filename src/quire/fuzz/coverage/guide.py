# SPDX-License-Identifier: GPL-2.0
"""Coverage as a guide: programs that reach new code go to a pool, from which mutants are made."""

from collections.abc import Sequence
from pathlib import Path

from quire.boot import counter, machine
from quire.boot.machine import Counting
from quire.boot.stops import Stop
from quire.fuzz.coverage import counting
from quire.fuzz.language import program
from quire.fuzz.language.program import Program
from quire.fuzz.runner import Probe, Targets
from quire.host.console import console
from quire.session import Session
from quire.source.series import Series

# Unreached lines on the terminal; the file has all.
SHOWN = 12


class Guide:
    """Counts what programs reach on side b. `pool` has those that reached new code.

    Raises what counting.prepare() raises, and BuildFailed if the plugin does not build.
    """

    def __init__(self, session: Session, targets: Targets, series: Series, output: Path) -> None:
        self.pool: list[Program] = []
        self.output = output
        target, trees = targets.tried, [side.kernel.tree.path for side in targets.all]
        files = sorted({file for patch in series.patches for file in patch.files()})
        sources = [file for file in files if file.endswith(".c")]
        names = counting.touched(series)
        self.coverage, symbols = counting.prepare(target.kernel, names, sources, output)
        self.coverage.added = counting.added(trees[0], trees[1], files)
        plugin = counter.build(session.cache, session.project.counter, targets.arch)
        target.probe = Probe(Counting(plugin, symbols=symbols), "cover", self._take)

    def _take(self, directory: Path, programs: Sequence[Program], whole: bool) -> Sequence[Stop]:
        if whole:
            for region in sorted(self.coverage.add(directory / machine.COUNTS)):
                self.pool.append(programs[region])
        return ()

    @property
    def summary(self) -> str:
        """For the progress line."""
        reached = sum(number for _, _, number, _ in self.coverage.functions())
        return f", {reached} of {len(self.coverage.blocks)} blocks"

    def report(self, *, quiet: bool) -> None:
        """Write the table, and what was not reached, to a file; print the totals unless `quiet`."""
        rows = self.coverage.functions()
        table = [f"{'function':<40} {'times':>10} {'blocks':>7} {'of':>5}"]
        table += [f"{name:<40} {times:>10} {hit:>7} {of:>5}" for name, times, hit, of in rows]
        ours, others = counting.missed(self.coverage)
        table += ["", "not reached, in lines that the series adds:", *ours]
        table += ["", "not reached, elsewhere in these functions:", *others]
        path = self.output / "coverage"
        path.write_text("\n".join(table) + "\n")
        for number, ops in enumerate(self.pool):
            where = self.output / "interesting" / f"{number:04}.fuzz"
            where.parent.mkdir(exist_ok=True)
            where.write_text(program.text(ops))
        if quiet:
            return
        out = console()
        called = sum(1 for _, _, hit, _ in rows if hit)
        out.print(
            f"reached {called} of {len(rows)} functions that the series touches{self.summary}"
        )
        for line in ours[:SHOWN]:
            out.print(f"  not reached: {line}")
        more = len(ours[SHOWN:])
        out.print(f"  … {more} more, and {len(others)} outside the series' lines, in {path}")
