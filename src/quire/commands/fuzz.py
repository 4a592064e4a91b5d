# SPDX-License-Identifier: GPL-2.0
"""Run generated programs of memory operations, and judge what user space can see.

The programs are generated from a seed. Each runs in new processes, and everything that user space
can see is recorded after each operation. A reproducible bug is minimised and written to a file,
ready to replay.

  quire fuzz compare ARCH=arm64               run 1000 programs on both kernels, show differences
  quire fuzz oracle ARCH=arm64                check one kernel against documented behaviour
  quire fuzz cost ARCH=arm64                  compare both kernels, including costs
  quire fuzz seeded ARCH=arm64                look for a sample of each topic's seeded bugs
  quire fuzz replay build/fuzz/arm64/finding-17/program.fuzz ARCH=arm64
  quire fuzz replay --corpus                  the programs of tests/fuzz/
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from quire.arch import Architecture, requirements
from quire.commands import Mode, options
from quire.fuzz import detect, programs, runner, show
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
from quire.host.errors import Difference, UserError
from quire.session import Session
from quire.source.side import Sides, fixed
from quire.suites import seeded

ABOUT_COMPARE = """Compare what user space sees on two kernels.

  quire fuzz compare ARCH=arm64 --programs 50000 --seed 7
  quire fuzz compare --faults --config configs/debug.config   with failing allocations
"""
ABOUT_ORACLE = """Check one kernel, side B, against what user space was promised.

  quire fuzz oracle --stock ARCH=arm64        the base, without the series
"""
ABOUT_COST = """Compare the cost of each operation on two kernels, and what user space sees.

  quire fuzz cost --noise ARCH=arm64          side A against itself: each finding is a false alarm
"""
ABOUT_SEEDED = """Look for seeded bugs, and count the programs until each is found.

  quire fuzz seeded ARCH=arm64                a sample of each topic
  quire fuzz seeded all --oracle ARCH=arm64   all (quire seeded --list), without a second kernel
"""
ABOUT_REPLAY = """Run programs from files.

  quire fuzz replay FILE --oracle --stock ARCH=arm64
  quire fuzz replay --corpus                  the programs of tests/fuzz/
