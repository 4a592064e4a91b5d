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

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from quire.arch import Architecture, requirements
from quire.commands import options
from quire.fuzz import detect, programs, report, runner
from quire.fuzz.cost import allowed, watch
from quire.fuzz.cost.costs import CostJudge
from quire.fuzz.coverage.guide import Guide
from quire.fuzz.detect import Search
from quire.fuzz.difference import excuses
from quire.fuzz.difference.differences import DifferenceJudge
from quire.fuzz.hunt import Hunt
from quire.fuzz.judge import Judge
from quire.fuzz.language.program import Numbered
from quire.fuzz.programs import Programs
from quire.fuzz.promise.promises import PromiseJudge
from quire.fuzz.runner import Targets
from quire.host import shard
from quire.host.errors import Difference, UserError
from quire.session import Session
from quire.source.side import Sides, fixed
from quire.test import seeded

FAULTS = "CONFIG_FAULT_INJECTION"
# Generated programs: of a hunt, and after how many a seeded bug counts as missed.
PROGRAMS, FOR_A_BUG, FOR_A_PROMISE, FOR_A_COST = 1000, 2000, 1000, 500
SWITCHES = {
    "--cost": "compare what each operation costs, too",
    "--noise": "with --cost: side a against itself; each finding is a false alarm",
    "--faults": "let allocations fail (needs --config configs/debug.config)",
    "--no-coverage": "do not count coverage, nor choose programs by it",
    "--json": "print JSON",
}


def add_arguments(part: ArgumentParser) -> None:
    """Which programs, how many."""
    options.kernel(part)
    options.cluster(part)
    shard.add(part, "programs, or of the bugs of --seeded")
    add = part.add_mutually_exclusive_group().add_argument
    add("--replay", type=Path, action="append", default=[], metavar="FILE", help="run this program")
    add("--corpus", action="store_true", help="run the programs of tests/fuzz/")
    text = "look for these seeded bugs, or all (default: some), up to --programs for each"
    add("--seeded", nargs="*", metavar="BUG", help=text)
    group = part.add_argument_group("one kernel")
    text = "run on one kernel, side b, and judge it by what user space was promised"
    group.add_argument("--oracle", action="store_true", help=text)
    add = group.add_mutually_exclusive_group().add_argument
    text = "with --oracle: the base, without the series; with --cost: side a is that, for costs"
    add("--stock", action="store_true", help=text)
    add("--fixed", action="store_true", help="with --oracle: the base with the topics that fix it")
    add = part.add_argument
    for name, text in SWITCHES.items():
        add(name, action="store_true", help=text)
    text = f"how many (default {PROGRAMS}, with --seeded {FOR_A_BUG})"
    add("--programs", type=int, metavar="N", help=text)
    add("--seed", type=int, metavar="N", help="of the first program (default 1)")
    text = "stop after so many (default %(default)s); 0: list what differs, and never stop"
    add("--findings", type=int, default=5, metavar="N", help=text)
    text = "what programs swap to: compressed memory (default), a plain block device, nothing"
    add("--swap", choices=runner.SWAPS, default=runner.ZRAM, help=text)
    add("--output", type=Path, metavar="DIR", help="findings go there (default: build/fuzz/)")


def run(session: Session, arguments: Namespace) -> int:
    """Exit status 1 when the kernels differ, or a seeded bug was missed."""
    _check(arguments)
    if arguments.cost:
        options.refuse_programs(session.architectures, "--cost counts instructions in QEMU")
    if names := [arch.name for arch in session.architectures if not arch.fuzzed]:
        raise options.other_architecture(f"the fuzzer does not run on {', '.join(names)}")
    requirements.require(session.architectures)
    oracle, seeks, sides = arguments.oracle, arguments.seeded is not None, session.sides()
    if arguments.fixed or not (oracle or arguments.stock):
        sides = fixed(session.cache, sides)
    if oracle and (arguments.stock or arguments.fixed):
        sides = replace(sides, b=sides.a)
    work = partial(_bugs if seeks else _hunt, session, arguments, sides)
    problems = [line for arch in session.architectures for line in work(arch)]
    if problems:
        judge = PromiseJudge if oracle else CostJudge if arguments.cost else DifferenceJudge
        what, remedy = judge.missing if seeks else judge.failing
        text = what.format(len(problems), sides.b.tree.label)
        raise Difference(text, "\n".join(problems), remedy)
    return 0


