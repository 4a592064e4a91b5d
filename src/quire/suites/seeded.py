# SPDX-License-Identifier: GPL-2.0
"""Seeded bugs: bugs added to the series, each selected by a boot argument, with cases that fail.

`lines/6.12/seeded/` contains patches on top of the series (in the quilt file `series`) and
bugs.toml. A bug is caught if one of its cases fails, or if the guest is lost to a splat, a panic or
a hang. With no bug selected, or with LATE, every case must pass. proofs.toml lists additional cases
that are known to fail with a bug.

Its folder `cost` contains regressions, which cost more but change no result, so that no case
detects them. They are patches directly on top of the series, in a separate kernel, each guarded by
a static key.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from quire.arch import Architecture
from quire.host import data, parallel
from quire.host.cache import Cache
from quire.host.errors import Difference, GuestLost, UserError
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.source import series as series_files
from quire.source import tree
from quire.source.side import Sides
from quire.source.tree import Tree
from quire.suites import expected, outcome, suite
from quire.suites.expected import Expected
from quire.suites.suite import BootOptions, Job

# The kernel parameter that selects a bug; see the patches.
PARAMETER = "quire_bug"
# Not a bug's name. It disables the check that predicts whether a batch will be restored, so that
# branches which otherwise need a race run; they must be correct.
LATE = "late"
# With no bug selected.
CLEAN = (f"{PARAMETER}={LATE}",)
BUGS = "bugs.toml"
PROOFS = "proofs.toml"
# The cost regressions: a folder with the same files as the seeded bugs.
COST = "cost"
# The fragment in configs/ with the suites that the cases `kunit.*` run.
KUNIT = "kunit.config"
# Some bugs hang the guest, which counts as caught. The cases of one bug take a few seconds; the
# rest is margin for a busy host. The limit is lower than for a run of all suites.
HANG = 400.0
# A kernel passes at most 32 arguments to init; some are ours.
AT_ONCE = 20


def _kernels(arch: str, configs: Sequence[Path]) -> set[str]:
    """The names that a list of architectures may use for a kernel with these fragments."""
    return {arch, *(f"{arch}/{path.stem}" for path in configs)}


@dataclass(frozen=True)
class Bug:
    """One seeded bug, or one cost regression."""

    name: str
    # What is wrong.
    about: str
    # Architectures on which it is visible; `arm64/debug`: only with the fragment debug.config.
    architectures: tuple[str, ...]
    # Patterns for suite.case; for a regression, the fuzzer's operations that cost more.
    cases: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    # Its number in the list of known faults.
    trap: str = ""
    # Whether `make test` runs it.
    sample: bool = False
    # Whether `quire fuzz seeded` looks for it by default, or why no program can show it.
    fuzzed: bool = False
    no_program: str = ""
    # The kernel option that it requires to be visible.
    needs: str = ""
    # The number of virtual CPUs of its boots.
    cpus: int = 1

    def shown_by(self, kernel: Kernel, configs: Sequence[Path] = ()) -> bool:
        """Tell whether it is visible on that kernel, which has these additional fragments."""
        seen = self.seen_on(kernel.arch.guest, configs)
        return seen and (not self.needs or kernel.enables(self.needs))

    def seen_on(self, arch: str, configs: Sequence[Path] = ()) -> bool:
        """Tell whether it is visible to programs for `arch`, with these additional fragments."""
        return not _kernels(arch, configs).isdisjoint(self.architectures)


@dataclass(frozen=True)
class SeededResult:
    """The result for one bug on one architecture; `by` names what caught it."""

    bug: Bug
    arch: str
    caught: bool
    by: str
    # All cases that failed, by name.
    failed: tuple[str, ...] = ()

    @property
    def passed(self) -> list[str]:
        """Return the bug's cases that did not fail, including any that did not run."""
        return [
            f"{self.arch}: {self.bug.name}: {case}"
            for case in self.bug.cases
            if case not in self.failed
        ]


def folder(sides: Sides) -> Path:
    """Return the folder of bugs for our series. UserError without one, or for another series."""
    return _existing(sides, sides.line.seeded, "seeded bugs")


def costs_folder(sides: Sides) -> Path:
    """Return the folder of cost regressions. UserError if the line has none."""
    return _existing(sides, sides.line.seeded / COST, "seeded cost regressions")


def _existing(sides: Sides, where: Path, what: str) -> Path:
    if not (where / BUGS).is_file():
        raise UserError(
            f"no {what} for Linux {sides.base.version}",
            str(where),
            "use a base that has them, for example: --base 6.12",
        )
    return where


def read(where: Path) -> list[Bug]:
    """Read the bugs or regressions in a folder. UserError for an invalid one."""
    remedy = "give each [[bug]] a name, about, architectures, and cases or operations"
    return data.Table("bug", Bug, remedy, trouble=_trouble).read(where / BUGS)


def _trouble(bug: Bug) -> str:
    if not (bug.cases or bug.operations):
        return f"{bug.name} has neither cases nor operations"
    if bug.fuzzed and bug.no_program:
        return f"{bug.name} is fuzzed, and also marked as invisible to programs"
    return ""


@dataclass(frozen=True)
class SeededProof:
    """Cases that all fail with a bug; `architecture` as in a bug's list."""

    bug: str
    architecture: str
    cases: tuple[str, ...]


