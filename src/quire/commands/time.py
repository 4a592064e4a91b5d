# SPDX-License-Identifier: GPL-2.0
"""Time the benchmarks on a real CPU: here, on another machine, or both kernels under KVM.

Instruction counts are not times. The unchanged benchmarks of `quire bench` form one static program.
Each run is a separate process on one CPU, after a warm-up; runs repeat until the confidence
interval of the median is narrow enough. No times are reported under emulation.

  quire time run --bundle DIR ARCH=arm64     write the program, to copy to a machine (DIR/README)
  quire time run 'mremap*' --output a.json   on this machine and its running kernel
  quire time run --kvm --output DIR          boot both kernels in turn; DIR/stock.json, …
  quire time run ARCH=um --output DIR        the same as processes of this host (docs/dev/um.md)
  quire time leaf                            only inner loops of both sides, on this CPU
  quire time compare a.json b.json           what is faster, what is slower
"""

import argparse
import json
import platform
from collections.abc import Sequence
from pathlib import Path

from quire import lab
from quire.arch import Architecture, requirements
from quire.commands import Mode, options
from quire.host import process
from quire.host.errors import Difference, UserError
from quire.kernels import kernel
from quire.report import timing as report
from quire.session import Session
from quire.timing import boots, compare, document, leaf
from quire.timing.boots import BootPlan
from quire.timing.document import Timing

RUN = """Run the program on this machine, or in virtual machines of both kernels.

  quire time run 'mremap*' --output a.json   on this machine and its running kernel
  quire time run --emulate 'mremap-size=64' ARCH=arm64   only exercise the code paths, in QEMU
"""
COMPARE = """Compare two timings: faster, slower or not significant, with the interval.

A ratio above 1 means that B is faster. The interval makes no assumption about the distribution: the
medians' intervals come from order statistics, and both hold jointly with 95 % confidence. Files
that are not comparable (another machine, other benchmarks, an emulator's clock) are refused.
"""
LEAF = """Time inner loops of both sides in isolation, without a kernel.

The loops in src/quire/timing/leaves/ are compiled from both trees and run on this CPU.
"""

# For --emulate: enough runs to execute all of the code.
FEW = ("--runs=2", "--least=2", "--warm=1")


def _add_run(part: argparse.ArgumentParser) -> None:
    options.kernel(part)
    add = part.add_argument
    text = "name or pattern, such as mremap-size=64 or '*size=64*' (default: all)"
    add("row", nargs="*", metavar="benchmark", help=text)
    where = part.add_mutually_exclusive_group()
    text = "write the program to this directory"
    where.add_argument("--bundle", type=Path, metavar="DIR", help=text)
    where.add_argument("--kvm", action="store_true", help="boot both kernels under KVM")
    text = "boot both kernels in QEMU; exercises the code paths without times"
    where.add_argument("--emulate", action="store_true", help=text)
    where.add_argument("--list", action="store_true", help="list the benchmarks")
    _add_boots(part)
    text = "maximum runs per benchmark"
    add("--runs", type=options.positive, default=100, metavar="N", help=text)
    text = "half-width of the median's interval, relative to the median (default %(default)s)"
    add("--precision", type=options.positive, default=10, metavar="PER-MILLE", help=text)


def _add_boots(part: argparse.ArgumentParser) -> None:
    text = "boots of each kernel (default %(default)s; with fewer, single runs are compared)"
    add = part.add_argument
    add("--boots", type=options.positive, default=boots.BOOTS, metavar="N", help=text)
    text = "where the JSON goes; a folder for two kernels"
    add("--output", type=Path, metavar="PATH", help=text)


def _add_compare(part: argparse.ArgumentParser) -> None:
    part.add_argument("timings", nargs=2, type=Path, metavar="JSON", help="results of A, then of B")
    options.as_json(part, "print JSON (docs/ci.md)")


def _add_leaf(part: argparse.ArgumentParser) -> None:
    options.kernel(part)
    part.set_defaults(words=("LLVM",))
    _add_boots(part)


