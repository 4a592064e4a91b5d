# SPDX-License-Identifier: GPL-2.0
"""Run the same programs of memory operations on stock and patched, and show what differs.

Programs come from a seed. Each runs in fresh processes; after each operation everything that user
space can see is compared. A difference that repeats is shrunk and written out, ready to replay.

  quire fuzz ARCH=arm64                          1000 programs
  quire fuzz ARCH=arm64 --programs 50000 --seed 7
  quire fuzz --replay build/fuzz/arm64/finding-17/program.fuzz ARCH=arm64
  quire fuzz --corpus                            replay tests/fuzz/
  quire fuzz --faults --config configs/debug.config   with allocations that fail
  quire fuzz --self-test ARCH=arm64              find some seeded bugs of each series
  quire fuzz --self-test all ARCH=arm64          find all of them (quire sabotage --list)
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire import lab
from quire.arch import Architecture
from quire.boot import machine
from quire.build import guest
from quire.fuzz import detection, findings, triage
from quire.fuzz.coverage.guide import Guide
from quire.fuzz.generate import generator
from quire.fuzz.language import program
from quire.fuzz.language.program import Program
from quire.fuzz.oracle import excuses
from quire.fuzz.runner import Target
from quire.fuzz.triage import Finding, Pair, Tally
from quire.host import requirements
from quire.host.errors import Difference, UserError
from quire.report.table import console
from quire.session import Session
from quire.source.tree import Tree
from quire.test import seeded

NAME = "fuzz"
# Programs a boot: enough that booting does not count, few enough that a lost guest costs little.
BATCH = 500
PROGRAMS = 1000
FAULTS = "CONFIG_FAULT_INJECTION"


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Which programs, how many."""
    what = part.add_mutually_exclusive_group()
    what.add_argument(
        "--replay", type=Path, action="append", default=[], metavar="FILE", help="run this program"
    )
    what.add_argument("--corpus", action="store_true", help="run the programs of tests/fuzz/")
    what.add_argument(
        "--self-test",
        nargs="*",
        metavar="BUG",
        help="look for these seeded bugs, or all (default: some), up to --programs for each",
    )
    part.add_argument(
        "--programs",
        type=int,
        metavar="N",
        help=f"how many (default {PROGRAMS}, with --self-test {detection.PROGRAMS})",
    )
    part.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the first program (default 1)"
    )
    part.add_argument(
        "--findings",
        type=int,
        default=5,
        metavar="N",
        help="stop after so many (default %(default)s)",
    )
    part.add_argument(
        "--faults",
        action="store_true",
        help="let allocations fail (needs --config configs/debug.config)",
    )
    part.add_argument(
        "--no-coverage",
        action="store_true",
        help="do not count what the programs reach, nor be guided by it",
    )
    part.add_argument(
        "--output", type=Path, metavar="DIR", help="findings go there (default: build/fuzz/)"
    )
    part.add_argument("--json", action="store_true", help="print JSON")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 1 when the kernels differ, or a seeded bug was missed."""
    requirements.require(session.architectures)
    prepared = lab.prepare(session)
    if arguments.programs is None:
        arguments.programs = PROGRAMS if arguments.self_test is None else detection.PROGRAMS
    if arguments.dry_run:
        arguments.programs = min(arguments.programs, BATCH)
    if arguments.self_test is not None:
        return _self_test(session, arguments, prepared)
    given = _given(session, arguments)
    problems = []
    for arch in session.architectures:
        pair = Pair(
            _target(session, arch, prepared.stock),
            _target(session, arch, prepared.patched),
            session.jobs,
            excuses=excuses.applying(prepared.series),
        )
        if arguments.faults and not pair.b.kernel.enables(FAULTS):
            raise UserError(
                "this kernel cannot make allocations fail",
                f"{pair.b.kernel.config}: no {FAULTS}",
                "--config configs/debug.config",
            )
        output = (arguments.output or session.cache.root / "fuzz") / arch.name
        guide = None
        if not given and not arguments.no_coverage and not arguments.dry_run:
            guide = Guide(session, pair, prepared.series, output)
        for finding in _fuzz(session, arguments, pair, given, guide, output):
            path = findings.folder(finding, output) / findings.PROGRAM
            problems.append(f"{arch.name}: {path}: {finding.title}")
        if guide:
            guide.report(quiet=arguments.json)
    if problems:
        raise Difference(
            f"{len(problems)} programs tell the kernels apart",
            "\n".join(problems),
            "replay one: quire fuzz --replay FILE; the records are beside it",
        )
    return 0


def _target(session: Session, arch: Architecture, tree: Tree) -> Target:
    kernel = session.kernel(arch, tree)
    program_ = guest.build(session.cache, session.project.guest, kernel, session.jobs)
    name = f"fuzz-{arch.name}-{tree.path.parent.name}"
    return Target(kernel, program_, machine.workdir(session.cache, name))


def _given(session: Session, arguments: argparse.Namespace) -> dict[int, Program]:
    """Programs from files, if there are to be any."""
    files = list(arguments.replay)
    if arguments.corpus:
        files = sorted((session.project.root / "tests/fuzz").glob("*.fuzz"))
        if not files:
            raise UserError("there is no corpus", "tests/fuzz/*.fuzz", "quire fuzz, without it")
    try:
        texts = [(path, path.read_text()) for path in files]
    except OSError as error:
        raise UserError("a program cannot be read", str(error), "name one that is there") from error
    return {number: program.parse(text, str(path)) for number, (path, text) in enumerate(texts)}


def _fuzz(
    session: Session,
    arguments: argparse.Namespace,
    pair: Pair,
    given: dict[int, Program],
    guide: Guide | None,
    output: Path,
) -> list[Finding]:
    arch = pair.a.kernel.arch
    tally = Tally()
    found: list[Finding] = []
    total = len(given) or arguments.programs
    started = time.monotonic()
    with session.progress.stage(f"{arch.name} programs", total):
        for start in range(0, total, BATCH):
            numbers = range(start, min(start + BATCH, total))
            pool = guide.pool if guide else []
            batch = {n: given[n] if given else _made(arguments, pool, n) for n in numbers}
            left = arguments.findings - len(found)
            for finding in triage.investigate(pair, tally, batch, left):
                findings.write(finding, output)
                found.append(finding)
            detail = f"{tally.suspects} suspects, {len(found)} findings"
            session.progress.at(numbers.stop, f"{detail}{guide.summary if guide else ''}")
            if len(found) >= arguments.findings:
                break
    seconds = time.monotonic() - started
    findings.write_odd(tally, output)
    if arguments.json:
        print(json.dumps(_as_json(arch, pair, tally, found, seconds), indent=1))
    else:
        _show(arch, pair, tally, found, seconds)
    return found


def _made(arguments: argparse.Namespace, pool: Sequence[Program], number: int) -> Program:
    ops = generator.following(arguments.seed + number, pool)
    return generator.with_faults(arguments.seed + number, ops) if arguments.faults else ops


def _show(
    arch: Architecture, pair: Pair, tally: Tally, found: list[Finding], seconds: float
) -> None:
    out = console()
    spent = pair.a.seconds + pair.b.seconds
    rate = tally.programs * 2 * 60 / spent if spent else 0
    a, _ = pair.labels
    text = (
        f"{arch.name}: {tally.programs} programs in {seconds:.0f} s, {rate:.0f} a minute and boot; "
        f"{tally.suspects} differed, {len(tally.unstable)} of them not twice the same on {a}, "
        f"{len(tally.troubled)} in trouble on {a}; "
    )
    out.print(Text.assemble(text, (f"{len(found)} findings", "bold")))
    for name, count in tally.excused.most_common():
        out.print(f"  excused in {count} programs: {name} ({pair.excuses.reasons[name]})")
    for finding in found:
        out.print(Text.assemble((f"finding {finding.number}", "red"), f" {finding.title}"))
        out.print("\n".join(f"  {op.text()}" for op in finding.program))


def _as_json(
    arch: Architecture, pair: Pair, tally: Tally, found: list[Finding], seconds: float
) -> dict[str, Any]:
    return {
        "architecture": arch.name,
        "programs": tally.programs,
        "seconds": seconds,
        "boots": pair.a.boots + pair.b.boots,
        "suspects": tally.suspects,
        "unstable": len(tally.unstable),
        "troubled": len(tally.troubled),
        "excused": dict(tally.excused),
        "findings": [
            {
                "number": finding.number,
                "program": [op.text() for op in finding.program],
                "differences": finding.differences,
            }
            for finding in found
        ],
    }


def _self_test(session: Session, arguments: argparse.Namespace, prepared: lab.Prepared) -> int:
    where = seeded.folder(session.project.sabotage, prepared)
    known = seeded.read(where / "bugs")
    bugs = detection.choose(known, arguments.self_test)
    tree = seeded.sabotaged(session.cache, prepared, where)
    missed = []
    for arch in session.architectures:
        chosen = [bug for bug in bugs if bug.seen_on(arch.name, session.configs)]
        course = detection.Course(
            session.cache,
            _target(session, arch, prepared.stock),
            _target(session, arch, prepared.patched),
            arguments.seed,
            arguments.programs,
            session.jobs,
            excuses.applying(prepared.series),
        )
        sick = _target(session, arch, tree)
        output = (arguments.output or session.cache.root / "fuzz") / "self-test" / arch.name
        results = []
        with session.progress.stage(f"{arch.name} seeded bugs", len(chosen)):
            for number, bug in enumerate(chosen, 1):
                results.append(detection.hunt_bug(course, sick, bug))
                session.progress.at(number, bug.name)
                _keep(session, results[-1], output)
        _show_self_test(arch, results, as_json=arguments.json)
        missed += [f"{arch.name}: {r.bug.name}" for r in results if r.missed]
    if missed:
        raise Difference(
            f"{len(missed)} seeded bugs were not found",
            "\n".join(missed),
            "more --programs, or a recipe in src/quire/fuzz/recipes.py",
        )
    return 0


def _keep(session: Session, result: detection.Result, output: Path) -> None:
    """Each bug is told, and its finding written, at once: a whole run takes hours."""
    session.progress.say(f"{result.bug.name}: {_found(result)}")
    if result.finding:
        findings.write(result.finding, output / result.bug.name)


def _found(result: detection.Result) -> str:
    if result.reason:
        return f"not looked for: {result.reason}"
    if not result.finding:
        return f"missed in {result.programs} programs"
    return f"{result.programs} programs, {len(result.finding.program)} operations"


def _show_self_test(arch: Architecture, results: list[detection.Result], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "bug": result.bug.name,
                "programs": result.programs,
                "operations": len(result.finding.program) if result.finding else None,
                "difference": result.finding.title if result.finding else None,
                "reason": result.reason,
            }
            for result in results
        ]
        print(json.dumps({"architecture": arch.name, "bugs": rows}, indent=1))
        return
    table = Table(title=f"{arch.name} · seeded bugs", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("bug", no_wrap=True)
    table.add_column("programs", justify="right")
    table.add_column("operations", justify="right")
    table.add_column("the first difference, or why it is not looked for")
    for result in results:
        size = str(len(result.finding.program)) if result.finding else "missed"
        title = result.finding.title if result.finding else ""
        if result.reason:
            table.add_row(result.bug.name, "–", "–", result.reason)
        else:
            table.add_row(result.bug.name, str(result.programs), size, title[:90])
    console().print(table)