def proofs(where: Path) -> list[SeededProof]:
    """Read the proofs in a folder; none without such a file. UserError for an invalid one."""
    remedy = "give each [[proof]] a bug, an architecture and cases"
    return data.Table("proof", SeededProof, remedy, optional=True).read(where / PROOFS)


def proved(
    bugs: Sequence[Bug], proofs: Sequence[SeededProof], arch: str, configs: Sequence[Path]
) -> list[Bug]:
    """Return the proofs' bugs, with the cases that must fail on `arch` with these fragments."""
    kernels = _kernels(arch, configs)
    cases: dict[str, list[str]] = defaultdict(list)
    for proof in proofs:
        cases[proof.bug] += proof.cases if proof.architecture in kernels else ()
    return [replace(bug, cases=tuple(cases[bug.name])) for bug in bugs if cases[bug.name]]


def select(bugs: Sequence[Bug], names: Sequence[str]) -> list[Bug]:
    """Return the bugs that match these names or patterns, or all. UserError for no match."""
    unknown = {name for name in names if not any(fnmatchcase(bug.name, name) for bug in bugs)}
    if unknown:
        raise UserError(
            f"no such seeded bug: {', '.join(sorted(unknown))}",
            remedy="see the list: quire seeded --list",
        )
    return [bug for bug in bugs if not names or any(fnmatchcase(bug.name, name) for name in names)]


def tree_with_bugs(cache: Cache, sides: Sides, where: Path) -> Tree:
    """Return the patched tree with all bugs or cost regressions in the folder."""
    extra = series_files.read(where / "series")
    series = replace(sides.series, patches=sides.series.patches + extra.patches)
    return tree.patched(cache, sides.base, series)


def kernel(session: Session, arch: Architecture, source: Tree) -> Kernel:
    """Build the kernel with all bugs, and with the line's KUnit suites for the cases `kunit.*`."""
    if (session.line(source.base).seeded / "kunit.toml").is_file():
        suites = session.project.configs / KUNIT
        session = replace(session, configs=(*session.configs, suites))
    return session.kernel(arch, source)


def require(findings: Sequence[SeededResult], *, each: bool) -> None:
    """Raise Difference if a bug was missed; with `each`, if any case of a bug passed."""
    passed = [line for finding in findings for line in finding.passed]
    if each and passed:
        what, remedy = "cases pass with their bug", "fix the case, or proofs.toml"
        raise Difference(f"{len(passed)} {what}", "\n".join(passed), remedy)
    missed = [finding for finding in findings if not finding.caught]
    if missed:
        raise Difference(
            f"{len(missed)} of {len(findings)} seeded bugs were not caught",
            "\n".join(f"{finding.arch}: {finding.bug.name}" for finding in missed),
            "write a case that fails with the bug: quire_bug=NAME on the kernel command line",
        )


def look_for(
    session: Session,
    kernel: Kernel,
    bugs: list[Bug],
    known: list[Expected],
    clean: list[tuple[BootOptions, list[str]]],
    show: Callable[[SeededResult], None] | None = None,
) -> list[SeededResult]:
    """Look for each bug, and show each finding immediately. `known` also fail without a bug.

    `clean`: boots with no bug selected, besides those of the bugs' cases. Raises if these fail.
    """
    for cpus in sorted({bug.cpus for bug in bugs}):
        late = BootOptions(cpus, parameters=CLEAN)
        cases = (case for bug in bugs if bug.cpus == cpus for case in bug.cases)
        clean += [(late, some) for some in batches(cases)]
    progress, machines = session.progress, session.place.machines

    def caught(done: int, _: Bug, finding: SeededResult) -> None:
        progress.at(len(clean) + done, finding.bug.name)
        if show:
            show(finding)

    with progress.stage(f"{kernel.arch.name} seeded bugs", len(clean) + len(bugs)):
        passed = parallel.side_by_side(
            range(len(clean)),
            lambda number: suite.run(session, Job(kernel, clean[number][0]), clean[number][1]),
            lambda done, *_: progress.at(done, "none selected"),
            machines,
        )
        if error := outcome.failures(expected.resolve(passed, known)):
            raise error
        search = partial(hunt, session, kernel, known=known)
        return parallel.side_by_side(bugs, search, caught, machines)


def hunt(
    session: Session,
    kernel: Kernel,
    bug: Bug,
    known: Sequence[Expected] = (),
) -> SeededResult:
    """Boot with this bug selected and run its cases. `known` also fail without it."""
    parameters = (f"{PARAMETER}={bug.name}",)
    options = BootOptions(bug.cpus, HANG, parameters=parameters)
    failed: list[str] = []
    for batch in batches(bug.cases):
        try:
            ended = suite.run(session, Job(kernel, options), batch)
        except GuestLost as lost:
            return SeededResult(bug, kernel.arch.name, True, lost.what, tuple(failed))
        (resolved,) = expected.resolve([ended], known)
        failed += [case.name for case in resolved.failed]
    return SeededResult(bug, kernel.arch.name, bool(failed), summary(failed), tuple(failed))


def batches(cases: Iterable[str]) -> list[list[str]]:
    """Split the cases into groups that fit on a boot's command line."""
    names = sorted(set(cases))
    return [names[at : at + AT_ONCE] for at in range(0, len(names), AT_ONCE)]


def summary(names: Sequence[str]) -> str:
    """Return the first name and the number of others."""
    return "".join(names[:1]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")
