# SPDX-License-Identifier: GPL-2.0
"""Run the cases, the corpus programs and the kernel's selftests for coverage.

Each boot counts the instructions in the lines' code. Kernels of different configurations have
different code, so each has its own table; the results are merged.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from quire.arch import Architecture
from quire.boot import counter, launch, machine
from quire.boot.counts import Stop
from quire.boot.machine import Counting
from quire.coverage import code
from quire.coverage.added import Added
from quire.coverage.code import Code, SourceLine
from quire.fuzz import programs, runner
from quire.fuzz.language.program import Program
from quire.fuzz.runner import Probe, Target
from quire.host import data, parallel
from quire.host.cache import digest
from quire.kernels.kernel import Kernel
from quire.kselftest import binaries, runs
from quire.session import Session
from quire.source.side import Sides
from quire.suites import suite
from quire.suites.suite import BootOptions, Job, Tests

# Tells the guest to count everything that it does.
COUNT = "quire_count=on"
# Seconds for a boot, which counting makes several times slower.
PATIENCE = 14400.0


@dataclass(frozen=True)
class Variant:
    """Kernels of one configuration: fragments of configs/, CPUs, and patterns of cases, each a
    boot. Each instruction takes one nanosecond, even with several CPUs."""

    cases: tuple[str, ...] = ()
    fragments: tuple[str, ...] = ()
    cpus: int = 1
    # Folio sizes in KiB.
    sizes: tuple[int, ...] = (4, 64)
    # Whether to run the corpus programs, too.
    corpus: bool = False
    # Names of the kernel's selftests, with * and ?.
    selftests: tuple[str, ...] = ()
    # Empty: all.
    architectures: tuple[str, ...] = ()


# Read the variants in lines/coverage.toml.
variants = data.Table("variant", Variant, "give each [[variant]] cases, or selftests").read


@dataclass(frozen=True)
class Covered:
    """The lines with code in one of the kernels, and those that ran."""

    executable: frozenset[SourceLine]
    ran: frozenset[SourceLine]


def run(
    session: Session,
    arch: Architecture,
    sides: Sides,
    added: Collection[Added],
    chosen: Sequence[Variant],
    *,
    resume: bool,
) -> Covered:
    """Build and boot these variants, in parallel for each kernel."""
    executable: set[SourceLine] = set()
    ran: set[SourceLine] = set()
    ours = [variant for variant in chosen if arch.name in (variant.architectures or (arch.name,))]
    for names, variants_of in groupby(ours, attrgetter("fragments")):
        fragments = (session.project.configs / name for name in names)
        configured = replace(session, configs=(*session.configs, *fragments))
        kernel = configured.kernel(arch, sides.b.tree)
        work = session.cache.root / "coverage" / f"{arch.name}-{kernel.image_sha256[:12]}"
        with session.progress.stage(f"{arch.name} line tables"):
            table = code.find(kernel, added, work, session.jobs)
        executable.update(*(lines for _, lines in table.values()))
        boots = VariantBoots(configured, kernel, table, work, resume)
        jobs = [job for variant in variants_of for job in boots.jobs(variant)]
        with session.progress.stage(f"{arch.name} boots that count", len(jobs)):
            ran.update(
                *parallel.side_by_side(
                    jobs,
                    lambda job: job(),
                    lambda done, *_: session.progress.at(done),
                    session.place.machines,
                )
            )
    return Covered(frozenset(executable), frozenset(ran))


@dataclass(frozen=True)
class VariantBoots:
    """The boots of one kernel, each a function that returns the lines that ran."""

    session: Session
    kernel: Kernel
    code: Code
    work: Path
    resume: bool

    def jobs(self, variant: Variant) -> list[Callable[[], set[SourceLine]]]:
        """Return a variant's boots."""
        without = (suite.of_sizes(variant.sizes),)
        jobs: list[Callable[[], set[SourceLine]]] = [self.corpus] if variant.corpus else []
        jobs += [
            partial(self.suite, suite.OURS, pattern, variant.cpus, without)
            for pattern in variant.cases
        ]
        if variant.selftests:
            table = runs.read(self.session.project.guest / runs.TABLE)
            tests = binaries.tests(runs.choose(table, self.kernel.tree.base.path, self.kernel.arch))
            jobs += [partial(self.suite, tests, pattern) for pattern in variant.selftests]
        return jobs

    def suite(
        self, tests: Tests, pattern: str, cpus: int = 1, parameters: tuple[str, ...] = ()
    ) -> set[SourceLine]:
        """Return a boot of the guest's tests or the kernel's; failures are left to `quire test`."""
        options = BootOptions(
            cpus,
            PATIENCE,
            resume=self.resume,
            parameters=(COUNT, *parameters),
            counting=self._counting,
        )
        done = suite.run(self.session, Job(self.kernel, options), [pattern], tests)
        return code.executed(self.code, Path(done.logs) / machine.COUNTS)

    def corpus(self) -> set[SourceLine]:
        """Boots of the corpus programs, without those whose guest is lost."""
        given, _ = programs.read(programs.corpus(self.session.project.root))
        guest = self.session.guest(self.kernel)
        kept = self.work / f"corpus-{digest(guest.sha256, *map(str, given.items()))}"
        if self.resume and kept.is_file():
            return {(file, number) for file, number in json.loads(kept.read_text())}
        ran: set[SourceLine] = set()

        def take(directory: Path, _: Sequence[Program], whole: bool) -> Sequence[Stop]:
            ran.update(code.executed(self.code, directory / machine.COUNTS) if whole else ())
            return ()

        directory = launch.workdir(self.session.cache, f"coverage-{self.kernel.arch.name}")
        probe = Probe(self._counting, "cover", take)
        runner.run(
            Target(self.kernel, guest, directory, probe=probe, place=self.session.place), given
        )
        kept.write_text(json.dumps(sorted(ran)))
        return ran

    @cached_property
    def _counting(self) -> Counting:
        path = self.work / "symbols"
        path.write_text(code.symbols(self.code))
        cache, sources = self.session.cache, self.session.project.counter
        return Counting(counter.build(cache, sources, self.kernel.arch), symbols=path)
