# SPDX-License-Identifier: GPL-2.0
"""Times of user-mode Linux beside what was counted: docs/results/um-LINE, as `quire time` wrote it.

A row inside of its kernel, NAME:kernel, is one with the row NAME.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from quire.report.table import UNKNOWN, written
from quire.report.timing import KERNEL, SYNC
from quire.source.version import parse
from quire.timing import compare, document
from quire.timing.compare import Interval, Verdict
from quire.timing.document import Timing

SIDES = ("stock", "patched")
ARCHITECTURE, NS = "um", "ns"
NOT_SIGNIFICANT = "n.s."
# The architecture whose counts are shown beside the times.
COUNTED = "x86_64"


def folder(results: Path, line: str) -> Path:
    """Where the times of a line are."""
    return results / f"{ARCHITECTURE}-{line}"


def read(where: Path) -> tuple[Timing, Timing]:
    """Both sides of a folder. UserError if they are not there, or do not compare."""
    a, b = (document.read(where / f"{side}.json") for side in SIDES)
    compare.require(a, b)
    return a, b


def record(results: Path, where: Path, of: Mapping[str, str]) -> None:
    """Keep a run in docs/results, with `of` in each row.

    Rows that the run lacks stay, unless another program timed them.
    """
    new = read(where)
    kept = folder(results, parse(new[0].release).line)
    kept.mkdir(exist_ok=True)
    for side, timing in zip(SIDES, new, strict=True):
        rows = {row["name"]: {**row, **of} for row in timing.data["rows"]}
        file = kept / f"{side}.json"
        if file.exists() and (old := document.read(file)).build == timing.build:
            rows = {row["name"]: row for row in old.data["rows"]} | rows
        document.write(replace(timing, data={**timing.data, "rows": list(rows.values())}), file)


def rows(results: Path, line: str, only: Sequence[str]) -> Iterator[dict[str, str]]:
    """The cells of the line's rows that `only`, patterns, names, by the words of a table."""
    if not folder(results, line).is_dir():
        return
    a, b = read(folder(results, line))
    verdicts = {verdict.row.name: verdict for verdict in compare.compare(a, b)}
    in_step = [{row.name: row.counters.get(SYNC) for row in timing.rows} for timing in (a, b)]
    for known, whole in verdicts.items():
        name = called(whole)
        if known.endswith(KERNEL) or not any(fnmatchcase(name, pattern) for pattern in only):
            continue
        inside = verdicts.get(known + KERNEL, whole)
        sync = " → ".join(_number(side[known]) for side in in_step)
        words = {"line": line, "benchmark": name, "mappings, ns": sync}
        yield words | _cells("kernel", inside) | _cells("all", whole)


def row(results: Path, line: str, name: str) -> dict[str, dict[str, float]] | None:
    """Medians inside of the kernel of both sides, of the row called `name`; None without times."""
    verdict = _inside(results, line).get(name)
    if not verdict or not verdict.a or not verdict.b:
        return None
    return {"a": {NS: verdict.a.median}, "b": {NS: verdict.b.median}}


def told(results: Path, line: str) -> dict[str, str]:
    """The ratios of the same by the rows' names; n.s. where they are not significant."""
    found = {}
    for name, verdict in _inside(results, line).items():
        known = verdict.verdict != compare.NOT_SIGNIFICANT and verdict.ratio
        found[name] = f"{known.median:.3g}×" if known else NOT_SIGNIFICANT
    return found


def _inside(results: Path, line: str) -> dict[str, Verdict]:
    """By the rows' names, what is said of the times inside of the kernel."""
    if not folder(results, line).is_dir():
        return {}
    verdicts = compare.compare(*read(folder(results, line)))
    return {called(each): each for each in verdicts if each.row.name.endswith(KERNEL)}


def called(verdict: Verdict) -> str:
    """The row's name in a report of `quire bench`: workload, parameters, size of the folios."""
    workload, *words = verdict.row.words.split()
    given = dict(word.split("=", 1) for word in words)
    size = given.pop("size", "")
    return " ".join(filter(None, [workload, *given.values(), size]))


def _cells(of: str, verdict: Verdict) -> dict[str, str]:
    """Both medians, the ratio with its interval, and the verdict."""
    times, ratio = UNKNOWN, UNKNOWN
    if verdict.a and verdict.b and verdict.ratio:
        times = " → ".join(_number(side.median) for side in (verdict.a, verdict.b))
        ratio = _ratio(verdict.ratio)
    word = NOT_SIGNIFICANT if verdict.verdict == compare.NOT_SIGNIFICANT else verdict.verdict
    word += f" ({verdict.why})" if verdict.why else ""
    return {f"{of}, ns": times, f"{of}, ratio": ratio, of: word}


def _ratio(ratio: Interval) -> str:
    return f"{ratio.median:.3g}× [{ratio.low:.3g}, {ratio.high:.3g}]"


def _number(value: Any) -> str:
    return written(value) if isinstance(value, float | int) else UNKNOWN
