# SPDX-License-Identifier: GPL-2.0
"""The table of topics alone: their patches, those that they need and why, and what has passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from quire.check import topics
from quire.check.topics import Proof
from quire.report.table import UNKNOWN
from quire.source import line as lines
from quire.source import posting
from quire.source import series as series_files
from quire.source.patch import Patch
from quire.source.series import Need, Series

ARCHITECTURES = ("arm64", "x86_64")
STALE = "stale"


def rows(root: Path) -> Iterator[list[str]]:
    """The rows of every series of the project, with the columns that tables.toml names."""
    for line in lines.known(root):
        proofs = topics.read(line.topics)
        for series in series_files.variants(line.series) if line.series else ():
            for topic, selection in series.alone().items():
                own = sum(patch.topic == topic for patch in selection.patches)
                known = [proofs.get((series.file.name, topic, arch)) for arch in ARCHITECTURES]
                cells = [str(series.versions), f"`{topic}`", str(own)]
                cells += [needed(series.reasons([topic])), str(len(selection.patches))]
                yield [*cells, *_passed(selection, known)]


def grouped(root: Path) -> Iterator[list[str]]:
    """The groups in which topics are posted, with the columns that tables.toml names."""
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
    """The needed patches and topics for each reason: "fixes/0001, fixes/0004: text"."""
    names: dict[str, dict[str, None]] = {}
    for patch, needs in reasons.items():
        number = f"{patch.topic}/{patch.path.name.partition('-')[0]}"
        for need in needs:
            name = number if "/" in need.what else f"all of `{need.what}`"
            names.setdefault(need.reason, {})[name] = None
    parts = [f"{', '.join(some)}{reason and ': '}{reason}" for reason, some in names.items()]
    return "; ".join(parts) or UNKNOWN


def _passed(selection: Series, proofs: Sequence[Proof | None]) -> list[str]:
    """Cases passed on each architecture, and when the first of the proofs that hold was made."""
    cells = []
    for proof in proofs:
        sizes = f" ({', '.join(map(str, proof.sizes))} KiB)" if proof and proof.sizes else ""
        told = f"{proof.passed:,}{sizes}" if proof else UNKNOWN
        cells.append(told if not proof or proof.is_of(selection) else STALE)
    made = [f"{p.date}, {p.commit}" for p in proofs if p and p.is_of(selection)]
    return [*cells, min(made, default=UNKNOWN)]
