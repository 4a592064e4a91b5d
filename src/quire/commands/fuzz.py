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
"""

import argparse
import itertools
from pathlib import Path

from quire.arch import Architecture, requirements
from quire.fuzz import campaign, detection, report, selection
from quire.fuzz.campaign import Campaign, CampaignOptions
from quire.fuzz.coverage.guide import Guide
from quire.fuzz.detection import Search
from quire.fuzz.oracle import excuses
from quire.fuzz.oracle.excuses import Excuses
from quire.fuzz.triage import Pair
from quire.host import parallel
from quire.host.errors import Difference
from quire.session import Session
from quire.source.side import Sides, mended
from quire.test import seeded


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Which programs, how many."""
    what = part.add_mutually_exclusive_group()
    add = what.add_argument
    add("--replay", type=Path, action="append", default=[], metavar="FILE", help="run this program")
    add("--corpus", action="store_true", help="run the programs of tests/fuzz/")
    text = "look for these seeded bugs, or all (default: some), up to --programs for each"
    add("--seeded", nargs="*", metavar="BUG", help=text)
    add = part.add_argument
    text = f"how many (default {campaign.PROGRAMS}, with --seeded {detection.PROGRAMS})"
    add("--programs", type=int, metavar="N", help=text)
    add("--seed", type=int, default=1, metavar="N", help="of the first program (default 1)")
    text = "stop after so many (default %(default)s)"
    add("--findings", type=int, default=5, metavar="N", help=text)
    text = "let allocations fail (needs --config configs/debug.config)"
    add("--faults", action="store_true", help=text)
    text = "do not count coverage, nor choose programs by it"
    add("--no-coverage", action="store_true", help=text)
    add("--output", type=Path, metavar="DIR", help="findings go there (default: build/fuzz/)")
    add("--json", action="store_true", help="print JSON")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 1 when the kernels differ, or a seeded bug was missed."""
    requirements.require(session.architectures)
    sides = mended(session.cache, session.sides())
    output = arguments.output or session.cache.root / "fuzz"
    excused = excuses.applying(sides.series)
    if arguments.seeded is not None:
        return _seeded(session, arguments, sides, excused, output / "seeded")
    files = campaign.corpus(session.project.root) if arguments.corpus else arguments.replay
    given = campaign.read(files)
    limit = campaign.PROGRAMS if arguments.programs is None else arguments.programs
    options = CampaignOptions(limit, arguments.seed, arguments.findings, arguments.faults, given)
    guided = not given and not arguments.no_coverage

    def attend(arch: Architecture) -> list[str]:
        a = campaign.target(session, arch, sides.a.tree)
        b = campaign.target(session, arch, sides.b.tree)
        pair = Pair(a, b, session.jobs, excuses=excused)
        if arguments.faults:
            campaign.require_faults(pair)
        guide = Guide(session, pair, sides.series, output / arch.name) if guided else None
        one = Campaign(pair, output / arch.name, guide)
        one.run(options, session.progress)
        report.show(one, as_json=arguments.json)
        return one.problems

    problems = list(itertools.chain(*parallel.in_turn(session.architectures, attend)))
    if problems:
        raise Difference(
            f"the kernels differ on {len(problems)} programs",
            "\n".join(problems),
            "replay one: quire fuzz --replay FILE; the records are beside it",
        )
    return 0


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

    missed = list(itertools.chain(*parallel.in_turn(session.architectures, attend)))
    if missed:
        raise Difference(
            f"{len(missed)} seeded bugs were not found",
            "\n".join(missed),
            "more --programs, or a recipe in src/quire/fuzz/generate/",
        )
    return 0
