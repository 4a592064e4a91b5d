# SPDX-License-Identifier: GPL-2.0
"""Compare two sides, or the steps of a series, on an architecture: shared by several commands."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from quire.arch import Architecture
from quire.boot import counter
from quire.host.errors import BuildFailed
from quire.host.progress import Stage
from quire.kernels import kconfig, kept
from quire.kernels.kept import Built
from quire.kernels.kernel import Kernel
from quire.measure import bench, comparison, cost, null
from quire.measure.bench import ONCE, Provenance, Sample, Samples, Sampling, Setup
from quire.measure.comparison import Comparison, Figure, Move, References
from quire.measure.cost import Locks
from quire.measure.workloads import Benchmark, Catalogue
from quire.session import Session
from quire.source.side import PATCHED, STOCK, Sides
from quire.source.steps import Step, Steps

# Core-seconds, to estimate the remaining time. The second kernel of an architecture reuses the
# first one's objects.
KERNELS = (400, 80)
BOOTS, FURTHER = 620, 80
# Limited by the disk, not by the number of cores.
SOURCES = (Stage("base", 40), Stage("patched tree", 5))


def workloads(session: Session) -> Catalogue:
    """Load the guest's benchmarks."""
    return Catalogue.read(session.project.guest / "workloads")


def locks(session: Session) -> Locks:
    """Load the classes of locks."""
    return cost.read_locks(session.project.guest / "workloads" / cost.LOCKS_FILE)


def setup(session: Session, kernel: Kernel) -> Setup:
    """Build everything that a measurement of `kernel` needs."""
    plugin = counter.build(session.cache, session.project.counter, kernel.arch)
    return Setup(kernel, session.guest(kernel), plugin, locks(session).watched)


def step(
    session: Session, arch: Architecture, where: Steps, chosen: Step, *, strict: bool = False
) -> tuple[Built, str]:
    """Build the kernel of a step. The returned text names options that the configuration lost;
    with `strict`, these are an error."""
    request = session.request(arch, chosen.tree)
    request = replace(request, strict=strict and request.strict)
    with session.progress.stage(request.title, arch.objects):
        place = partial(where.place, chosen)
        built = kept.build(session.cache, request, place, session.progress.at)
    resolved = kconfig.parse(built.kernel.config.read_text())
    lost = [option.option for option in kconfig.lost(request.fragments, resolved)]
    return built, f"lost {', '.join(lost)}" if lost else ""


def setups(session: Session, arch: Architecture, sides: Sides) -> tuple[Setup, Setup]:
    """Build side A, then side B."""
    # Check for a QEMU that can count before building the kernels.
    counter.installed(arch)
    a = setup(session, session.kernel(arch, sides.a.tree))
    return a, a if sides.same else setup(session, session.kernel(arch, sides.b.tree))


def compare(
    session: Session,
    sides: Sides,
    both: tuple[Setup, Setup],
    benchmarks: Sequence[Benchmark],
    options: Sampling = ONCE,
) -> tuple[Comparison, Provenance]:
    """Measure the benchmarks on both kernels, at the architecture's folio sizes."""
    a, b = both
    arch = a.kernel.arch
    samples = measure(session, both, benchmarks, options)
    images = (a.kernel.image_sha256, b.kernel.image_sha256)
    figures = (
        comparison.read_posted(sides.line.file("posted")) if sides.ours and not sides.same else {}
    )
    known = References(figures, locks(session))
    rows = comparison.compare(
        arch, (sides.a.label, sides.b.label), images, benchmarks, samples, known
    )
    return rows, Provenance(a, b, session.fragments(arch, sides.line))


def with_null(
    session: Session, a: Setup, rows: Comparison, kernels: int, options: Sampling = ONCE
) -> Comparison:
    """Add the spread that code placement alone causes, counted on builds of side A."""
    arch, tree = a.kernel.arch, a.kernel.tree
    placed = [null.flags(number, session.llvm) for number in range(1, kernels + 1)]
    others = []
    for number, flags in enumerate(placed if rows.rows else (), 1):
        named = replace(tree, label=f"{tree.label}-placed-{number}")
        others.append(setup(session, session.kernel(arch, named, flags)))
    benchmarks = [row.benchmark for row in rows.rows]
    samples = measure(session, others, benchmarks, options)
    counted = []
    for row in rows.rows:
        found = (samples[other.kernel.image_sha256, row.benchmark] for other in others)
        figures = [row.a, *(comparison.figure(arch, row.benchmark, one) for one in found)]
        spread = null.spread([f.insns for f in figures], [f.cycles_total for f in figures])
        counted.append(replace(row, null=spread))
    return replace(rows, rows=tuple(counted))


def measure(
    session: Session,
    setups: Sequence[Setup],
    benchmarks: Sequence[Benchmark],
    options: Sampling = ONCE,
) -> Samples:
    """Measure what is missing, where the session's machines run: bench.measure()."""
    cache, progress, place = session.cache, session.progress, session.place
    return bench.measure(cache, setups, benchmarks, progress, options, place)


