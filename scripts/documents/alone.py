# SPDX-License-Identifier: GPL-2.0
"""The tables of topics alone: their patches, those that they need and why, which of them stay for
others when the topic is taken out, what has passed, and what each gains by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from quire.check import topics
from quire.check.topics import Gain, Proof
from quire.report.table import UNKNOWN, written
from quire.source import line as lines
from quire.source import posting
from quire.source import series as series_files
from quire.source.patch import Patch
from quire.source.series import Need, Series

ARCHITECTURES = ("arm64", "x86_64")
STALE = "stale"
# By line, topic and benchmark, then by architecture.
Counted = dict[tuple[str, str, str], dict[str, Gain]]
# What the whole series costs: line, architecture, benchmark; in words.
Whole = Callable[[str, str, str], str]


def rows(root: Path) -> Iterator[list[str]]:
    """Yield the rows of every series of the project, with the columns that tables.toml names."""
    for line, series in lines.all_series(root):
        proofs = topics.read(line.file("topics"))
        for topic, selection in series.alone().items():
            own = sum(patch.topic == topic for patch in selection.patches)
            known = [proofs.get((series.file.name, topic, arch)) for arch in ARCHITECTURES]
            cells = [_trees(series), f"`{topic}`", str(own)]
            cells += [needed(series.reasons([topic])), str(len(selection.patches))]
            yield [*cells, staying(series, topic), *_passed(selection, known)]


def _trees(series: Series) -> str:
    """The versions of a series file; for a vendor's trees, also its name."""
    name = series.file.name.partition(".")[2]
    return f"{series.versions}, {name}" if series.trees else str(series.versions)


def counted(root: Path) -> Counted:
    """Collect what each topic gains alone, where counted with its current patches."""
    found: Counted = {}
    for line in lines.known(root):
        if not line.series:
            continue
        series, proofs = series_files.read(line.series / "series"), topics.read(line.file("topics"))
        for topic, selection in series.alone().items():
            for arch in ARCHITECTURES:
                proof = proofs.get((series.file.name, topic, arch))
                for gain in proof.gains if proof and proof.is_of(selection) else ():
                    found.setdefault((line.name, topic, gain.benchmark), {})[arch] = gain
    return found


def gains(known: Counted, whole: Whole) -> Iterator[list[str]]:
    """Yield each benchmark: stock → alone on each architecture, in parentheses the whole series'
    cost, with the columns that tables.toml names."""
    for (line, topic, name), by_architecture in known.items():
        cells = []
        for arch in ARCHITECTURES:
            gain = by_architecture.get(arch)
            text = f"{written(gain.stock)} → {written(gain.alone)}" if gain else UNKNOWN
            cells.append(f"{text} ({whole(line, arch, name)})" if gain else text)
        yield [line, f"`{topic}`", name, *cells]


def staying(series: Series, topic: str) -> str:
    """Name the patches that other topics keep when a topic is removed: "0002: fork"."""
    stay = []
    for patch in series.without()[topic].patches:
        if patch.topic == topic:
            others = [
                name
                for name in series.topics
                if name != topic and patch in series.only([name]).patches
            ]
            stay.append(f"{patch.path.name.partition('-')[0]}: {', '.join(others)}")
    return "; ".join(stay) or UNKNOWN


def grouped(root: Path) -> Iterator[list[str]]:
    """Yield the groups in which topics are posted, with the columns that tables.toml names."""
    for line in lines.known(root):
        if not line.series:
            continue
        series = series_files.read(line.series / "series")
        for topic in series.topics:
            for group, names in posting.groups_of(series, topic).items():
                total = len(series.parts(names).patches)
                name = f"`{topic}-{group.name}`"
                yield [line.name, name, str(len(names)), str(total), group.subject]


def needed(reasons: Mapping[Patch, Sequence[Need]]) -> str:
    """Format the needed patches and topics by reason: "fixes/0001, fixes/0004: text"."""
    names: dict[str, dict[str, None]] = {}
    for patch, needs in reasons.items():
        number = f"{patch.topic}/{patch.path.name.partition('-')[0]}"
        for need in needs:
            name = number if "/" in need.what else f"all of `{need.what}`"
            names.setdefault(need.reason, {})[name] = None
    parts = [f"{', '.join(some)}{reason and ': '}{reason}" for reason, some in names.items()]
    return "; ".join(parts) or UNKNOWN


def _passed(selection: Series, proofs: Sequence[Proof | None]) -> list[str]:
    """Cases passed on each architecture, and the date of the first valid proof."""
    cells = []
    for proof in proofs:
        sizes = f" ({', '.join(map(str, proof.sizes))} KiB)" if proof and proof.sizes else ""
        told = f"{proof.passed:,}{sizes}" if proof else UNKNOWN
        cells.append(told if not proof or proof.is_of(selection) else STALE)
    made = [f"{p.date}, {p.commit}" for p in proofs if p and p.is_of(selection)]
    return [*cells, min(made, default=UNKNOWN)]
