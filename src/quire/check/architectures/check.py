# SPDX-License-Identifier: GPL-2.0
"""Compile each topic alone, and the complete series, for every configuration."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from quire.arch import requirements
from quire.arch.requirements import Need
from quire.check.architectures import complaints
from quire.check.architectures.configuration import Configuration
from quire.check.architectures.place import WIDE, Place
from quire.check.architectures.stepping import Stepping, prepare
from quire.host import parallel, process
from quire.host.cache import Cache, digest
from quire.host.progress import Progress
from quire.source.base import Base
from quire.source.series import Series

OK, FAILED, NO_COMPILER = "ok", "failed", "no compiler"
WHOLE_SERIES = "all"
# The number of complaints shown per failure; the log has all.
FIRST_LINES = 5

Result = TypeVar("Result")


@dataclass(frozen=True)
class Compilation:
    """One configuration and one topic. `trouble`: the first complaints and the path of the log."""

    configuration: str
    topic: str
    state: str
    trouble: str = ""


@dataclass(frozen=True)
class Portion:
    """Patches, and their name in the table.

    `narrow`: a file that only includes a touched header sees the same header in the whole series,
    and is compiled with that.
    """

    name: str
    series: Series
    narrow: bool = False


@dataclass(frozen=True)
class Attempt:
    """The result of one make: its status, its complaints, its log."""

    place: Place
    topic: str
    targets: tuple[str, ...]
    status: int
    complaints: list[str]
    log: Path


@dataclass(frozen=True)
class Compiling:
    """The state shared by all parts of one check."""

    cache: Cache
    base: Base
    stepping: Stepping
    progress: Progress
    jobs: int


def needs(configurations: Sequence[Configuration]) -> list[Need]:
    """What the host needs to compile; an optional compiler only if the host's packages have it."""
    compilers = dict.fromkeys(configuration.compiler for configuration in configurations)
    wanted = [c for c in compilers if not c.optional or requirements.obtainable(c.package)]
    return [*requirements.needs(()), *(compiler.need for compiler in wanted)]


def selections(series: Series) -> list[Portion]:
    """Each topic with its needs, and then all topics, unless that is the same selection."""
    found = [Portion(name, series.only([name])) for name in series.topics]
    if any(selection.series.patches == series.patches for selection in found):
        return found
    found = [replace(one, narrow=_has_its_headers_alone(one.series, series)) for one in found]
    return [*found, Portion(WHOLE_SERIES, series)]


def _has_its_headers_alone(part: Series, whole: Series) -> bool:
    """Whether no patch outside `part` touches a header that `part` touches."""
    headers = {name for patch in part.patches for name in patch.files() if name.endswith(".h")}
    others = [patch for patch in whole.patches if patch not in part.patches]
    return not any(headers.intersection(patch.files()) for patch in others)


def check(
    cache: Cache,
    base: Base,
    series: Series,
    configurations: Sequence[Configuration],
    jobs: int,
    progress: Progress,
) -> list[Compilation]:
    """A cell for each configuration and selection, in table order.

    A selection that compiled cleanly with the same sources, configuration and compiler is not
    compiled again. BuildFailed when kbuild rejects a configuration or drops a requested option.
    """
    able = compiled_here(configurations)
    chosen = selections(series)
    with cache.lock("compiling", base.key):
        this = Compiling(cache, base, prepare(cache, base), progress, jobs)
        failed = _compile_all(this, able, chosen)
        cells = _judge(this, failed)
    return table(configurations, chosen, cells)


def compiled_here(configurations: Sequence[Configuration]) -> list[Configuration]:
    """The configurations whose compiler this host has."""
    return [c for c in configurations if c.compiler.need.present()]


def table(
    configurations: Sequence[Configuration],
    chosen: Sequence[Portion],
    cells: dict[tuple[str, str], Compilation],
) -> list[Compilation]:
    """All cells in table order; those that `cells` lacks are fine, or have no compiler."""
    able = compiled_here(configurations)
    for configuration in configurations:
        for selection in chosen:
            missing = configuration not in able
            remark = f"Debian: {configuration.compiler.package}" if missing else ""
            state = NO_COMPILER if missing else OK
            cell = Compilation(configuration.name, selection.name, state, remark)
            cells.setdefault((configuration.name, selection.name), cell)
    return [cells[(c.name, selection.name)] for c in configurations for selection in chosen]


