# SPDX-License-Identifier: GPL-2.0
"""Files of a campaign: a folder per finding, and programs that say nothing about the sides."""

from __future__ import annotations

from pathlib import Path

from quire.fuzz.language import program as language
from quire.fuzz.language.record import Record
from quire.fuzz.triage import Finding, Tally

# In a finding's folder: the shrunk program.
PROGRAM = "program.fuzz"


def folder(finding: Finding, directory: Path) -> Path:
    """The folder of a finding."""
    return directory / f"finding-{finding.number}"


def write(finding: Finding, directory: Path) -> None:
    """Write the finding's folder: the program to replay, both records, and the differences."""
    where = folder(finding, directory)
    where.mkdir(parents=True, exist_ok=True)
    (where / PROGRAM).write_text(language.text(finding.program, finding.differences[:3]))
    (where / "original.fuzz").write_text(language.text(finding.original))
    (where / "differences").write_text("\n".join(finding.differences) + "\n")
    for letter, record, label in zip("ab", (finding.a, finding.b), finding.sides, strict=True):
        (where / f"{letter}.log").write_text(_log(f"side {letter}: {label}", record))


def write_odd(tally: Tally, directory: Path) -> None:
    """Write the programs that say nothing about the sides: unstable, or in trouble on side a."""
    for name, programs in (("unstable", tally.unstable), ("troubled", tally.troubled)):
        for number, ops in programs.items():
            path = directory / name / f"{number}.fuzz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(language.text(ops))


def _log(title: str, record: Record) -> str:
    return "\n".join([f"# {title}", *record.lines]) + "\n"
