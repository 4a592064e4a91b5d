# SPDX-License-Identifier: GPL-2.0
"""Run the same programs of memory operations on two kernels, and show what differs.

A seed generates the programs. Each runs in new processes; after each operation all that user space
can see is compared. A difference that repeats is shrunk and written out, ready to replay.

  quire fuzz ARCH=arm64                          1000 programs
  quire fuzz ARCH=arm64 --programs 50000 --seed 7
  quire fuzz --replay build/fuzz/arm64/finding-17/program.fuzz ARCH=arm64
  quire fuzz --corpus                            replay tests/fuzz/
  quire fuzz --faults --config configs/debug.config   with allocations that fail
  quire fuzz --seeded ARCH=arm64                 look for some seeded bugs of each topic
  quire fuzz --seeded all ARCH=arm64             look for all of them (quire seeded --list)
  quire fuzz --oracle ARCH=arm64                 one kernel, judged by what user space was promised
"""

import argparse
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from quire.arch import Architecture, requirements
from quire.boot import launch
from quire.cluster import option
from quire.fuzz import detect, programs, report, runner
from quire.fuzz.cost import allowed, meter, watch
from quire.fuzz.cost.judge import CostJudge
from quire.fuzz.coverage.guide import Guide
from quire.fuzz.detect import Search
from quire.fuzz.difference import excuses
from quire.fuzz.difference.judge import DifferenceJudge
from quire.fuzz.hunt import Hunt
from quire.fuzz.judge import Judge
from quire.fuzz.language.program import Program
from quire.fuzz.programs import Programs
from quire.fuzz.promise.judge import PromiseJudge
from quire.fuzz.runner import Target, Targets
from quire.host import parallel, shard
from quire.host.errors import Difference, UserError
from quire.session import Session
from quire.source.side import Sides, fixed
from quire.source.tree import Tree
from quire.test import seeded
from quire.test.seeded import Bug

FAULTS = "CONFIG_FAULT_INJECTION"
# Generated programs: of a hunt, and after how many a seeded bug counts as missed.
PROGRAMS = 1000
FOR_A_BUG, FOR_A_PROMISE, FOR_A_COST = 2000, 1000, 500


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Which programs, how many."""
    option.add(part)
    shard.add(part, "programs, or of the bugs of --seeded")
    what = part.add_mutually_exclusive_group()
    add = what.add_argument
    add("--replay", type=Path, action="append", default=[], metavar="FILE", help="run this program")
    add("--corpus", action="store_true", help="run the programs of tests/fuzz/")
    text = "look for these seeded bugs, or all (default: some), up to --programs for each"
    add("--seeded", nargs="*", metavar="BUG", help=text)
    _add_oracle(part.add_argument_group("one kernel"))
    add = part.add_argument
    add("--cost", action="store_true", help="compare what each operation costs, too")
    text = "with --cost: side a against itself, in another order; each finding is a false alarm"
    add("--noise", action="store_true", help=text)
    text = f"how many (default {PROGRAMS}, with --seeded {FOR_A_BUG})"
    add("--programs", type=int, metavar="N", help=text)
    add("--seed", type=int, metavar="N", help="of the first program (default 1)")
    text = "stop after so many (default %(default)s); 0: list what differs, and never stop"
    add("--findings", type=int, default=5, metavar="N", help=text)
    text = "let allocations fail (needs --config configs/debug.config)"
    add("--faults", action="store_true", help=text)
    text = "do not count coverage, nor choose programs by it"
    add("--no-coverage", action="store_true", help=text)
    text = "what programs swap to: compressed memory (default), a plain block device, nothing"
    add("--swap", choices=runner.SWAPS, default=runner.ZRAM, help=text)
    add("--output", type=Path, metavar="DIR", help="findings go there (default: build/fuzz/)")
    add("--json", action="store_true", help="print JSON")


def _add_oracle(group: argparse._ArgumentGroup) -> None:
    text = "run on one kernel, side b, and judge it by what user space was promised"
    group.add_argument("--oracle", action="store_true", help=text)
    which = group.add_mutually_exclusive_group()
    text = "with --oracle: the base, without the series; with --cost: side a is that, for costs"
    which.add_argument("--stock", action="store_true", help=text)
    text = "with --oracle: the base with the topics that fix it"
    which.add_argument("--fixed", action="store_true", help=text)


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 1 when the kernels differ, or a seeded bug was missed."""
    with option.using(session, arguments) as (there, _):
        return _run(there, arguments)


