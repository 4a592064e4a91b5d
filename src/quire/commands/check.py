# SPDX-License-Identifier: GPL-2.0
"""Check the series: style, fuzz, builds after every patch, all bases.

checkpatch --strict comes from the base. Each patch is applied on top of the preceding ones. Each
topic is also applied alone with what it needs, and the rest of the series without it. After each
patch, the objects that it touches are built for every architecture; the complete kernels follow at
the end.

  quire check                on the current base
  quire check --quick        without builds; --builds: only builds
  quire check --all-bases    also on every version of the line that Debian offers
  quire check --debian-config   also compare our configurations with Debian's
  quire check --architectures              only compile what the patches touch, for other
                                           architectures and configurations
  quire check --architectures arm s390x    for some of configs/architectures/table.toml
  quire check --topics       only try each topic alone with what it needs: it must apply, build, and
                             pass every test that stock passes. Topics that passed and have not
                             changed (lines/NAME/topics.toml) are skipped, unless --only names them
  quire check --topics --size 64 --budget 50     cases of this folio size, for about 50 minutes
  quire check --topics --changed                 only topics that passed before they changed
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from quire.arch import requirements
from quire.check import compile as compiling
from quire.check import configuration, distribution, remote, series_check, topics
from quire.check.series_check import Check
from quire.check.topics import Extent
from quire.commands import options
from quire.host import console
from quire.host.errors import Difference, UserError
from quire.report import table
from quire.session import Session
from quire.source import base
from quire.source.side import Sides
from quire.suites.suite import SIZES


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the options that select the checks."""
    options.kernel(part)
    part.set_defaults(words=("ARCH", "CROSS_COMPILE"))
    options.emulated(part, "checks architectures that distributions ship")
    options.cluster(part)
    extent = part.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="build nothing")
    extent.add_argument("--builds", action="store_true", help="only build")
    text = "only compile each topic for other architectures and configurations"
    extent.add_argument("--architectures", nargs="*", metavar="NAME", help=text)
    text = "only try each topic alone with what it needs: it must pass all tests that stock passes"
    extent.add_argument("--topics", action="store_true", help=text)
    text = "with --topics: only cases of this folio size in KiB, and cases without a size"
    part.add_argument("--size", type=int, action="append", choices=SIZES, default=[], help=text)
    text = "with --topics: start no new topic after this many minutes (default: no limit)"
    inf = float("inf")
    part.add_argument("--budget", type=float, default=inf, metavar="MINUTES", help=text)
    text = "with --topics: only topics that passed before they changed"
    part.add_argument("--changed", action="store_true", help=text)
    text = "apply to every version in Debian's suites (each is downloaded once)"
    part.add_argument("--all-bases", action="store_true", help=text)
    text = "compare the configurations with Debian's linux-config (downloaded once)"
    part.add_argument("--debian-config", action="store_true", help=text)
    options.as_json(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Run the checks. Difference if one fails."""
    if arguments.architectures is not None:
        names = "all_bases debian_config config ARCH CROSS_COMPILE"
        options.refuse(arguments, names, "with --architectures, which replaces the other checks")
        _elsewhere(session, arguments)
        return
    if arguments.topics:
        names = "all_bases debian_config config"
        options.refuse(arguments, names, "with --topics, which replaces the other checks")
    else:
        options.refuse(arguments, "size budget changed", "without --topics")
    if arguments.quick:
        names = "cluster" if arguments.debian_config else "cluster config"
        options.refuse(arguments, names, "with --quick, which builds nothing")
    results = []
    checks = _alone if arguments.topics else _results
    for result in checks(session, arguments):
        results.append(result)
        if not arguments.json:
            word, style = ("fail", "red") if result.trouble else ("ok  ", "green")
            trouble = "".join(f"\n     {line}" for line in result.trouble.splitlines())
            console.show(word, style, f"{result.check}: {result.subject}{trouble}")
    if arguments.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
    troubled = [f"{result.check}: {result.subject}" for result in results if result.trouble]
    if troubled:
        raise Difference(
            f"{len(troubled)} of {len(results)} checks of the series failed",
            "\n".join(troubled),
            "fix the patches: quire tree, quire export"
            + ("; the configuration: lines/" if arguments.debian_config else ""),
        )


def _results(session: Session, arguments: argparse.Namespace) -> Iterator[Check]:
    sides = session.sides()
    series = sides.series
    ours = sides.ours and bool(series.patches)
    if arguments.all_bases and not ours:
        raise UserError(
            "--all-bases checks only a series of the project",
            sides.title,
            "leave out --all-bases, or name a --base that has a series",
        )
    if not arguments.builds:
        with session.progress.stage("style and application"):
            if ours:
                yield from series_check.listed(series)
            yield from series_check.style(sides.base.path, session.project.root, series.patches)
            yield from series_check.applies(sides.base.path, series)
            # They come after the whole series.
            if ours and not series.chosen:
                yield from series_check.lab_patches(sides.base.path, sides.line, series)
    if arguments.debian_config:
        for arch in session.architectures:
            with session.progress.stage(f"{arch.name} configuration"):
                request = session.request(arch, sides.a.tree)
                yield from distribution.check(session.cache, sides.line, sides.base, request)
    if not arguments.quick:
        requirements.require(session.architectures)
        yield from remote.steps(session, sides) if arguments.cluster else _steps(session, sides)
    if arguments.all_bases:
        offers = base.all_offers(session.cache, sides.line)
        with session.progress.stage("all of Debian's bases", len(offers)):
            for done, offer in enumerate(offers):
                session.progress.at(done, offer.version)
                yield series_check.on_base(session.cache, series.file.parent, offer)


def _alone(session: Session, arguments: argparse.Namespace) -> Iterator[Check]:
    """Check each topic of our own series by itself."""
    requirements.require(session.architectures)
    sides = session.sides()
    if not sides.ours or sides.same:
        what = "--topics checks only topics of the project"
        raise UserError(what, sides.title, "name a --base that has a series")
    extent = Extent(tuple(arguments.size), arguments.budget, arguments.changed)
    yield from topics.check(session, sides, extent)


def _steps(session: Session, sides: Sides) -> Iterator[Check]:
    """Build after every patch, then the complete kernels."""
    for arch in session.architectures:
        session.kernel(arch, sides.a.tree)
    requests = [session.request(arch, sides.a.tree) for arch in session.architectures]
    with session.progress.stage("build after each patch"):
        yield from series_check.builds(session.cache, requests, sides.series)
    for arch in session.architectures:
        session.kernel(arch, sides.b.tree)
        yield Check(f"builds ({arch.name})", "complete kernel")


def _elsewhere(session: Session, arguments: argparse.Namespace) -> None:
    folder, names = session.project.configs / "architectures", arguments.architectures
    # Compilers first: they do not depend on the line, and fetching sources may take long.
    requirements.bring(compiling.needs(configuration.choose(configuration.read(folder), names)))
    sides = session.sides()
    base = sides.base
    ours = session.line(base).architectures
    chosen = configuration.choose(configuration.read(folder, ours), names)
    if arguments.cluster:
        compilations = remote.configurations(session, sides, chosen)
    else:
        compilations = compiling.check(session, base, sides.series, chosen)
    if arguments.json:
        print(json.dumps([asdict(compilation) for compilation in compilations], indent=1))
    else:
        table.show_compilations(compilations, f"Linux {base.version}, {base.origin}")
    failed = [compilation for compilation in compilations if compilation.state == compiling.FAILED]
    if failed:
        raise Difference(
            f"the series does not compile everywhere: {len(failed)} of {len(compilations)} failed",
            "\n".join(
                f"{compilation.configuration}: {compilation.topic}" for compilation in failed
            ),
            "fix the patches: quire tree, quire export",
        )