def count_step(
    session: Session, arch: Architecture, where: Steps, chosen: Step, benchmark: Benchmark
) -> tuple[Kernel, list[Sample], str]:
    """Build the kernel of a step, and count a benchmark, but not calls of functions that the kernel
    lacks. The returned text names these, and the options that the configuration lost."""
    built, lost = step(session, arch, where, chosen)
    (benchmark,), gone = bench.countable([benchmark], built.kernel)
    samples = measure(session, [setup(session, built.kernel)], [benchmark])
    found = samples[built.kernel.image_sha256, benchmark]
    return built.kernel, found, "; ".join(filter(None, (lost, gone)))


@dataclass(frozen=True)
class Stepped:
    """A series on one architecture. A step without a kernel failed to build."""

    arch: Architecture
    title: str
    steps: Sequence[Step]
    kernels: list[Kernel | None] = field(default_factory=list)
    # By step: the number of an earlier step with the same code, whose results it shares.
    same: dict[int, int] = field(default_factory=dict)
    # By step: why it failed to build, or the options that it lost.
    notes: dict[int, str] = field(default_factory=dict)
    rows: dict[Benchmark, list[Figure | None]] = field(default_factory=dict)

    def label(self, number: int) -> str:
        """Return the short name of a step."""
        return self.steps[number].tree.label

    def moves(self, benchmark: Benchmark) -> list[Move]:
        """List each step that changed a benchmark's cost, then the total change."""
        known = [figure for figure in self.rows[benchmark] if figure]
        return [
            *comparison.between(self.rows[benchmark]),
            Move(len(self.steps) - 1, known[0], known[-1]),
        ]


def measure_steps(
    session: Session, stepped: Stepped, where: Steps, benchmarks: Sequence[Benchmark]
) -> None:
    """Build all steps, then boot all benchmarks on each kernel with new code, and fill `stepped`.

    A step that does not build has a note, unless it is the first: BuildFailed.
    """
    setups = _build_steps(session, stepped, where)
    for at, each in setups.items():
        benchmarks, gone = bench.countable(benchmarks, each.kernel)
        if gone:
            stepped.notes[at] = "; ".join(filter(None, (stepped.notes.get(at), gone)))
    samples, classes = measure(session, [*setups.values()], benchmarks), locks(session)

    def figure(at: int, benchmark: Benchmark) -> Figure | None:
        if not stepped.kernels[at]:
            return None
        image = setups[stepped.same.get(at, at)].kernel.image_sha256
        return comparison.figure(stepped.arch, benchmark, samples[image, benchmark], classes)

    for benchmark in benchmarks:
        stepped.rows[benchmark] = [figure(at, benchmark) for at in range(len(stepped.steps))]


def _build_steps(session: Session, stepped: Stepped, where: Steps) -> dict[int, Setup]:
    """Build all steps; return the setups of those with new code."""
    codes, known, setups = dict[str, int](), "", dict[int, Setup]()
    for at, chosen in enumerate(stepped.steps):
        try:
            built, lost = step(session, stepped.arch, where, chosen, strict=not at)
        except BuildFailed as failed:
            if not at:
                raise
            stepped.notes[at] = f"{failed.what}: {failed.where.splitlines()[0]}"
            stepped.kernels.append(None)
            continue
        stepped.kernels.append(built.kernel)
        if lost and lost != known:
            stepped.notes[at] = known = lost
        if (first := codes.setdefault(built.code, at)) == at:
            setups[at] = setup(session, built.kernel)
        else:
            stepped.same[at] = first
    return setups


def stages(
    architectures: Iterable[Architecture],
    labels: Sequence[str],
    jobs: int,
    boots: float | None = None,
) -> list[Stage]:
    """Plan the stages after the sources: a kernel for each label, then boots that take `boots`
    core-seconds; without a number, all boots, including those of further CPUs."""
    steps = []
    for arch in architectures:
        for label, seconds in zip(labels, KERNELS, strict=False):
            steps.append(Stage(f"{arch.name} {label} kernel", seconds / jobs))
        steps.append(Stage(f"{arch.label} bench", (BOOTS if boots is None else boots) / jobs))
        further = arch.counted_cpus if boots is None else ()
        steps += [Stage(f"{arch.on(cpu).label} bench", FURTHER / jobs) for cpu in further]
    return steps


def plan(
    session: Session, architectures: Sequence[Architecture], boots: float | None = None
) -> Sides:
    """Prepare the sides and plan the remaining stages; arguments as for stages()."""
    first = stages(architectures, (STOCK, PATCHED), session.jobs, boots)
    session.progress.plan = [*SOURCES, *first]
    sides = session.sides()
    # Identical sides share one kernel.
    labels = [side.tree.label for side in sides.both[: 1 if sides.same else 2]]
    session.progress.plan = stages(architectures, labels, session.jobs, boots)
    return sides