def _run(session: Session, arguments: argparse.Namespace) -> int:
    _check(arguments)
    requirements.require(session.architectures)
    sides = session.sides()
    if arguments.fixed or not (arguments.oracle or arguments.stock):
        sides = fixed(session.cache, sides)
    if arguments.oracle and (arguments.stock or arguments.fixed):
        sides = replace(sides, b=sides.a)
    work = partial(_hunt, session, arguments, sides)
    what = "the kernels differ on {} programs"
    remedy = "replay one: quire fuzz --replay FILE; the records are beside it"
    if arguments.oracle:
        what = f"{sides.b.tree.label} breaks a promise in {{}} ways"
        remedy = (
            "replay one: quire fuzz --oracle --replay FILE; `promises` beside it has the sources"
        )
    if arguments.seeded is not None:
        work = _looking_for_bugs(session, arguments, sides)
        what = f"{{}} seeded {'regressions' if arguments.cost else 'bugs'} were not found"
        remedy = "more --programs, or a recipe in src/quire/fuzz/generate/"
        if arguments.oracle:
            what = "{} seeded bugs break no promise that the oracle knows"
            remedy = "more --programs, or without --oracle: the comparison sees more"
    problems = list(itertools.chain(*parallel.in_turn(session.architectures, work)))
    if problems:
        raise Difference(what.format(len(problems)), "\n".join(problems), remedy)
    return 0


def _hunt(
    session: Session, arguments: argparse.Namespace, sides: Sides, arch: Architecture
) -> list[str]:
    """Hunt on one architecture. The result is a line per finding."""
    files = programs.corpus(session.project.root) if arguments.corpus else arguments.replay
    given, known = programs.read(arguments.shard.some(files) if files else [])
    series = None if arguments.noise else sides.series
    excused, meant = excuses.applying(series), allowed.applying(series, sides.a.tree.series)
    targets = _targets(session, arguments, sides, arch)
    output = _output(session, arguments, arch.name)
    # The base is meant to differ in what the series fixes.
    judges: list[Judge[Any]] = [] if arguments.stock else [DifferenceJudge(targets, excused)]
    guide = None
    if arguments.oracle:
        # A program to replay shows what it breaks.
        judges = [PromiseJudge(targets, known if arguments.corpus else {})]
    elif arguments.cost:
        allowed.require(meant, watch.functions(targets.tried.kernel))
        judges.append(CostJudge(targets, meter.prepare(session, targets), meant))
    elif not (given or arguments.no_coverage):
        guide = Guide(session, targets, sides.series, output)
    hunt = Hunt(judges, output, guide)
    chosen = _programs(arguments, PROGRAMS, given)
    if not given:
        numbers = arguments.shard.range(chosen.count)
        chosen = replace(chosen, count=len(numbers), seed=chosen.seed + numbers.start)
    hunt.run(chosen, arguments.findings, session.progress)
    report.show(hunt, as_json=arguments.json)
    if isinstance(judges[-1], CostJudge) and arguments.replay:
        report.show_costs(judges[-1], given)
    return hunt.problems


def _looking_for_bugs(
    session: Session, arguments: argparse.Namespace, sides: Sides
) -> partial[list[str]]:
    """How to look for seeded bugs on an architecture. The result names those that were missed."""
    where = seeded.costs_folder(sides) if arguments.cost else seeded.folder(sides)
    bugs = arguments.shard.some(detect.choose(seeded.read(where), arguments.seeded))
    b = replace(sides.b, tree=seeded.tree_with_bugs(session.cache, sides, where))
    # Costs are compared with the same kernel without a regression.
    sides = replace(sides, a=b if arguments.cost else sides.a, b=b)
    return partial(_look_for, bugs, session, arguments, sides)


