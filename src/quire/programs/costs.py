# SPDX-License-Identifier: GPL-2.0
"""Compare what whole programs cost on two kernels: instructions in QEMU, time under UML."""

from collections.abc import Sequence
from dataclasses import replace

from quire import lab
from quire.arch import Architecture
from quire.boot import counter, launch
from quire.boot.machine import Disk, Hardware, Machine
from quire.boot.results import Results
from quire.host.errors import Difference, UserError
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel
from quire.measure.bench import PROGRAM_TIMEOUT, Sampling, Setup
from quire.measure.comparison import Comparison
from quire.measure.workloads import Benchmark
from quire.programs import recipe as recipes
from quire.programs.recipe import Recipe
from quire.session import Session
from quire.source.side import Sides
from quire.timing.document import REAL, TimedBenchmark, Timing

# The guest's counters (guest/program/mark.c).
TIME, IN_KERNEL = "time-ns", ("um-syscall-ns", "um-fault-ns")


def count(
    session: Session, arch: Architecture, sides: Sides, recipe: Recipe, how: tuple[str, Sampling]
) -> Comparison:
    """Count instructions of the measured part; `how` is Debian's suite and the number of boots."""
    suite, sampling = how
    counter.installed(arch)
    kernels = [session.kernel(arch, side.tree) for side in sides.both]
    disk, guests = recipes.prepare(session, recipe, suite, kernels)
    plugin = counter.build(session.cache, session.project.counter, arch)
    watched = lab.locks(session).watched
    a, b = (Setup(k, g, plugin, watched, disk) for k, g in zip(kernels, guests, strict=True))
    chosen = recipes.benchmarks(recipe, ())
    return lab.compare(session, sides, (a, b), chosen, sampling)[0]


def time(
    session: Session, arch: Architecture, sides: Sides, recipe: Recipe, how: tuple[str, int]
) -> tuple[Timing, Timing]:
    """Time the measured part in boots of both kernels in turn; `how`: Debian's suite, boots."""
    suite, number = how
    kernels = [session.kernel(arch, side.tree) for side in sides.both]
    disk, guests = recipes.prepare(session, recipe, suite, kernels)
    chosen = recipes.benchmarks(recipe, ())
    ended: list[list[list[Results]]] = [[[] for _ in chosen] for _ in kernels]
    with session.progress.stage(f"{recipe.workload.name} time", number * 2 * len(chosen)):
        done = 0
        for _ in range(number):
            for at, benchmark in enumerate(chosen):
                for side, kernel in enumerate(kernels):
                    ended[side][at].append(_boot(session, kernel, (guests[side], disk), benchmark))
                    done += 1
                    session.progress.at(done, f"{kernel.tree.label} {benchmark.title}")
    a, b = (
        _timing(kernel, _rows(chosen, boots)) for kernel, boots in zip(kernels, ended, strict=True)
    )
    return a, b


def _timing(kernel: Kernel, rows: tuple[TimedBenchmark, ...]) -> Timing:
    machine = {"architecture": kernel.arch.name, "release": str(kernel.tree.base.version)}
    return Timing(kernel.tree.label, "", {"kind": REAL}, machine, rows, {})


def _boot(
    session: Session, kernel: Kernel, prepared: tuple[Guest, Disk], benchmark: Benchmark
) -> Results:
    guest, disk = prepared
    machine = Machine(
        kernel,
        guest,
        benchmark.words(),
        Hardware(icount=False),
        timeout=PROGRAM_TIMEOUT,
        parameters=benchmark.workload.kernel_parameters,
        disk=disk,
    )
    work = launch.workdir(session.cache, f"program-{kernel.tree.label}-{benchmark.name}")
    ended = launch.boot(machine, session.place, work)
    where = "\n".join([*ended.failures, *ended.notes[-10:], f"whole log: {work}"])
    if ended.exit or not ended.verified:
        what = f"{benchmark.title} failed on {kernel.tree.label}"
        raise Difference(what, where, "read the notes: the program's own messages")
    if TIME not in ended.counters:
        what = f"{benchmark.title} measured nothing"
        remedy = "call /quire/init start and /quire/init stop in the script"
        raise UserError(what, where, remedy)
    return ended


def _rows(chosen: Sequence[Benchmark], boots: list[list[Results]]) -> tuple[TimedBenchmark, ...]:
    """Two rows for each benchmark: all of its time, and the kernel's."""
    rows = []
    for benchmark, ended in zip(chosen, boots, strict=True):
        plain = TimedBenchmark(
            benchmark.title,
            benchmark.workload.unit,
            " ".join(benchmark.words()),
            tuple((float(_spent(one, TIME)),) for one in ended),
        )
        inside = tuple((float(sum(_spent(one, name) for name in IN_KERNEL)),) for one in ended)
        rows += [plain, replace(plain, name=f"{plain.name}:kernel", boots=inside)]
    return tuple(rows)


def _spent(ended: Results, name: str) -> int:
    before, after = ended.counters.get(name, (0, 0))
    return after - before