"""

FAULTS = "CONFIG_FAULT_INJECTION"
# The judges.
DIFFERENCE, ORACLE, COST = "difference", "oracle", "cost"
# Generated programs: in a hunt, and before a seeded bug counts as missed.
PROGRAMS, FOR_A_BUG, FOR_A_PROMISE, FOR_A_COST = 1000, 2000, 1000, 500


def _add(part: ArgumentParser, judge: str, sharded: str = "programs") -> None:
    """Add the options of all modes, and defaults for those that some modes lack."""
    options.kernel(part)
    options.cluster(part)
    options.shard(part, sharded)
    add = part.add_argument
    options.as_json(part)
    text = "stop after this many findings (default %(default)s); 0: list differences and never stop"
    add("--findings", type=int, default=5, metavar="N", help=text)
    text = "swap device: compressed memory (default), a plain block device, none"
    add("--swap", choices=runner.SWAPS, default=runner.ZRAM, help=text)
    add("--output", type=Path, metavar="DIR", help="where findings go (default: build/fuzz/)")
    part.set_defaults(judge=judge, bug=None, file=[], corpus=False, programs=None, seed=None)
    part.set_defaults(stock=False, fixed=False, noise=False, faults=False, no_coverage=True)


def _add_generated(part: ArgumentParser, default: int = PROGRAMS) -> None:
    add = part.add_argument
    add("--programs", type=int, metavar="N", help=f"number of programs (default {default})")
    add("--seed", type=int, metavar="N", help="seed of the first program (default 1)")


def _add_faults(part: ArgumentParser) -> None:
    text = "let allocations fail (needs --config configs/debug.config)"
    part.add_argument("--faults", action="store_true", help=text)


def _add_judges(part: ArgumentParser) -> None:
    add = part.add_mutually_exclusive_group().add_argument
    for judge, does in ((ORACLE, "judge one kernel"), (COST, "compare costs")):
        text = f"{does}, as quire fuzz {judge} does"
        add(f"--{judge}", dest="judge", action="store_const", const=judge, help=text)


def _add_base(part: ArgumentParser, stock: str) -> None:
    add = part.add_mutually_exclusive_group().add_argument
    add("--stock", action="store_true", help=stock)
    text = "judge the base with only the topics that fix it"
    add("--fixed", action="store_true", help=text)


def _add_compare(part: ArgumentParser) -> None:
    _add(part, DIFFERENCE)
    _add_generated(part)
    _add_faults(part)
    text = "neither measure coverage nor guide generation by it"
    part.add_argument("--no-coverage", action="store_true", default=False, help=text)


def _add_oracle(part: ArgumentParser) -> None:
    _add(part, ORACLE)
    _add_generated(part)
    _add_faults(part)
    _add_base(part, "judge the base, without the series")


def _add_cost(part: ArgumentParser) -> None:
    _add(part, COST)
    _add_generated(part)
    text = "make side A the base without the fixes, and compare only costs"
    part.add_argument("--stock", action="store_true", help=text)
    part.add_argument("--noise", action="store_true", help="compare side A with itself")


def _add_seeded(part: ArgumentParser) -> None:
    _add(part, DIFFERENCE, "bugs")
    _add_generated(part, FOR_A_BUG)
    _add_judges(part)
    text = "names of bugs, or all (default: a sample); up to --programs for each"
    part.add_argument("bug", nargs="*", metavar="BUG", help=text)


def _add_replay(part: ArgumentParser) -> None:
    _add(part, DIFFERENCE)
    _add_faults(part)
    _add_judges(part)
    _add_base(part, "with --oracle: judge the base; with --cost: side A, only costs are compared")
    add = part.add_argument
    add("file", nargs="*", type=Path, metavar="FILE", help="a program")
    add("--corpus", action="store_true", help="run the programs of tests/fuzz/")


def _run(session: Session, arguments: Namespace) -> int:
    """Run the mode. Difference if a program exposes a bug, or a seeded bug was missed."""
    oracle, cost = arguments.judge == ORACLE, arguments.judge == COST
    seeks = arguments.bug is not None
    if cost:
        options.refuse_programs(session.architectures, "counts instructions in QEMU")
    if names := [arch.name for arch in session.architectures if not arch.fuzzed]:
        raise options.other_architecture(f"the fuzzer does not run on {', '.join(names)}")
    requirements.require(session.architectures)
    sides = session.sides()
    if arguments.fixed or not (oracle or arguments.stock):
        sides = fixed(session.cache, sides)
    if oracle and (arguments.stock or arguments.fixed):
        sides = replace(sides, b=sides.a)
    work = partial(_bugs if seeks else _hunt, session, arguments, sides)
    problems = [line for arch in session.architectures for line in work(arch)]
    if problems:
        judge = PromiseJudge if oracle else CostJudge if cost else DifferenceJudge
        what, remedy = judge.missing if seeks else judge.failing
        text = what.format(len(problems), sides.b.tree.label)
        raise Difference(text, "\n".join(problems), remedy)
    return 0


def _replay(session: Session, arguments: Namespace) -> int:
    """Like _run(). UserError for mutually exclusive options."""
    stock, judge, named = arguments.stock, arguments.judge, bool(arguments.file)
    failing = "costs cannot be compared when allocations fail: the kernels count them differently"
    for wrong, what, remedy in (
        (named == arguments.corpus, "name programs, or use --corpus", "quire fuzz replay FILE"),
        (arguments.fixed and judge != ORACLE, "--fixed requires --oracle", "add --oracle"),
        (stock and judge == DIFFERENCE, "--stock requires --oracle or --cost", "add one of them"),
        (arguments.faults and judge == COST, failing, "omit one of them"),
    ):
        if wrong:
            raise UserError(what, "", remedy)
    return _run(session, arguments)


def _hunt(session: Session, arguments: Namespace, sides: Sides, arch: Architecture) -> list[str]:
    """Hunt on one architecture; return a line per finding."""
    files = programs.corpus(session.project.root) if arguments.corpus else arguments.file
    given, known = programs.read(arguments.shard.some(files) if files else [])
    excused = excuses.applying(series := None if arguments.noise else sides.series)
    oracle = arguments.judge == ORACLE
    targets = _targets(session, arguments, sides, arch)
    output = (arguments.output or session.cache.root / "fuzz") / arch.name
    guide, judges = None, list[Judge[Any]]()
    if oracle:
        # A replayed program shows everything that it breaks.
        judges.append(PromiseJudge.of(targets, known if arguments.corpus else {}))
    elif not arguments.stock:
        # The base must differ in what the series fixes.
        judges.append(DifferenceJudge(excused))
    if arguments.judge == COST:
        functions = watch.functions(targets.tried.kernel)
        meant = allowed.applying(series, sides.a.tree.series, functions)
        judges.append(CostJudge(watch.prepare(session, targets), meant))
    elif arch.qemu and not (oracle or given or arguments.no_coverage):
        guide = Guide(session, targets, sides.series, output)
    chosen = _programs(arguments, PROGRAMS, given, sides, arch)
    if not given:
        numbers = arguments.shard.range(chosen.count)
        chosen = replace(chosen, count=len(numbers), seed=chosen.seed + numbers.start)
    hunt = Hunt(targets, judges, output, guide)
    hunt.run(chosen, arguments.findings, session.progress)
    show.show(hunt, as_json=arguments.json)
    if isinstance(judges[-1], CostJudge) and arguments.file:
        show.show_costs(targets, judges[-1], given)
    return hunt.problems


def _bugs(session: Session, arguments: Namespace, sides: Sides, arch: Architecture) -> list[str]:
    """Look for seeded bugs on one architecture; return the names of missed bugs."""
    oracle, cost = arguments.judge == ORACLE, arguments.judge == COST
    where = seeded.costs_folder(sides) if cost else seeded.folder(sides)
    bugs = arguments.shard.some(detect.choose(seeded.read(where), arguments.bug))
    b = replace(sides.b, tree=seeded.tree_with_bugs(session.cache, sides, where))
    # Costs are compared with the same kernel without the seeded regression.
    sides = replace(sides, a=b if cost else sides.a, b=b)
    excused = excuses.applying(sides.series)
    targets = _targets(session, arguments, sides, arch)
    make: Callable[[], Judge[Any]] = partial(DifferenceJudge, excused)
    given: Numbered = {}
    limit, simplest = FOR_A_BUG, oracle or cost
    if oracle:
        make, limit = partial(PromiseJudge.of, targets), FOR_A_PROMISE
        given, _ = programs.read(programs.corpus(session.project.root))
    elif cost:
        make, limit = partial(CostJudge, watch.prepare(session, targets)), FOR_A_COST
    chosen = _programs(arguments, limit, given, sides, arch)
    shrinks = not oracle or arguments.findings > 0
    search = Search(make, targets, chosen, session.cache, pages=simplest, shrinks=shrinks)
    seen = [bug for bug in bugs if bug.shown_by(targets.tried.kernel, session.configs)]
    output = (arguments.output or session.cache.root / "fuzz") / "seeded" / arch.name
    results = detect.look_for_all(search, seen, output, session.progress)
    show.show_bugs(arch, make(), results, as_json=arguments.json)
    return [f"{arch.name}: {result.bug.name}" for result in results if result.missed]


def _targets(session: Session, arguments: Namespace, sides: Sides, arch: Architecture) -> Targets:
    alone, noise, swap = arguments.judge == ORACLE, arguments.noise, arguments.swap
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
    faults, oracle = arguments.faults, arguments.judge == ORACLE
    # An operation's time limit is on the guest's clock.
    without = sides.line.endless if arch.append_fuzz else ()
    return Programs(count, seed, given, faults=faults, oracle=oracle, without=without)


MODES = (
    Mode("compare", ABOUT_COMPARE, _add_compare, _run),
    Mode("oracle", ABOUT_ORACLE, _add_oracle, _run),
    Mode("cost", ABOUT_COST, _add_cost, _run),
    Mode("seeded", ABOUT_SEEDED, _add_seeded, _run),
    Mode("replay", ABOUT_REPLAY, _add_replay, _replay),
)
