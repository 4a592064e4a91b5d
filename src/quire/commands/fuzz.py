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
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from quire.arch import Architecture, requirements
from quire.boot import machine
from quire.cluster import option
from quire.fuzz import campaign, detection, report, runner, selection
from quire.fuzz.campaign import Campaign, CampaignOptions
from quire.fuzz.cost import allowed, meter, watch
from quire.fuzz.cost import detection as costs_detection
from quire.fuzz.cost import report as costs
from quire.fuzz.cost.detection import Search as CostSearch
from quire.fuzz.cost.hunt import Hunt
from quire.fuzz.coverage.guide import Guide
from quire.fuzz.detection import Search
from quire.fuzz.difference import excuses
from quire.fuzz.difference.excuses import Excuses
from quire.fuzz.promise import detection as promise_detection
from quire.fuzz.promise import report as promises
from quire.fuzz.promise.detection import Search as PromiseSearch
from quire.fuzz.promise.hunt import Hunt as PromiseHunt
from quire.fuzz.triage import Pair
from quire.host import parallel
from quire.host.errors import Difference, UserError
from quire.session import Session
from quire.source.side import Sides, fixed
from quire.test import seeded


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Which programs, how many."""
    option.add(part)
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
    text = f"how many (default {campaign.PROGRAMS}, with --seeded {detection.PROGRAMS})"
    add("--programs", type=int, metavar="N", help=text)
    add("--seed", type=int, default=1, metavar="N", help="of the first program (default 1)")
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
    text = "with --oracle: the base, without the series"
    which.add_argument("--stock", action="store_true", help=text)
    text = "with --oracle: the base with the topics that fix it"
    which.add_argument("--fixed", action="store_true", help=text)


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 1 when the kernels differ, or a seeded bug was missed."""
    with option.using(session, arguments):
        return _run(session, arguments)


def _run(session: Session, arguments: argparse.Namespace) -> int:
    _check(arguments)
    requirements.require(session.architectures)
    output = arguments.output or session.cache.root / "fuzz"
    if arguments.oracle:
        return _oracle(session, arguments, output)
    sides = fixed(session.cache, session.sides())
    excused = excuses.applying(sides.series)
    if arguments.seeded is not None and arguments.cost:
        return _seeded_costs(session, arguments, sides, output / "seeded")
    if arguments.seeded is not None:
        return _seeded(session, arguments, sides, excused, output / "seeded")
    options = _options(session, arguments)
    given = options.given
    guided = not given and not arguments.no_coverage and not arguments.cost

    def attend(arch: Architecture) -> list[str]:
        pair = _pair(session, arch, sides, excused, arguments)
        if arguments.faults:
            campaign.require_faults(pair)
        guide = Guide(session, pair, sides.series, output / arch.name) if guided else None
        hunt = None
        if arguments.cost:
            meant = [] if arguments.noise else allowed.applying(sides.series)
            allowed.require(meant, watch.functions(pair.b.kernel))
            hunt = Hunt(meter.of(session, pair), meant)
        one = Campaign(pair, output / arch.name, guide, hunt)
        one.run(options, session.progress)
        report.show(one, as_json=arguments.json)
        if hunt and arguments.replay:
            costs.show_programs(hunt, given)
        return one.problems

    problems = list(itertools.chain(*parallel.in_turn(session.architectures, attend)))
    if problems:
        raise Difference(
            f"the kernels differ on {len(problems)} programs",
            "\n".join(problems),
            "replay one: quire fuzz --replay FILE; the records are beside it",
        )
    return 0


def _options(session: Session, arguments: argparse.Namespace) -> CampaignOptions:
    files = campaign.corpus(session.project.root) if arguments.corpus else arguments.replay
    limit = campaign.PROGRAMS if arguments.programs is None else arguments.programs
    given, known = campaign.read(files)
    # A program to replay shows what it breaks.
    known = known if arguments.corpus else {}
    return CampaignOptions(
        limit,
        arguments.seed,
        arguments.findings,
        arguments.faults,
        given,
        known=known,
    )


def _check(arguments: argparse.Namespace) -> None:
    """UserError for options that exclude each other."""
    if arguments.oracle and arguments.cost:
        raise UserError("--oracle runs one kernel, --cost compares two", "", "give only one")
    if (arguments.stock or arguments.fixed) and not arguments.oracle:
        raise UserError(
            "--stock and --fixed choose the kernel of --oracle", "", "quire fuzz --oracle --stock"
        )
    if arguments.noise and (not arguments.cost or arguments.seeded is not None):
        raise UserError("--noise is for --cost alone", "", "quire fuzz --cost --noise")
    if arguments.cost and arguments.faults:
        raise UserError(
            "costs are not compared when allocations fail",
            "the two kernels count their allocations differently",
            "leave out --cost or --faults",
        )


