# SPDX-License-Identifier: GPL-2.0
"""Check each topic alone with only what it needs: it must apply, build, and pass what stock passes.

The kernels are built in turn in one O= directory. They also count the benchmarks that show the
topic's gains (guest/workloads/headlines.toml). Each proof is recorded in lines/NAME/topics.toml
with a hash of the topic's patches and those that it needs. When one of them changes, the proof is
stale, and the topic is tried again.
"""

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from quire import lab
from quire.arch import Architecture
from quire.boot.ktap import Status
from quire.check import series_check
from quire.check.series_check import Check
from quire.host import data
from quire.host.errors import BuildFailed
from quire.host.git import run_git
from quire.kernels import kept
from quire.kernels.kernel import Kernel
from quire.measure import comparison
from quire.measure.workloads import on_architecture
from quire.session import Session
from quire.source.apply import touched
from quire.source.series import Series
from quire.source.side import STOCK, Sides
from quire.source.steps import KIND, OfSeries, Step
from quire.source.tree import SOURCES, Tree
from quire.suites import suite
from quire.suites.outcome import Outcome
from quire.suites.suite import BootOptions, Job

HEAD = """\
# SPDX-License-Identifier: GPL-2.0
# `quire check --topics` writes this file: the topics that, alone with what they need, pass all that
# stock passes. `patches` is a hash of their diffs.
"""
# Users of pins: without them, cases that expose a missing need would be skipped.
FRAGMENTS = ("pin.config",)
# Maximum number of cases in a complaint.
NAMED = 10


@dataclass(frozen=True)
class Gain:
    """Instructions of a benchmark on stock and with the topic alone, per unit of the benchmark."""

    benchmark: str
    stock: float
    alone: float


@dataclass(frozen=True)
class Proof:
    """A topic passed alone on an architecture, at the folio sizes `sizes` (empty: all)."""

    series: str
    topic: str
    architecture: str
    patches: str
    passed: int
    base: str
    date: str
    commit: str
    sizes: tuple[int, ...] = ()
    gains: tuple[Gain, ...] = ()

    def is_of(self, selection: Series) -> bool:
        """Tell whether its patches are unchanged since."""
        return self.patches == selection.changes()

    def covers(self, sizes: Sequence[int]) -> bool:
        """Tell whether it passed at all of these folio sizes."""
        return not self.sizes or (bool(sizes) and {*sizes} <= {*self.sizes})


@dataclass(frozen=True)
class _ProofFile:
    proof: tuple[Proof, ...] = ()


@dataclass(frozen=True)
class Extent:
    """What to try: folio sizes in KiB (empty: all), when to stop starting topics, and whether to
    try only topics that passed before they changed."""

    sizes: tuple[int, ...] = ()
    minutes: float = float("inf")
    changed: bool = False


def read(file: Path) -> dict[tuple[str, str, str], Proof]:
    """Read a file's proofs by series file, topic and architecture; none if there is no file."""
    proofs = data.optional(file, _ProofFile, "let `quire check --topics` write it").proof
    return {(proof.series, proof.topic, proof.architecture): proof for proof in proofs}


def write(file: Path, proofs: Iterable[Proof]) -> None:
    """Rewrite the file."""
    blocks = []
    for proof in sorted(proofs, key=lambda p: (p.series, p.topic, p.architecture)):
        lines = (f"{key} = {_toml(value)}" for key, value in asdict(proof).items())
        blocks.append("\n".join(["[[proof]]", *lines, ""]))
    file.write_text("\n".join([HEAD, *blocks]))


