# SPDX-License-Identifier: GPL-2.0
"""Seeded bugs: the series with bugs put in, each selected by a boot argument, and who sees it.

`lines/6.12/seeded/` holds patches on top of the series (`series` lists them, as quilt does)
and `bugs`, a line per bug:

    name | what is wrong | trap | architectures | cases that must catch it

A case is a pattern on suite.case. An architecture may be `arm64/debug`: only a kernel with the
fragment `debug.config` can show the bug there. A bug is caught when one of its cases fails, or
when the guest is lost to a splat, a panic or a hang. With no bug selected everything must pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.arch import Architecture
from quire.build.kernel import Kernel
from quire.host.cache import Cache
from quire.host.errors import GuestLost, UserError
from quire.host.tables import Table
from quire.session import Session
from quire.source import series as series_files
from quire.source import tree
from quire.source.series import Series
from quire.source.side import Sides
from quire.source.tree import Tree
from quire.test import suite
from quire.test.suite import Options

# The kernel's parameter that selects a bug; see the patches.
PARAMETER = "quire_bug"
TABLE = Table(
    "a seeded bug",
    ("name", "what is wrong", "trap", "architectures", "cases"),
    may_be_empty=("what is wrong", "trap"),
)
# Suites that a case of the guest starts and reads. The fragment is in configs/.
KUNIT = "kunit.config"
# Some bugs hang the guest, which is a way of being caught. A bug's cases take some seconds; this
# leaves room for a busy host, and is less than what a run of all suites is given.
HANG = 400.0


@dataclass(frozen=True)
class Bug:
    """One seeded bug. `architectures` are those where it can be seen."""

    name: str
    about: str
    trap: str
    architectures: tuple[str, ...]
    cases: tuple[str, ...]

    def seen_on(self, arch: str, configs: Sequence[Path] = ()) -> bool:
        """Whether a kernel for `arch` with these further fragments can show it."""
        kernels = {arch, *(f"{arch}/{path.stem}" for path in configs)}
        return not kernels.isdisjoint(self.architectures)


@dataclass(frozen=True)
class Finding:
    """What became of one bug on one architecture; `by` says what saw it."""

    bug: Bug
    arch: str
    caught: bool
    by: str


def folder(sides: Sides) -> Path:
    """Where the bugs for our series are. UserError if there are none, or it is not ours."""
    found = sides.line.seeded
    if not (found / "bugs").is_file():
        raise UserError(
            f"no seeded bugs for Linux {sides.base.version}",
            str(found),
            "use a base that has some, for instance: --base 6.12",
        )
    return found


def read(file: Path) -> list[Bug]:
    """Parse the table. UserError names the line that is not one."""
    return [
        Bug(name, about, trap, tuple(arches.split()), tuple(cases.split()))
        for name, about, trap, arches, cases in TABLE.read(file)
    ]


def select(bugs: Sequence[Bug], names: Sequence[str]) -> list[Bug]:
    """The named ones, or all. UserError for a name that is not there."""
    unknown = set(names) - {bug.name for bug in bugs}
    if unknown:
        raise UserError(
            f"no such seeded bug: {', '.join(sorted(unknown))}",
            remedy="see the list: quire seeded --list",
        )
    return [bug for bug in bugs if bug.name in names or not names]


def few(where: Path) -> list[str]:
    """A sample of the bugs, by name, as the file `few` lists it; UserError if there is none."""
    file = where / "few"
    if not file.is_file():
        raise UserError("the line names no sample of its bugs", str(file), "leave --few out")
    return [name for (name,) in Table("a bug", ("name",)).read(file)]


def tree_with_bugs(cache: Cache, sides: Sides, where: Path) -> Tree:
    """The patched tree with all bugs in it."""
    extra = series_files.read(where / "series")
    both: Series = replace(sides.series, patches=sides.series.patches + extra.patches)
    return tree.patched(cache, sides.base, both)


def kernel(session: Session, arch: Architecture, of: Tree) -> Kernel:
    """The kernel with all bugs and the KUnit suites that cases `kunit.*` ask for, built."""
    suites = session.project.configs / KUNIT
    return replace(session, configs=(*session.configs, suites)).kernel(arch, of)


def hunt(session: Session, kernel: Kernel, bug: Bug, options: Options) -> Finding:
    """Boot with the bug selected and run its cases."""
    chosen = replace(options, parameters=(f"{PARAMETER}={bug.name}",), timeout=HANG)
    try:
        verdict = suite.run(session, kernel, bug.cases, chosen)
    except GuestLost as lost:
        return Finding(bug, kernel.arch.name, True, lost.what)
    failed = [name for name, test in verdict.cases if test.failed]
    return Finding(bug, kernel.arch.name, bool(failed), summary(failed))


def summary(names: Sequence[str]) -> str:
    """The first of them and how many more."""
    if not names:
        return ""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