def _look_for(
    bugs: Sequence[Bug],
    session: Session,
    arguments: argparse.Namespace,
    sides: Sides,
    arch: Architecture,
) -> list[str]:
    excused = excuses.applying(sides.series)
    targets = _targets(session, arguments, sides, arch)
    make: Callable[[Targets], Judge[Any]] = partial(DifferenceJudge, excuses=excused)
    limit, given = FOR_A_BUG, dict[int, Program]()
    if arguments.oracle:
        make, limit = PromiseJudge, FOR_A_PROMISE
        given, _ = programs.read(programs.corpus(session.project.root))
    elif arguments.cost:
        make, limit = partial(CostJudge, watch=meter.prepare(session, targets)), FOR_A_COST
    search = Search(
        make,
        targets,
        _programs(arguments, limit, given),
        session.cache,
        pages=arguments.oracle or arguments.cost,
        shrinks=not arguments.oracle or arguments.findings > 0,
    )
    seen = [bug for bug in bugs if bug.seen_on(arch.name, session.configs)]
    output = _output(session, arguments, "seeded") / arch.name
    results = detect.look_for_all(search, seen, output, session.progress)
    report.show_bugs(arch, make(targets), results, as_json=arguments.json)
    return [f"{arch.name}: {result.bug.name}" for result in results if result.missed]


def _targets(
    session: Session, arguments: argparse.Namespace, sides: Sides, arch: Architecture
) -> Targets:
    """The kernels of both sides, or of side b alone; for noise, side a twice.

    UserError if allocations should fail, and side b's kernel cannot make them.
    """

    target = partial(_target, session, arguments, arch)
    twice = arguments.noise or sides.a is sides.b
    chosen = [target(sides.a.tree)] if not arguments.oracle else []
    if twice and chosen:
        # Noise must not depend on the order of the programs.
        again = launch.workdir(session.cache, f"fuzz-{arch.name}-again")
        chosen.append(replace(chosen[0], directory=again, backwards=arguments.noise))
    else:
        chosen.append(target(sides.b.tree))
    kernel = chosen[-1].kernel
    if arguments.faults and not kernel.enables(FAULTS):
        raise UserError(
            "this kernel cannot make allocations fail",
            f"{kernel.config}: no {FAULTS}",
            "--config configs/debug.config",
        )
    return Targets(tuple(chosen))


def _target(
    session: Session, arguments: argparse.Namespace, arch: Architecture, tree: Tree
) -> Target:
    """A kernel with our guest, both built; logs of different commands go to different places."""
    kernel = session.kernel(arch, tree)
    use = "oracle" if arguments.oracle else "fuzz"
    directory = launch.workdir(session.cache, f"{use}-{arch.name}-{tree.path.parent.name}")
    guest = session.guest(kernel)
    return Target(kernel, guest, directory, swap=arguments.swap, place=session.place)


def _programs(
    arguments: argparse.Namespace, default: int, given: Mapping[int, Program]
) -> Programs:
    count = default if arguments.programs is None else arguments.programs
    seed = 1 if arguments.seed is None else arguments.seed
    return Programs(count, seed, given, faults=arguments.faults, oracle=arguments.oracle)


def _output(session: Session, arguments: argparse.Namespace, folder: str) -> Path:
    root: Path = arguments.output or session.cache.root / "fuzz"
    return root / folder


def _check(arguments: argparse.Namespace) -> None:
    """UserError for options that exclude each other, or that would do nothing."""
    oracle, cost, seeks = arguments.oracle, arguments.cost, arguments.seeded is not None
    given = arguments.corpus or arguments.replay
    generated = arguments.programs is not None or arguments.seed is not None
    chosen = arguments.fixed or (arguments.stock and not cost)
    example = "leave one of them out"
    for wrong, what, remedy in (
        (oracle and cost, "--oracle runs one kernel, --cost compares two", example),
        (
            (chosen and not oracle) or (seeks and (arguments.stock or arguments.fixed)),
            "--stock and --fixed choose the kernel of --oracle, and --stock side a of --cost",
            "quire fuzz --oracle --stock",
        ),
        (
            arguments.noise and (seeks or not cost),
            "--noise is for --cost alone",
            "quire fuzz --cost --noise",
        ),
        (
            arguments.faults and cost,
            "costs are not compared when allocations fail: the kernels count them differently",
            example,
        ),
        (arguments.faults and seeks, "bugs are looked for without --faults", example),
        (given and generated, "--programs and --seed are for generated programs", example),
    ):
        if wrong:
            raise UserError(what, "", remedy)
