# SPDX-License-Identifier: GPL-2.0
"""The files of a hunt: a folder per finding, lists, and programs that say nothing."""

from pathlib import Path
from typing import Any

from quire.fuzz.judge import F, Finding, Judge
from quire.fuzz.language import program as language

PROGRAM = "program.fuzz"  # in a finding's folder: the shrunk program


def folder(judge: Judge[Any], finding: Finding[Any], directory: Path) -> Path:
    """The folder of a finding."""
    return directory / f"{judge.finding}-{finding.number}"


def write(judge: Judge[F], finding: Finding[F], directory: Path) -> None:
    """Write the finding's folder: the program to replay, its original, the records, the fault."""
    where, fault = folder(judge, finding, directory), finding.fault
    where.mkdir(parents=True, exist_ok=True)
    (where / PROGRAM).write_text(language.text(finding.program, fault.notes))
    (where / "original.fuzz").write_text(language.text(finding.original))
    (where / judge.file).write_text("\n".join(fault.lines) + "\n")
    alone = len(finding.sides) == 1
    for letter, record, side in zip("ab", finding.records, finding.sides, strict=False):
        title = f"# kernel: {side}" if alone else f"# side {letter}: {side}"
        name = "record" if alone else f"{letter}.log"
        (where / name).write_text("\n".join([title, *record.lines]) + "\n")


def write_lists(judge: Judge[Any], directory: Path) -> None:
    """Write what has no folder: all that was confirmed, and programs that say nothing."""
    tally = judge.tally
    if judge.listing:
        directory.mkdir(parents=True, exist_ok=True)
        lines = (f"{n}, operation {fault.step}: {fault}\n" for n, fault in tally.confirmed)
        (directory / judge.listing).write_text("".join(lines))
    for name, programs in (("unstable", tally.unstable), ("troubled", tally.troubled)):
        for number, (ops, why) in programs.items():
            path = directory / name / f"{number}.fuzz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(language.text(ops, [why]))


def problems(judge: Judge[Any], directory: Path) -> list[str]:
    """A line per finding: where its program is, and the fault; or how many faults are listed."""
    tally, listing = judge.tally, judge.listing
    if listing and tally.confirmed and not tally.findings:
        return [f"{directory / listing}: {len(tally.confirmed)} {judge.listed}"]
    places = ((folder(judge, finding, directory), finding) for finding in tally.findings)
    return [f"{where / PROGRAM}: {finding.fault.text}" for where, finding in places]
