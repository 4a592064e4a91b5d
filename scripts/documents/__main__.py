# SPDX-License-Identifier: GPL-2.0
"""Check the figures of README, docs and cover letters against what a demo counted, or write them.

docs/results has the runs; tables.toml describes the tables of documents. That of a cover letter
names its rows: "  Linux 6.12.117  KiB", then lines such as "  swapout zero: own  64"; --write fills
it in. There may be no other "1 -> 2" in a cover letter.

  scripts/figures                                  check; exit status 1 if a figure is stale
  scripts/figures --record build/demo/quire.json   keep a run as docs/results/LINE.json
  scripts/figures --record test.json               what quire test --json printed: suites.json
  scripts/figures --record DIR                     of quire time run ARCH=um --output DIR: um-LINE
  scripts/figures --write                          render the tables and the picture again
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from documents import figures, times
from documents.figures import PICTURE, RESULTS, SUITES, Figures
from quire.host import git, project
from quire.host.errors import Difference, QuireError, UserError
from quire.report import dots


def main(argv: Sequence[str] | None = None) -> int:
    """Check, record or write, as requested; return the exit status."""
    style = argparse.RawDescriptionHelpFormatter
    part = argparse.ArgumentParser("figures", description=__doc__, formatter_class=style)
    text = "a report of quire demo or test, or of time"
    part.add_argument("--record", type=Path, metavar="JSON", help=text)
    part.add_argument("--write", action="store_true", help="write the tables and the picture")
    arguments = part.parse_args(argv)
    try:
        _run(project.find().writable(), arguments)
    except QuireError as error:
        print(error.text(), file=sys.stderr)
        return error.exit_code
    return 0


def _run(root: Path, arguments: argparse.Namespace) -> None:
    """Raise Difference if a figure is stale."""
    if arguments.record:
        _record(root, arguments.record)
    known = Figures(root)
    if arguments.write:
        for path, text, _ in known.texts():
            path.write_text(text)
        (root / RESULTS / PICTURE).write_text(known.picture())
    stale = [f"{path.relative_to(root)}: {what}" for path, _, found in known.texts()
             for what in found]  # fmt: skip
    if stale:
        raise Difference(
            "figures differ from what was counted", "\n".join(stale), "scripts/figures --write"
        )


def _record(root: Path, file: Path) -> None:
    commit = git.git(root, "rev-parse", "--short=12", "HEAD").strip()
    if file.is_dir():
        when = (file / f"{times.SIDES[0]}.json").stat().st_mtime
        times.record(root / RESULTS, file, figures.dated(commit, when))
        return
    try:
        report = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {file}", str(error), "name a file of quire demo") from error
    when = file.stat().st_mtime
    if report.get("schema") == "quire-test":
        runs = (root / SUITES).read_text()
        (root / SUITES).write_text(figures.record_suite(runs, report, commit, when))
        return
    line, text = figures.record(report, commit, when, Figures(root).lines)
    (root / RESULTS / f"{line}.json").write_text(text)
    if '"of": ' not in text:
        # The plot of all rows is of one run.
        (root / RESULTS / f"{line}.svg").write_text(dots.of_report(report, full=True))


if __name__ == "__main__":
    sys.exit(main())
