# SPDX-License-Identifier: GPL-2.0
"""A program whose record breaks a promise, before and after shrinking, and its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quire.fuzz.findings import PROGRAM
from quire.fuzz.language import program as language
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.promise.judge import Broken


@dataclass(frozen=True)
class Finding:
    """What broke, and in which program. `kernel` is the label of the kernel."""

    number: int
    original: Program
    program: Program
    broken: tuple[Broken, ...]
    record: Record
    kernel: str

    @property
    def title(self) -> str:
        """The first broken promise."""
        return self.broken[0].text

    @property
    def kind(self) -> tuple[str, str]:
        """Findings of one kind have, as far as can be told, one cause."""
        return self.broken[0].kind

    @property
    def promises(self) -> list[str]:
        """For each broken rule what was promised, where, and what was seen."""
        lines: list[str] = []
        for rule in dict.fromkeys(one.rule for one in self.broken):
            lines += [rule.name, f"  promised: {rule.promise}", f"  source: {rule.source}"]
            lines += [f"  seen: {one.text}" for one in self.broken if one.rule is rule]
        return lines


def folder(finding: Finding, directory: Path) -> Path:
    """The folder of a finding."""
    return directory / f"broken-{finding.number}"


def write(finding: Finding, directory: Path) -> Path:
    """Write the finding's folder: the program, its original, the record, and the promises."""
    where = folder(finding, directory)
    where.mkdir(parents=True, exist_ok=True)
    rule = finding.broken[0].rule
    comments = [finding.title, f"promised: {rule.promise} ({rule.source})"]
    (where / PROGRAM).write_text(language.text(finding.program, comments))
    (where / "original.fuzz").write_text(language.text(finding.original))
    (where / "promises").write_text("\n".join(finding.promises) + "\n")
    log = [f"# kernel: {finding.kernel}", *finding.record.lines]
    (where / "record").write_text("\n".join(log) + "\n")
    return where