def _hunt(session: Session, arguments: Namespace, sides: Sides, arch: Architecture) -> list[str]:
    """Hunt on one architecture. The result is a line per finding."""
    files = programs.corpus(session.project.root) if arguments.corpus else arguments.replay
    given, known = programs.read(arguments.shard.some(files) if files else [])
    excused = excuses.applying(series := None if arguments.noise else sides.series)
    targets = _targets(session, arguments, sides, arch)
    output = (arguments.output or session.cache.root / "fuzz") / arch.name
    guide, judges = None, list[Judge[Any]]()
    if arguments.oracle:
        # A program to replay shows what it breaks.
        judges.append(PromiseJudge.of(targets, known if arguments.corpus else {}))
    elif not arguments.stock:
        # The base is meant to differ in what the series fixes.
        judges.append(DifferenceJudge(excused))
    if arguments.cost:
        functions = watch.functions(targets.tried.kernel)
        meant = allowed.applying(series, sides.a.tree.series, functions)
        judges.append(CostJudge(watch.prepare(session, targets), meant))
    elif arch.qemu and not (arguments.oracle or given or arguments.no_coverage):
        guide = Guide(session, targets, sides.series, output)
    chosen = _programs(arguments, PROGRAMS, given, sides, arch)
    if not given:
        numbers = arguments.shard.range(chosen.count)
        chosen = replace(chosen, count=len(numbers), seed=chosen.seed + numbers.start)
    hunt = Hunt(targets, judges, output, guide)
    hunt.run(chosen, arguments.findings, session.progress)
    report.show(hunt, as_json=arguments.json)
    if isinstance(judges[-1], CostJudge) and arguments.replay:
        report.show_costs(targets, judges[-1], given)
    return hunt.problems


def _bugs(session: Session, arguments: Namespace, sides: Sides, arch: Architecture) -> list[str]:
    """Look for seeded bugs on one architecture. The result names those that were missed."""
    where = seeded.costs_folder(sides) if arguments.cost else seeded.folder(sides)
    bugs = arguments.shard.some(detect.choose(seeded.read(where), arguments.seeded))
    b = replace(sides.b, tree=seeded.tree_with_bugs(session.cache, sides, where))
    # Costs are compared with the same kernel without a regression.
    sides = replace(sides, a=b if arguments.cost else sides.a, b=b)
    excused = excuses.applying(sides.series)
    targets = _targets(session, arguments, sides, arch)
    make: Callable[[], Judge[Any]] = partial(DifferenceJudge, excused)
    given: Numbered = {}
    limit, simplest = FOR_A_BUG, arguments.oracle or arguments.cost
    if arguments.oracle:
        make, limit = partial(PromiseJudge.of, targets), FOR_A_PROMISE
        given, _ = programs.read(programs.corpus(session.project.root))
    elif arguments.cost:
        make, limit = partial(CostJudge, watch.prepare(session, targets)), FOR_A_COST
    chosen = _programs(arguments, limit, given, sides, arch)
    shrinks = not arguments.oracle or arguments.findings > 0
    search = Search(make, targets, chosen, session.cache, pages=simplest, shrinks=shrinks)
    seen = [bug for bug in bugs if bug.shown_by(targets.tried.kernel, session.configs)]
    output = (arguments.output or session.cache.root / "fuzz") / "seeded" / arch.name
    results = detect.look_for_all(search, seen, output, session.progress)
    report.show_bugs(arch, make(), results, as_json=arguments.json)
    return [f"{arch.name}: {result.bug.name}" for result in results if result.missed]


def _targets(session: Session, arguments: Namespace, sides: Sides, arch: Architecture) -> Targets:
    alone, noise, swap = arguments.oracle, arguments.noise, arguments.swap
    targets = runner.prepare(session, arch, sides, alone=alone, noise=noise, swap=swap)
    kernel = targets.tried.kernel
    if arguments.faults and not kernel.enables(FAULTS):
        what, where = "this kernel cannot make allocations fail", f"{kernel.config}: no {FAULTS}"
        raise UserError(what, where, "--config configs/debug.config")
    return targets


def _programs(
    arguments: Namespace, default: int, given: Numbered, sides: Sides, arch: Architecture
) -> Programs:
    count = default if arguments.programs is None else arguments.programs
    seed = 1 if arguments.seed is None else arguments.seed
    faults, oracle = arguments.faults, arguments.oracle
    # The limit of an operation is one of the guest's clock.
    without = sides.line.endless if arch.append_fuzz else ()
    return Programs(count, seed, given, faults=faults, oracle=oracle, without=without)


def _check(arguments: Namespace) -> None:
    """UserError for options that exclude each other, or that would do nothing."""
    oracle, cost, seeks = arguments.oracle, arguments.cost, arguments.seeded is not None
    stock, noise, faults = arguments.stock, arguments.noise, arguments.faults
    generated = arguments.programs is not None or arguments.seed is not None
    replays = arguments.corpus or arguments.replay
    kernels = "--stock and --fixed choose the kernel of --oracle, and --stock side a of --cost"
    misplaced = (arguments.fixed or stock) and (seeks or not (oracle or (stock and cost)))
    failing = "costs are not compared when allocations fail: the kernels count them differently"
    example = "leave one of them out"
    for wrong, what, remedy in (
        (oracle and cost, "--oracle runs one kernel, --cost compares two", example),
        (misplaced, kernels, "quire fuzz --oracle --stock"),
        (noise and (seeks or not cost), "--noise is for --cost alone", "quire fuzz --cost --noise"),
        (faults and cost, failing, example),
        (faults and seeks, "bugs are looked for without --faults", example),
        (replays and generated, "--programs and --seed are for generated programs", example),
    ):
        if wrong:
            raise UserError(what, "", remedy)
