# SPDX-License-Identifier: GPL-2.0
"""Find whether an operation costs more on side b, by how much, and in which functions.

Instructions have an absolute margin, because a patch may add a few to every call. A TLB
invalidation or slow path costs as much as hundreds of instructions, so these have only a relative
margin.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quire.boot.counts import Stop
from quire.fuzz.cost.watch import Watch, function
from quire.fuzz.judge import AT_THE_END
from quire.fuzz.language.program import Op, Program
from quire.fuzz.language.record import Record, StepRecord, pages, steps

# Side b may take this many percent more of the kernel's instructions and of each watched sum, and
# this many more instructions. A finding exceeds both.
MARGIN_PERCENT = 10
MARGIN_INSNS = 200
INSNS = "instructions"
SHOWN = 6  # functions that a line names; the file of a finding has all
KEPT = 0.7  # the part of the excess that shrinking has to keep


@dataclass(frozen=True)
class Growth:
    """What grew in one operation: instructions or a watched sum, and its two values."""

    name: str
    a: int
    b: int

    @property
    def more(self) -> int:
        return self.b - self.a

    @property
    def excess(self) -> float:
        """The increase relative to side a, or to 1 if that is larger."""
        return self.more / max(self.a, 1)

    @property
    def beyond_margin(self) -> bool:
        """Whether it is a finding."""
        least = MARGIN_INSNS if self.name == INSNS else 0
        return self.more > least and 100 * self.more > MARGIN_PERCENT * self.a

    def text(self) -> str:
        """Return the growth for reports: `instructions 4810 | 7220 (+50 %)`."""
        more = f" (+{100 * self.excess:.0f} %)" if self.name == INSNS else ""
        return f"{self.name} {self.a} | {self.b}{more}"


def between(a: Stop, b: Stop, watch: Watch) -> list[Growth]:
    """Return what grew from side a to side b beyond the margin."""
    grown = [Growth(INSNS, a.kernel, b.kernel)]
    grown += [Growth(total.name, total.value(a), total.value(b)) for total in watch.sums]
    return [growth for growth in grown if growth.beyond_margin]


def compare(a: Sequence[Stop], b: Sequence[Stop], watch: Watch) -> list[Growth]:
    """Return what grew in several runs of one operation: the minimum and the median.

    If cheap runs are rare on both sides, the minimum only shows which side had one.
    """
    median = statistics.median_low
    usual = {growth.name for growth in between(least(a, median), least(b, median), watch)}
    return [growth for growth in between(least(a), least(b), watch) if growth.name in usual]


def least(samples: Sequence[Stop], choose: Callable[[Iterable[int]], int] = min) -> Stop:
    """Return the minimum of each count, or another statistic, over several runs on one side.

    Disturbances such as interrupts and kernel threads only add. The symbols are those of the run
    with the fewest instructions among those that have symbols.
    """
    named = sorted((run for run in samples if run.symbols), key=lambda run: run.kernel)
    # A missing count is zero.
    names = sorted(set().union(*(run.counts for run in samples)))
    counts = {name: choose(run.counts.get(name, 0) for run in samples) for name in names}
    return Stop(
        samples[0].region,
        choose(run.insns for run in samples),
        choose(run.user for run in samples),
        choose(run.kernel for run in samples),
        {name: count for name, count in counts.items() if count},
        named[0].symbols if named else {},
    )


def functions(cost: Stop) -> dict[str, int]:
    """Return the instructions of each function, with the compiler's variants of it."""
    insns = Counter[str]()
    for symbol, count in cost.symbols.items():
        insns[function(symbol)] += count.insns
    return insns


def alike(a: Record, b: Record) -> Iterator[str]:
    """Yield the steps before, in and after which both sides are in the same state.

    Their outcomes are equal. The last may be one after which only marks differ: a fix may set them,
    a cheaper way may keep them. A step is left out if either side did not count it.
    """
    for left, right in zip(steps(a), steps(b), strict=False):
        if left != right and _unmarked(left) != _unmarked(right):
            return
        if left.name in a.costs and left.name in b.costs:
            yield left.name
        if left != right:
            return


def _unmarked(step: StepRecord) -> tuple[str, str, Mapping[str, object]]:
    """Return a step without the marks: pages of large folios; soft-dirty pages and mappings."""
    states = {
        key: [(at, page.without("Ld")) for at, page in pages(state).items()]
        if key.startswith("m ")
        else state.replace(",sd", "")
        for key, state in step.states.items()
    }
    return step.name, step.outcome, states


@dataclass(frozen=True)
class Regression:
    """A step, its minimum costs over several boots on both sides, and what grew."""

    step: str
    program: Program
    a: Stop
    b: Stop
    grown: tuple[Growth, ...]

    @property
    def op(self) -> Op | None:
        """The operation; None for the reads and the writes at the end."""
        return self.program[int(self.step[2:])] if self.step[0] == "o" else None

    @property
    def verb(self) -> str:
        """The verb, with its word: `advise pageout`, `move keep`, `write all`."""
        return self.op.kind if self.op else AT_THE_END[self.step[0]]

    @property
    def kind(self) -> tuple[str, ...]:
        """The verb, what grew, and the function that grew most."""
        names = sorted(grown.name for grown in self.grown)
        most = self.symbols[0][0] if self.symbols and INSNS in names else ""
        return (self.verb, most, *names)

    @property
    def text(self) -> str:
        """The operation as in a program, or whose reads or writes; and what grew."""
        name = self.op.text() if self.op else f"{self.verb} of process {self.step[2:]}"
        return f"{name}: {'; '.join(grown.text() for grown in self.grown)}"

    def __str__(self) -> str:
        """Return the same, and the function that grew most."""
        return f"{self.text} ({self.about})"

    @property
    def symbols(self) -> list[tuple[str, int]]:
        """Functions that took more instructions on side b, with the increases, largest first."""
        before = functions(self.a)
        more = ((name, insns - before.get(name, 0)) for name, insns in functions(self.b).items())
        return sorted((row for row in more if row[1] > 0), key=lambda row: -row[1])

    @property
    def functions(self) -> list[str]:
        """The functions that grew most, with their additional instructions."""
        return [f"{name} +{more}" for name, more in self.symbols[:SHOWN]]

    @property
    def about(self) -> str:
        return ", ".join(self.functions)

    @property
    def lines(self) -> tuple[str, ...]:
        """What grew, function by function."""
        return self.text, "", *self._table()

    @property
    def details(self) -> dict[str, Any]:
        """What grew, by name."""
        return {
            "step": self.step,
            "operation": self.verb,
            "grown": {grown.name: [grown.a, grown.b] for grown in self.grown},
            "functions": dict(self.symbols[: 3 * SHOWN]),
        }

    def keeps(self, other: "Regression") -> bool:
        """Return whether most of the growth of something in the other is here, too."""
        excess = {grown.name: grown.excess for grown in other.grown}
        grown = ((grown.excess, excess.get(grown.name)) for grown in self.grown)
        return any(before is not None and now >= KEPT * before for now, before in grown)

    def _table(self) -> Iterator[str]:
        """Yield a line per function of either side, those that grew most first."""
        a, b = functions(self.a), functions(self.b)
        yield f"{'function':<44} {'a':>9} {'b':>9} {'more':>9}"
        for name in sorted({*a, *b}, key=lambda name: (a.get(name, 0) - b.get(name, 0), name)):
            before, after = a.get(name, 0), b.get(name, 0)
            if before != after:
                yield f"{name:<44} {before:>9} {after:>9} {after - before:>+9}"