def _toml(value: Any) -> str:
    """A proof's value as TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def check(session: Session, sides: Sides, extent: Extent) -> Iterator[Check]:
    """Try the topics of --only, or all with stale proofs; report the others."""
    fragments = [session.project.configs / name for name in FRAGMENTS]
    session = replace(session, configs=(*session.configs, *fragments))
    file, series = sides.line.file("topics"), sides.series
    troubles = {c.subject: c for c in series_check.alone(sides.base.path, series) if c.trouble}
    yield from troubles.values()
    known, waiting = read(file), list[str]()
    for topic, selection in series.alone().items():
        keys = [(series.file.name, topic, arch.name) for arch in session.architectures]
        proofs = [known[key] for key in keys if key in known]
        valid = [p for p in proofs if p.is_of(selection) and p.covers(extent.sizes)]
        if len(valid) == len(keys) and not series.chosen:
            yield Check("passes alone", f"{topic}: proven {proofs[0].date}, {proofs[0].commit}")
        elif extent.changed and not proofs:
            yield Check("passes alone", f"{topic}: never tried")
        elif topic not in troubles:
            waiting.append(topic)
    waiting.sort(key=lambda topic: _headers(series.alone()[topic]))
    # As many as boot in parallel.
    at_once = max(1, session.place.machines // len(session.architectures))
    begun = time.monotonic()
    for some in (waiting[at : at + at_once] for at in range(0, len(waiting), at_once)):
        if time.monotonic() - begun > 60 * extent.minutes:
            yield from (Check("passes alone", f"{topic}: not tried in this run") for topic in some)
            continue
        results = list(_try(session, sides, some, extent))
        known = read(file) | {(p.series, p.topic, p.architecture): p for _, p in results if p}
        write(file, known.values())
        yield from (result for result, _ in results)


def _headers(selection: Series) -> int:
    """The number of changed headers that most objects include. Starting with the fewest keeps
    rebuilds between topics small."""
    return sum(name.endswith(".h") and not name.startswith("mm/") for name in touched(selection))


def _try(
    session: Session, sides: Sides, topics: Sequence[str], extent: Extent
) -> Iterator[tuple[Check, Proof | None]]:
    """Build these topics in turn, then boot all of them and stock in parallel."""
    kernels = {(STOCK, arch): session.kernel(arch, sides.a.tree) for arch in session.architectures}
    selections = sides.series.alone()
    for topic, arch in itertools.product(topics, session.architectures):
        try:
            kernels[topic, arch] = _build(session, sides, arch, topic, selections[topic])
        except BuildFailed as failed:
            yield (
                Check(f"builds alone ({arch.name})", topic, f"{failed.what}\n{failed.where}"),
                None,
            )
    outcomes = _boot(session, kernels, extent.sizes)
    for (topic, arch), outcome in outcomes.items():
        if topic != STOCK:
            trouble = judge(outcomes[STOCK, arch], outcome)
            proof = None if trouble else _proof(session, sides, outcome, extent.sizes)
            if proof:
                both = (kernels[STOCK, arch], kernels[topic, arch])
                proof = replace(proof, gains=_gains(session, topic, both))
            passed = outcome.count(Status.PASS)
            subject = topic if trouble else f"{topic}: {passed} cases"
            yield Check(f"passes alone ({arch.name})", subject, trouble), proof


def _build(
    session: Session, sides: Sides, arch: Architecture, topic: str, selection: Series
) -> Kernel:
    """The kernel of a topic, in the directory of all steps of this base."""
    base, directory = sides.base, session.cache.path(KIND, sides.base.key)
    tree = Tree(f"{base.key}+{selection.key()}", base, selection, directory / SOURCES, topic)
    place = partial(OfSeries(base, sides.series, directory).place, Step(tree, topic))
    request = session.request(arch, tree)
    with session.progress.stage(request.title, arch.objects):
        return kept.build(session.cache, request, place, session.progress.at).kernel


def _boot(
    session: Session, kernels: Mapping[tuple[str, Architecture], Kernel], sizes: Sequence[int]
) -> dict[tuple[str, Architecture], Outcome]:
    """Each kernel's test outcome; completed boots are not repeated."""
    parameters = (suite.of_sizes(sizes),) if sizes else ()
    options = BootOptions(resume=True, parameters=parameters)
    jobs = [Job(kernel, options) for kernel in kernels.values()]
    return dict(zip(kernels, suite.several(session, jobs, ["*"]), strict=True))


def _gains(session: Session, topic: str, both: tuple[Kernel, Kernel]) -> tuple[Gain, ...]:
    """The cost of the topic's benchmarks on stock and with the topic alone."""
    arch, catalogue = both[0].arch, lab.workloads(session)
    benchmarks = on_architecture(arch, catalogue.rows(catalogue.headlines.get(topic, ())))
    if not benchmarks:
        return ()
    setups = [lab.setup(session, kernel) for kernel in both]
    samples = lab.measure(session, setups, benchmarks)
    gains = []
    for benchmark in benchmarks:
        costs = [
            comparison.figure(arch, benchmark, samples[kernel.image_sha256, benchmark]).insns
            for kernel in both
        ]
        gains.append(Gain(benchmark.title, *(round(cost, 1) for cost in costs)))
    return tuple(gains)


def judge(stock: Outcome, alone: Outcome) -> str:
    """Cases that stock passes and the topic fails, or why a guest was lost; empty if all pass."""
    for outcome in (stock, alone):
        if outcome.lost:
            return f"{outcome.name}: {outcome.lost.text()}"
    statuses = {case.name: case.status for case in alone.cases}
    worse = [
        f"{case.name}: {statuses.get(case.name, 'missing')}, passes on stock"
        for case in stock.cases
        if case.status is Status.PASS and statuses.get(case.name) is not Status.PASS
    ]
    more = [f"and {len(worse) - NAMED} more"] if len(worse) > NAMED else []
    worse = [*worse[:NAMED], *more, *([f"whole log: {alone.logs}"] if worse else [])]
    return "\n".join(worse or ([] if stock.count(Status.PASS) else ["stock passes nothing"]))


def _proof(session: Session, sides: Sides, outcome: Outcome, sizes: tuple[int, ...]) -> Proof:
    kernel, series = outcome.kernel, sides.series
    topic = kernel.tree.label
    head = run_git(session.project.root, "rev-parse", "--short=12", "HEAD")
    return Proof(
        series.file.name,
        topic,
        kernel.arch.name,
        series.alone()[topic].changes(),
        outcome.count(Status.PASS),
        str(sides.base.version),
        datetime.now(UTC).date().isoformat(),
        "" if head.status else head.output.strip(),
        sizes,
    )