def _run(session: Session, arguments: argparse.Namespace) -> int:
    """Build the program and run it as requested. Difference if a benchmark fails."""
    benchmarks = lab.workloads(session).benchmarks()
    if arguments.list:
        options.allow(arguments, "list", "with --list")
        print("\n".join(benchmark.name for benchmark in benchmarks))
        return 0

    def build(arch: Architecture) -> Path:
        tools = kernel.toolchain(arch, session.cross_compile)
        with session.progress.stage(f"{arch.name} program"):
            return boots.build_program(
                session.cache, session.project.guest, arch, tools, benchmarks
            )

    words = (f"--runs={arguments.runs}", f"--precision={arguments.precision}", *arguments.row)
    boot = _boots(session, arguments)
    if arguments.bundle:
        options.allow(arguments, "bundle", "with --bundle")
        built = {arch.name: build(arch) for arch in session.architectures}
        print("\n".join(map(str, boots.bundle(arguments.bundle, built))))
        return 0
    if boot:
        for arch in session.architectures:
            if arguments.kvm:
                boots.require_kvm(arch)
            _both(session, arguments, arch, build(arch), words)
        return 0
    options.allow(arguments, "row runs precision output", "on this machine: --kvm and ARCH=um boot")
    native = _native(session, "quire time run --bundle DIR, and run the program there")
    # The program writes progress to stderr, and JSON to the given file.
    output = (f"--output={arguments.output}",) if arguments.output else ()
    return process.interact(process.Command([str(build(native)), *output, *words]))


def _native(session: Session, remedy: str) -> Architecture:
    """The architecture of this machine. UserError if another one is requested."""
    for arch in session.architectures:
        if arch.machine == platform.machine():
            return arch
    names = " ".join(arch.name for arch in session.architectures)
    raise UserError(f"this machine is {platform.machine()}", f"ARCH={names}", remedy)


def _boots(session: Session, arguments: argparse.Namespace) -> bool:
    """Whether to boot both kernels: on request, or because they are programs of this host.

    UserError for options without effect, or if this host cannot boot them.
    """
    for option in ("bundle", "kvm", "emulate"):
        if getattr(arguments, option):
            options.refuse_programs(session.architectures, f"--{option}")
    if arguments.emulate:
        options.refuse(arguments, "boots runs precision", "with --emulate")
    programs = [arch for arch in session.architectures if not arch.qemu]
    if programs and len(programs) < len(session.architectures):
        what = f"{programs[0].name} boots both kernels, unlike the other architectures"
        raise UserError(what, remedy=f"time it alone: ARCH={programs[0].name}")
    boot = bool(arguments.kvm or arguments.emulate or programs)
    if boot:
        requirements.require(session.architectures)
    return boot


def _both(
    session: Session,
    arguments: argparse.Namespace,
    arch: Architecture,
    built: Path,
    words: tuple[str, ...],
) -> None:
    sides = session.sides()
    trees = [side.tree for side in sides.both][: 1 if sides.same else 2]
    kernels = [session.kernel(arch, tree) for tree in trees]
    few = BootPlan(1, (*FEW, *arguments.row), kvm=False)
    how = few if arguments.emulate else BootPlan(arguments.boots, words, kvm=arguments.kvm)
    timings = boots.run(session, kernels, built, how)
    _show(arguments, timings)
    report.show_sync(timings)
    failed = [f"{timing.name}: {row.name}: {row.failed}" for timing in timings
              for row in timing.rows if row.failed]  # fmt: skip
    if failed:
        raise Difference("benchmarks failed", "\n".join(failed), "read the logs in build/boot/")


def _leaf(session: Session, arguments: argparse.Namespace) -> None:
    native = _native(session, "use a machine of that architecture")
    tools = kernel.toolchain(native, session.cross_compile, session.llvm)
    trees = [side.tree for side in session.sides().both]
    for loop in leaf.read():
        built = leaf.build(session.cache, tools, loop, trees)
        with session.progress.stage(f"leaf {loop.name}", arguments.boots), boots.pinned():
            times = leaf.run(loop, built, trees, arguments.boots, session.progress.at)
        _show(arguments, times, f"{loop.name}-")


def _show(arguments: argparse.Namespace, timings: Sequence[Timing], prefix: str = "") -> None:
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        for timing in timings:
            file = arguments.output / f"{prefix}{timing.name}.json"
            document.write(timing, file)
            print(file)
    report.show(timings)
    if len(timings) == 2 and timings[0].is_time:
        a, b = timings
        report.show_verdicts(a, b, compare.compare(a, b))


def _compare(_session: Session, arguments: argparse.Namespace) -> None:
    """Compare two timings. Difference if a benchmark is slower on B."""
    a, b = (document.read(file) for file in arguments.timings)
    verdicts = compare.compare(a, b)
    if arguments.json:
        print(json.dumps(report.as_json(a, b, verdicts), indent=1))
    else:
        report.show_verdicts(a, b, verdicts)
    slower = [verdict.row.name for verdict in verdicts if verdict.verdict == compare.SLOWER]
    if slower:
        what = f"{len(slower)} of {len(verdicts)} benchmarks are slower on B"
        raise Difference(what, "\n".join(slower), "find out why: quire bench, quire profile")


MODES = (
    Mode("run", RUN, _add_run, _run),
    Mode("compare", COMPARE, _add_compare, _compare),
    Mode("leaf", LEAF, _add_leaf, _leaf),
)