def _oracle(session: Session, arguments: argparse.Namespace, output: Path) -> int:
    sides = session.sides()
    if arguments.seeded is not None:
        return _seeded_promises(session, arguments, sides, output / "seeded")
    tree = sides.a.tree if arguments.stock else sides.b.tree
    if arguments.fixed:
        tree = fixed(session.cache, sides).a.tree
    options = _options(session, arguments)

    def attend(arch: Architecture) -> list[str]:
        target = campaign.target(session, arch, tree, "oracle", arguments.swap)
        hunt = PromiseHunt(target, output / arch.name)
        hunt.run(options, session.progress)
        promises.show(hunt, as_json=arguments.json)
        return hunt.problems

    problems = list(itertools.chain(*parallel.in_turn(session.architectures, attend)))
    if problems:
        raise Difference(
            f"{tree.label} breaks a promise in {len(problems)} ways",
            "\n".join(problems),
            "replay one: quire fuzz --oracle --replay FILE; `promises` beside it has the sources",
        )
    return 0


def _pair(
    session: Session,
    arch: Architecture,
    sides: Sides,
    excused: Excuses,
    arguments: argparse.Namespace,
) -> Pair:
    """Both sides; for the noise, side a twice, and the second in another order."""
    a = campaign.target(session, arch, sides.a.tree, swap=arguments.swap)
    if not arguments.noise:
        b = campaign.target(session, arch, sides.b.tree, swap=arguments.swap)
        return Pair(a, b, session.jobs, excuses=excused)
    again = replace(a, directory=machine.workdir(session.cache, f"fuzz-{arch.name}-noise"))
    return Pair(a, replace(again, backwards=True), session.jobs)


def _seeded(
    session: Session,
    arguments: argparse.Namespace,
    sides: Sides,
    excused: Excuses,
    output: Path,
) -> int:
    where = seeded.folder(sides)
    chosen = selection.read(where)
    bugs = chosen.bugs(seeded.read(where / "bugs"), arguments.seeded)
    trees = sides.a.tree, sides.b.tree, seeded.tree_with_bugs(session.cache, sides, where)
    limit = detection.PROGRAMS if arguments.programs is None else arguments.programs

    def attend(arch: Architecture) -> list[str]:
        a, control, b = (campaign.target(session, arch, tree) for tree in trees)
        search = Search(session.cache, a, control, arguments.seed, limit, session.jobs, excused)
        seen = [bug for bug in bugs if bug.seen_on(arch.name, session.configs)]
        out = output / arch.name
        results = detection.look_for_all(search, b, seen, chosen.left_out, out, session.progress)
        report.show_bugs(arch, results, as_json=arguments.json)
        return [f"{arch.name}: {result.bug.name}" for result in results if result.missed]

    return _none_missed(
        session,
        attend,
        "seeded bugs were not found",
        "more --programs, or a recipe in src/quire/fuzz/generate/",
    )


def _seeded_promises(
    session: Session, arguments: argparse.Namespace, sides: Sides, output: Path
) -> int:
    where = seeded.folder(sides)
    chosen = selection.read(where)
    bugs = chosen.bugs(seeded.read(where / "bugs"), arguments.seeded)
    tree = seeded.tree_with_bugs(session.cache, sides, where)
    limit = promise_detection.PROGRAMS if arguments.programs is None else arguments.programs
    given, _ = campaign.read(campaign.corpus(session.project.root))

    def attend(arch: Architecture) -> list[str]:
        target = campaign.target(session, arch, tree, "oracle")
        seen = [bug for bug in bugs if bug.seen_on(arch.name, session.configs)]
        out, shrinks = output / arch.name, arguments.findings > 0
        search = PromiseSearch(target, out, arguments.seed, limit, chosen.left_out, given, shrinks)
        results = promise_detection.look_for_all(search, seen, session.progress)
        promises.show_bugs(arch, results, as_json=arguments.json)
        return [f"{arch.name}: {result.bug.name}" for result in results if result.missed]

    return _none_missed(
        session,
        attend,
        "seeded bugs break no promise that the oracle knows",
        "more --programs, or without --oracle: the comparison sees more",
    )


def _seeded_costs(
    session: Session, arguments: argparse.Namespace, sides: Sides, output: Path
) -> int:
    where = seeded.costs_folder(sides)
    bugs = seeded.select(seeded.read_costs(where), arguments.seeded)
    tree = seeded.tree_with_bugs(session.cache, sides, where)
    limit = costs_detection.PROGRAMS if arguments.programs is None else arguments.programs

    def attend(arch: Architecture) -> list[str]:
        a = campaign.target(session, arch, tree)
        again = machine.workdir(session.cache, f"fuzz-{arch.name}-seeded-cost")
        pair = Pair(a, replace(a, directory=again), session.jobs)
        search = CostSearch(meter.of(session, pair), arguments.seed, limit)
        seen = [bug for bug in bugs if bug.seen_on(arch.name, session.configs)]
        results = costs_detection.look_for_all(search, seen, output / arch.name, session.progress)
        costs.show_regressions(arch, results, as_json=arguments.json)
        return [f"{arch.name}: {result.bug.name}" for result in results if result.missed]

    return _none_missed(
        session,
        attend,
        "seeded regressions were not found",
        "more --programs, or a recipe in src/quire/fuzz/generate/",
    )


def _none_missed(
    session: Session, attend: Callable[[Architecture], list[str]], what: str, remedy: str
) -> int:
    """Search on each architecture. Difference names the bugs that were missed."""
    missed = list(itertools.chain(*parallel.in_turn(session.architectures, attend)))
    if missed:
        raise Difference(f"{len(missed)} {what}", "\n".join(missed), remedy)
    return 0
