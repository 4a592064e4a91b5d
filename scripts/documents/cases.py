# SPDX-License-Identifier: GPL-2.0
"""The tables of test cases by patch: what fails without a patch, or with a bug in it.

docs/results/cases.json has the patch of each seeded bug (scripts/record-cases), and expected.toml
what stock fails, with the patches that fix it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from quire.report.table import UNKNOWN
from quire.source import series
from quire.suites import expected, seeded

FILE = Path("docs/results/cases.json")
# A seeded bug in code of the base.
BASE = ""
# The folio size, or the pattern for it, at the end of a case's name.
_SIZE = re.compile(r"-(\*|\d+k)$")


def rows(root: Path, line: str) -> Iterator[list[str]]:
    """Yield a row for each patch of a line: the patch, cases on stock, cases with a bug, bugs."""
    folder = root / f"patches/linux-{line}.y"
    stock = _on_stock(root / f"lines/{line}/expected.toml")
    bugs, cases = _with_bugs(root, line)
    for patch in series.read(folder / "series").patches:
        name, where = patch.unnumbered, f"../../patches/linux-{line}.y/{patch.name}"
        label = re.sub(r"(/\d+)-.*", r"\1", patch.name)
        shown = f"[`{label}`]({where}) {patch.subject()}".replace("|", "\\|")
        yield [shown, _listed(stock[name]), _listed(cases[name]), str(bugs[name] or UNKNOWN)]
    yield ["code that the series does not change", UNKNOWN, _listed(cases[BASE]), str(bugs[BASE])]


def _on_stock(file: Path) -> dict[str, set[str]]:
    """The cases that fail on stock, by the patch that fixes them."""
    found: dict[str, set[str]] = defaultdict(set)
    for entry in expected.read(file):
        for patch in entry.fixed_by:
            found[patch].update(entry.cases)
    return found


def _with_bugs(root: Path, line: str) -> tuple[dict[str, int], dict[str, set[str]]]:
    """How many seeded bugs a patch has, and the cases that fail with one of them."""
    folder = root / f"lines/{line}/seeded"
    patches = json.loads((root / FILE).read_text())[line]
    numbers: dict[str, int] = defaultdict(int)
    cases: dict[str, set[str]] = defaultdict(set)
    for bug in seeded.read(folder):
        for patch in patches[bug.name] or [BASE]:
            numbers[patch] += 1
            cases[patch].update(bug.cases)
    for proof in seeded.proofs(folder):
        for patch in patches[proof.bug] or [BASE]:
            cases[patch].update(proof.cases)
    return numbers, cases


def _listed(cases: Iterable[str]) -> str:
    """Cases by suite, without folio sizes."""
    suites: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        suite, _, name = _SIZE.sub("", case).partition(".")
        suites[suite].add(name)
    texts = (f"{suite}: {', '.join(sorted(suites[suite]))}" for suite in sorted(suites))
    return "; ".join(texts).replace("*", "\\*") or UNKNOWN
