# SPDX-License-Identifier: GPL-2.0
"""Compile each topic alone, and the complete series, for every configuration."""

import itertools
import re
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.arch import requirements
from quire.arch.requirements import Requirement
from quire.check.configuration import Configuration
from quire.check.workplace import WIDE, Workplace
from quire.host import parallel, process
from quire.host.cache import digest
from quire.session import Session
from quire.source import apply
from quire.source.base import Base
from quire.source.series import Series
from quire.source.tree import SOURCES, copy_links

OK, FAILED, NO_COMPILER = "ok", "failed", "no compiler"
WHOLE_SERIES = "all"
# The maximum number of complaints shown per failure; the log has all.
FIRST_LINES = 5
# Of compilers, linkers and modpost.
_COMPLAINT = re.compile(
    r"^.*(?:\b(?:warning|error): |\b(?:WARNING|ERROR): |undefined reference to ).*$", re.M
)
# The line or offset in a complaint; patches change it.
_PLACE = re.compile(r":\d+(?::\d+)?:|\(\.[\w.]+\+0x[0-9a-f]+\)")


@dataclass(frozen=True)
class Compilation:
    """One configuration and one topic. `trouble`: the first complaints and the path of the log."""

    configuration: str
    topic: str
    state: str
    trouble: str = ""


@dataclass(frozen=True)
class Selection:
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

    topic: str
    targets: Sequence[str]
    status: int
    complaints: list[str]
    log: Path


def needs(configurations: Sequence[Configuration]) -> list[Requirement]:
    """List what the host needs to compile; optional compilers only if Debian packages them."""
    compilers = dict.fromkeys(configuration.compiler for configuration in configurations)
    wanted = [*requirements.needs(())]
    for compiler in compilers:
        search = ("apt-cache", "show", compiler.package)
        known = compiler.optional and shutil.which(search[0]) and not process.query(*search).status
        wanted += [compiler.need] if known or not compiler.optional else []
    return wanted


def selections(series: Series) -> list[Selection]:
    """Return each topic with its needs, then all topics, unless that is the same selection."""
    topics = [Selection(*each) for each in series.alone().items()]
    if any(topic.series.patches == series.patches for topic in topics):
        return topics
    topics = [replace(t, narrow=_has_its_headers_alone(t.series, series)) for t in topics]
    return [*topics, Selection(WHOLE_SERIES, series)]


def _has_its_headers_alone(part: Series, whole: Series) -> bool:
    """Whether no patch outside `part` touches a header that `part` touches."""
    headers = {name for name in apply.touched(part) if name.endswith(".h")}
    others = [patch for patch in whole.patches if patch not in part.patches]
    return not any(headers.intersection(patch.files()) for patch in others)


def check(
    session: Session, base: Base, series: Series, configurations: Sequence[Configuration]
) -> list[Compilation]:
    """Compile each selection for each configuration, in table order; configurations share the jobs.

    A selection that compiled cleanly with the same sources, configuration and compiler is not
    compiled again. BuildFailed when kbuild rejects a configuration or drops a requested option.
    """
    able, chosen = compiled_here(configurations), selections(series)
    cache, progress, at_once = session.cache, session.progress, min(session.jobs, len(able)) or 1

    def compile_for(configuration: Configuration) -> list[Compilation]:
        key = f"{base.key}-{configuration.name}"
        with cache.lock("compiling", key):
            # Created once, then kept with its compiled objects.
            entry = cache.make("compilation", key, lambda new: copy_links(base.path, new / SOURCES))
            jobs = session.jobs // at_once
            return _compile(Workplace(cache, base.path, entry, configuration, jobs), chosen)

    with progress.stage("compiling", len(able)):
        compilations = parallel.side_by_side(
            able, compile_for, lambda done, c, _: progress.at(done, c.name), at_once
        )
    return table(configurations, chosen, itertools.chain(*compilations))


def compiled_here(configurations: Sequence[Configuration]) -> list[Configuration]:
    """Return the configurations whose compiler this host has."""
    return [c for c in configurations if c.compiler.need.present()]


def table(
    configurations: Sequence[Configuration],
    chosen: Sequence[Selection],
    known: Iterable[Compilation],
) -> list[Compilation]:
    """Return all compilations in table order; those missing in `known` are clean or lack a
    compiler."""
    compilations = {
        (compilation.configuration, compilation.topic): compilation for compilation in known
    }
    able = compiled_here(configurations)

    def compilation(configuration: Configuration, topic: str) -> Compilation:
        if configuration in able:
            return Compilation(configuration.name, topic, OK)
        package = f"Debian: {configuration.compiler.package}"
        return Compilation(configuration.name, topic, NO_COMPILER, package)

    return [
        compilations.get((c.name, s.name)) or compilation(c, s.name)
        for c in configurations
        for s in chosen
    ]


def _compile(place: Workplace, chosen: Sequence[Selection]) -> list[Compilation]:
    """Compile the selections not known to be clean; return those that failed."""
    key = place.configuration.key()
    notes = {s.name: place.entry / digest(key, WIDE, s.narrow, s.series.key()) for s in chosen}
    todo = [selection for selection in chosen if not notes[selection.name].is_file()]
    if todo:
        place.configure()
    failed: list[Attempt] = []
    # The whole series first: it shows which objects the configuration has. Then the larger
    # selections: fewer headers change from one step to the next.
    for selection in sorted(todo, key=lambda s: (s.narrow, -len(s.series.patches))):
        place.change(selection.series)
        targets = place.targets(selection.series, narrow=selection.narrow)
        attempt = _make(place, selection.name, targets)
        if attempt.status or attempt.complaints:
            failed.append(attempt)
        else:
            notes[selection.name].write_text("")
    if not failed:
        return []
    # Stock is compiled only after a failure: without complaints there is nothing to compare.
    place.change(None)
    targets = list(dict.fromkeys(target for attempt in failed for target in attempt.targets))
    stock = _make(place, "stock", targets)
    return [_judge(place.configuration, attempt, stock) for attempt in failed]


def _make(place: Workplace, name: str, targets: Sequence[str]) -> Attempt:
    log = place.cache.log(f"architectures-{place.configuration.name}-{name}")
    status = place.compile(targets, log)
    text = log.read_text(errors="replace") if log.is_file() else ""
    return Attempt(name, targets, status, complaints(text), log)


def _judge(configuration: Configuration, attempt: Attempt, stock: Attempt) -> Compilation:
    """The compilation of a failed attempt, without complaints that stock also has."""
    compilation = Compilation(configuration.name, attempt.topic, OK)
    lines = new(attempt.complaints, stock.complaints)
    if attempt.complaints and not lines:
        if not (configuration.targets and stock.status):
            return compilation
        # Stock lacks objects, so it was not linked and its symbols are unknown.
        lines = ["stock does not link in this configuration", *attempt.complaints]
    if not lines:
        lines = process.tail(attempt.log, 3).splitlines()
        lines.append(f"stock: make's status is {stock.status}")
    trouble = [*lines[:FIRST_LINES], f"whole log: {attempt.log}"]
    return replace(compilation, state=FAILED, trouble="\n".join(trouble))


def complaints(log: str) -> list[str]:
    """Return each complaint in make's output once, in order of appearance."""
    return list(dict.fromkeys(_COMPLAINT.findall(log)))


def new(complaints: Collection[str], known: Collection[str]) -> list[str]:
    """Return the complaints not among `known`, compared without line numbers or offsets."""
    old = {_PLACE.sub(":", line) for line in known}
    return [line for line in complaints if _PLACE.sub(":", line) not in old]
