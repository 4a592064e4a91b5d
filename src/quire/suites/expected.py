# SPDX-License-Identifier: GPL-2.0
"""Expected failures, lines/NAME/expected.toml, and expected skips, lines/skips.toml.

An unexpected skip is a failure. In an exactly reproducible run, an expected failure that passes and
an entry that matches nothing are failures, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from quire.boot.ktap import Status
from quire.host import data
from quire.kernels.kernel import Kernel
from quire.source.side import Sides
from quire.suites.outcome import SKIPPED, Case, Outcome


@dataclass(frozen=True)
class Expected:
    """An entry: the cases (patterns for suite.case) that fail on this tree, stock or patched."""

    tree: str
    architectures: tuple[str, ...]
    cases: tuple[str, ...]
    why: str
    # Whether they may also pass.
    sometimes: bool = False
    # The patches (names without numbers) with which these cases pass, if the series has any.
    fixed_by: tuple[str, ...] = ()
    # Whether the cases can damage a kernel without these patches.
    harmful: bool = False

    def harms(self, kernel: Kernel) -> bool:
        """Tell whether the cases can damage this kernel."""
        series = kernel.tree.series
        names = [patch.unnumbered for patch in series.patches] if series else []
        return self.harmful and not set(self.fixed_by) <= set(names)

    def covers(self, kernel: Kernel, case: str) -> bool:
        """Tell whether the entry covers this case on this kernel."""
        return (
            self.tree == kernel.tree.label
            and not _disjoint(kernel, self.architectures, sizes=True)
            and any(fnmatchcase(case, pattern) for pattern in self.cases)
        )


@dataclass(frozen=True)
class Skip:
    """An entry: the cases (patterns for suite.case) that do not apply to some kernels."""

    cases: tuple[str, ...]
    why: str
    # Empty: all.
    lines: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    # The kernel option that they require.
    unless: str = ""
    # The number of CPUs with which they are skipped; 0: any.
    cpus: int = 0

    def applies(self, kernel: Kernel, cpus: int) -> bool:
        """Tell whether the kernel skips the cases in a boot with this many CPUs."""
        return (
            kernel.tree.base.version.line in (self.lines or (kernel.tree.base.version.line,))
            and not (self.architectures and _disjoint(kernel, self.architectures))
            and not (self.unless and kernel.enables(self.unless))
            and self.cpus in (0, cpus)
        )

    def covers(self, case: str) -> bool:
        """Tell whether the entry covers this case."""
        return any(fnmatchcase(case, pattern) for pattern in self.cases)


def _disjoint(kernel: Kernel, architectures: Sequence[str], *, sizes: bool = False) -> bool:
    """Whether `names` include neither the architecture (alone or with the CPU of --cpu) nor the one
    that its guest is built for. With `sizes`, the latter does not count if the architecture's folio
    sizes stand for others."""
    arch = kernel.arch
    other = arch.name if sizes and arch.folio_sizes else arch.guest
    return {arch.name, arch.label, other}.isdisjoint(architectures)


# Read a file's expected failures, or skips; none if it does not exist.
REMEDY = "give each [[expected]] a tree, architectures, cases and why"
read = data.Table("expected", Expected, REMEDY, optional=True).read
skips = data.Table("skip", Skip, "give each [[skip]] cases and why", optional=True).read


def inherited(outcomes: Sequence[Outcome], sides: Sides) -> list[Expected]:
    """Derive the expected failures of two sides without a list: A's failures are expected on A, and
    on B on the same architecture."""
    a, b = sides.a.label, sides.b.label
    entries = []
    for outcome in outcomes:
        if outcome.kernel.tree.label == a:
            arch = (outcome.kernel.arch.name,)
            cases = tuple(case.name for case in outcome.failed)
            entries.append(Expected(a, arch, cases, f"fails on {a}"))
            entries.append(Expected(b, arch, cases, f"also fails on {a}"))
    return entries


def resolve(outcomes: Sequence[Outcome], entries: Sequence[Expected]) -> list[Outcome]:
    """Mark each failure that an entry covers as EXPECTED, for the entry's reason."""

    def resolved(case: Case, kernel: Kernel) -> Case:
        if case.status is Status.FAIL:
            for entry in entries:
                if entry.covers(kernel, case.name):
                    return replace(case, status=Status.EXPECTED, reason=entry.why)
        return case

    return [
        replace(outcome, cases=tuple(resolved(case, outcome.kernel) for case in outcome.cases))
        for outcome in outcomes
    ]


def judge(
    outcomes: Sequence[Outcome],
    known: list[Expected] | Sides,
    skips: list[Skip] | None,
    *,
    whole: bool,
) -> list[Outcome]:
    """Mark expected failures; without a list, B may fail what A fails. With `skips`, any other skip
    is a failure, and so is an unneeded entry: compare()."""
    if isinstance(known, Sides):
        return resolve(outcomes, inherited(outcomes, known))
    outcomes = resolve(outcomes, known)
    return outcomes if skips is None else compare(outcomes, known, skips, whole=whole)


def compare(
    outcomes: Sequence[Outcome], known: Sequence[Expected], skips: Sequence[Skip], *, whole: bool
) -> list[Outcome]:
    """Mark each difference from the lists as a failure. `whole`: all cases ran."""
    return [
        outcome if outcome.lost else _compare(outcome, known, skips, whole=whole)
        for outcome in outcomes
    ]


def _compare(
    outcome: Outcome, known: Sequence[Expected], skips: Sequence[Skip], *, whole: bool
) -> Outcome:
    kernel = outcome.kernel
    skips = [skip for skip in skips if skip.applies(kernel, outcome.cpus)]
    repeats = outcome.cpus == 1 and not kernel.enables("CONFIG_DEBUG_VM")
    cases = []
    for case in outcome.cases:
        wrong = ""
        if case.status is Status.SKIP and not any(skip.covers(case.name) for skip in skips):
            wrong = f"skipped, but not listed in lines/skips.toml: {case.reason}"
        if case.status is Status.PASS and repeats:
            expects = [entry for entry in known if entry.covers(kernel, case.name)]
            if expects and not any(entry.sometimes for entry in expects):
                wrong = f"passes, but is expected to fail: {expects[0].why}"
        cases.append(replace(case, status=Status.FAIL, reason=wrong) if wrong else case)
    present = [case.name for case in outcome.cases if case.status in SKIPPED]
    dead = [skip.why for skip in skips if whole and not any(map(skip.covers, present))]
    problem = f"lines/skips.toml: no case is skipped because {'; '.join(dead)}" if dead else ""
    return replace(outcome, cases=tuple(cases), problem=outcome.problem or problem)