def _compile_all(
    this: Compiling, configurations: Sequence[Configuration], chosen: Sequence[Portion]
) -> list[Attempt]:
    """Compile every selection for every configuration that is not known to be clean."""
    todo = {
        selection.name: [c for c in configurations if not _clean(this, c, selection).is_file()]
        for selection in chosen
    }
    wanted = [c for c in configurations if any(c in some for some in todo.values())]
    with this.progress.stage("configuring", len(wanted)):
        _each(this, wanted, Place.configure)
    failed: list[Attempt] = []
    # The whole series first: it shows which objects a configuration has. Then the larger
    # selections: fewer headers change from one step to the next.
    for selection in sorted(chosen, key=lambda one: (one.narrow, -len(one.series.patches))):
        some = todo[selection.name]
        if not some:
            continue
        this.stepping.to(selection.series)
        with this.progress.stage(f"compiling: {selection.name}", len(some)):
            attempts = _each(this, some, functools.partial(_attempt, selection))
        for attempt in attempts:
            if attempt.status or attempt.complaints:
                failed.append(attempt)
            else:
                note = _clean(this, attempt.place.configuration, selection)
                name = attempt.place.configuration.name
                process.do(note.write_text, f"{name} {selection.name}\n")
    return failed


def _judge(this: Compiling, failed: Sequence[Attempt]) -> dict[tuple[str, str], Compilation]:
    """Make cells for the failed attempts, without the complaints that stock has as well.

    Stock is compiled only for failed attempts: without complaints there is nothing to compare.
    """
    targets: dict[Configuration, dict[str, None]] = {}
    for attempt in failed:
        targets.setdefault(attempt.place.configuration, {}).update(dict.fromkeys(attempt.targets))
    notes = {c: _note(this, "stock", c, sorted(names)) for c, names in targets.items()}
    unknown = [configuration for configuration in targets if not notes[configuration].is_file()]
    if unknown:
        this.stepping.to(None)
        with this.progress.stage("compiling: stock", len(unknown)):
            for made in _each(
                this, unknown, lambda place: _make(place, "stock", targets[place.configuration])
            ):
                record = {"status": made.status, "complaints": made.complaints}
                notes[made.place.configuration].write_text(json.dumps(record) + "\n")
    cells: dict[tuple[str, str], Compilation] = {}
    for attempt in failed:
        record = json.loads(notes[attempt.place.configuration].read_text())
        cell = _cell(attempt, record["status"], record["complaints"])
        cells[(cell.configuration, cell.topic)] = cell
    return cells


def _cell(attempt: Attempt, stock_status: int, stock: list[str]) -> Compilation:
    configuration = attempt.place.configuration
    cell = Compilation(configuration.name, attempt.topic, OK)
    lines = complaints.new(attempt.complaints, stock)
    if attempt.complaints and not lines:
        if not (configuration.targets and stock_status):
            return cell
        # Stock lacks objects, so it was not linked and its symbols are unknown.
        lines = ["stock does not link in this configuration", *attempt.complaints]
    if not lines:
        lines = process.tail(attempt.log, 3).splitlines()
        lines.append(f"stock: make's status is {stock_status}")
    trouble = [*lines[:FIRST_LINES], f"whole log: {attempt.log}"]
    return replace(cell, state=FAILED, trouble="\n".join(trouble))


def _attempt(selection: Portion, place: Place) -> Attempt:
    targets = place.targets(selection.series, narrow=selection.narrow)
    return _make(place, selection.name, targets)


def _make(place: Place, name: str, targets: Iterable[str]) -> Attempt:
    log = place.cache.log(f"architectures-{place.configuration.name}-{name}")
    words = tuple(targets)
    status = place.compile(words, log)
    text = log.read_text(errors="replace") if log.is_file() else ""
    return Attempt(place, name, words, status, complaints.find(text), log)


def _each(
    this: Compiling, configurations: Sequence[Configuration], work: Callable[[Place], Result]
) -> list[Result]:
    """Call `work` for several configurations in parallel; they share the jobs."""
    if not configurations:
        return []
    at_once = min(this.jobs, len(configurations))
    jobs = this.jobs // at_once
    places = [Place(this.cache, this.stepping.path, c, jobs) for c in configurations]
    return parallel.side_by_side(
        places,
        work,
        lambda done, place, _: this.progress.at(done, place.configuration.name),
        at_once,
    )


def _clean(this: Compiling, configuration: Configuration, selection: Portion) -> Path:
    """The file that marks this configuration and selection as compiled without a complaint."""
    return _note(this, "clean", configuration, WIDE, selection.narrow, selection.series.key())


def _note(this: Compiling, kind: str, configuration: Configuration, *parts: object) -> Path:
    """The path of a note about one configuration."""
    return this.stepping.path.parent / kind / digest(configuration.key(), *parts)
