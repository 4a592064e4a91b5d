# SPDX-License-Identifier: GPL-2.0
"""The reply to a posted series: a mail for the list, with the verdict in its first three lines."""

from __future__ import annotations

import itertools
import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from quire.boot.ktap import Status
from quire.fuzz.hunt import Hunt
from quire.measure.comparison import Comparison, Row
from quire.measure.moves import Move, grown
from quire.report.steps import events
from quire.report.table import number
from quire.review.found import Found, Tested
from quire.source.base import Base

# Columns of a mail.
WIDTH = 72
# Of an architecture, so many rows; so many cases that fail; so many lines of a list or a program.
ROWS, CASES, LINES = 4, 3, 8
NOTHING = "No regression found."
SAME = "within 0.3%"
MORE = "more in the details"
# What a mail program may not show.
PLAIN = str.maketrans({"→": "->", "–": "-", "…": "...", "×": "x", "\u202f": " ", "\xa0": " "})
# Options that do not change what is found; the second ones have a value.
SILENT = {"--json", "--details", "-v", "--verbose", "-q", "--quiet"}
VALUED = {"--junit", "-j", "--jobs", "--cluster", "--tls"}


def text(found: Found, command: Sequence[str]) -> str:
    """The reply."""
    blocks = [list(_verdict(found))]
    blocks += [list(_rows(found, rows)) for rows, _ in found.parts.values()]
    blocks += [list(_tests(tested)) for tested in found.tests if tested.b.failed]
    blocks += [list(_programs(hunt)) for hunt in found.hunts if hunt.findings]
    blocks += [list(itertools.chain(_alike(found), _others(found)))]
    blocks += [[*_base(found), *_repeat(command, found.chosen.words if found.chosen else ())]]
    return "\n\n".join("\n".join(block) for block in blocks if block).translate(PLAIN)


def _verdict(found: Found) -> Iterator[str]:
    """What was found, which patch does it or what was tried, and where."""
    problems = [fit(problem) for problem in _problems(found)]
    yield problems[0] if problems else _unmeasured(found) or NOTHING
    yield problems[1] if len(problems) > 1 else fit(f"Series: {series(found)}")
    titles = dict.fromkeys(
        [rows.arch.title for rows, _ in found.parts.values()]
        + [tested.b.kernel.arch.title for tested in found.tests]
    )
    where = ", ".join([f"On Linux {found.sides.base.version}", *titles])
    yield fit(f"{where}: {_amount(found)}.")


def _unmeasured(found: Found) -> str:
    """The verdict if nothing measures what the series changes."""
    concerned = found.concerned
    if concerned.rows or concerned.cases or concerned.programs:
        return ""
    first, *rest = concerned.unmeasured or ("what this series changes",)
    also = f" and {plural(len(rest), 'other file')}" if rest else ""
    return fit(f"Nothing here measures {first}{also}.")


def _amount(found: Found) -> str:
    counts = {
        "benchmark": sum(len(rows.rows) for rows, _ in found.parts.values()),
        "test": sum(tested.b.count(Status.PASS, Status.FAIL) for tested in found.tests),
        "program": sum(hunt.judges[0].tally.programs for hunt in found.hunts),
    }
    return ", ".join(plural(n, word) for word, n in counts.items() if n) or "both sides build"


def _problems(found: Found) -> Iterator[str]:
    """The worst first."""
    for loss in found.losses:
        if loss.blamed:
            title = loss.kernel.arch.title
            yield f"Regression: the guest is lost in {loss.what} ({title}): {loss.why}"
    for tested in found.tests:
        if failed := tested.b.failed:
            also = f" and {plural(len(failed) - 1, 'other')}" if failed[1:] else ""
            yield f"Regression: {failed[0].name}{also} fail{'' if also else 's'}" + _on(tested)
    for wrong in found.wrong:
        title = wrong.outcome.kernel.arch.title
        yield f"Regression: benchmark {wrong.row} fails ({title}): {wrong.what}"
    for hunt in found.hunts:
        for one in hunt.findings[:1]:
            yield f"Regression: a generated program differs: {one.fault.text}"
    for rows, _ in found.parts.values():
        yield from _costs(found, rows)


def _on(tested: Tested) -> str:
    return f" ({tested.b.kernel.arch.title})."


def _costs(found: Found, rows: Comparison) -> Iterator[str]:
    more = [row for row in rows.rows if found.costs_more(row)]
    if not more:
        return
    row, also = more[0], f", as do {plural(len(more) - 1, 'other')}" if more[1:] else ""
    share = Move(0, row.a, row.b).share
    what = f"takes {share:.1%} more instructions"
    if share <= found.limit:
        what = f"makes more calls: {row.excess[0].what}"
    yield f"Regression: {row.title} {what} ({rows.arch.title}){also}."
    culprits = [
        (cell, one) for (arch, cell), one in found.culprits.items() if arch == rows.arch.name
    ]
    for cell, one in culprits:
        if cell.label == row.cell.label:
            yield f"By {one.name}: {one.subject}"


def series(found: Found) -> str:
    """The series in words."""
    sides = found.sides
    if sides.b.origin != sides.a.origin:
        return f"{sides.b.label} on {sides.a.label}"
    first, *rest = [patch.subject() for patch in sides.series.patches]
    return f"{first} (+ {plural(len(rest), 'patch')})" if rest else first


def _rows(found: Found, rows: Comparison) -> Iterator[str]:
    """A table of the rows that moved, those that cost more first, and the names of the others."""
    moved = [row for row in rows.rows if Move(0, row.a, row.b).moved or row.excess]
    moved.sort(key=lambda row: not found.costs_more(row))
    if moved:
        yield f"{rows.arch.title}, instructions per 4 KiB page:"
        yield f"  {'':<40}{'before':>9}{'after':>9}{'change':>9}"
        for row in moved[:ROWS]:
            yield from _row(found, rows.arch.name, row)
        if moved[ROWS:]:
            yield f"  and {len(moved[ROWS:])} {MORE}"
    still = [row.title for row in rows.rows if row not in moved]
    if still:
        yield from _listed(f"  {SAME}: " if moved else f"{rows.arch.title}, {SAME}: ", still)


def _row(found: Found, arch: str, row: Row) -> Iterator[str]:
    move, unit = Move(0, row.a, row.b), row.cell.workload.unit
    name = row.title if unit == "page" else f"{row.title} (per {unit})"
    figures = (number(row.a.insns), number(row.b.insns), f"{move.share:+.1%}")
    yield f"  {name:<40}" + "".join(f"{text:>9}" for text in figures)
    if culprit := found.culprits.get((arch, row.cell)):
        yield fit(f"    by {culprit.name}: {culprit.subject}")
    for calls in row.excess:
        yield fit(f"    more calls: {calls.what}")
    if move.share > found.limit:
        lines = grown(row)[:2]
        said = (f"{line.symbol} {number(line.a.insns)} -> {number(line.b.insns)}" for line in lines)
        yield fit(f"    {', '.join(said)}")
    elif abs(move.share) <= 0.003 and move.events:
        yield fit(f"    {'; '.join(events(move))}")


def _tests(tested: Tested) -> Iterator[str]:
    """The cases that fail with the series alone."""
    failed = tested.b.failed
    what = f"{plural(len(failed), 'test')} that pass without the series and fail with it"
    yield f"{tested.b.kernel.arch.title}, {what}:"
    for case in failed[:CASES]:
        yield fit(f"  {case.name} {case.reason}".rstrip())
        yield from (fit(f"    {line}") for line in case.diagnostics[:1])
    if failed[CASES:]:
        yield f"  and {len(failed[CASES:])} {MORE}"


def _programs(hunt: Hunt) -> Iterator[str]:
    """The first finding, with its shrunk program."""
    first, *rest = hunt.findings
    yield from wrap(f"{hunt.targets.arch.title}, a generated program: {first.fault.text}")
    yield from (fit(f"  {op.text()}") for op in first.program[:LINES])
    if rest or first.program[LINES:]:
        yield f"  and {MORE}"


def _alike(found: Found) -> Iterator[str]:
    """What shows no difference."""
    for tested in found.tests:
        title, only = tested.b.kernel.arch.title, tested.skipped
        if not tested.b.failed:
            passed = plural(tested.b.count(Status.PASS), "test")
            skipped = f", {len(only)} skipped with the series only" if only else ""
            yield from wrap(f"{title}: {passed} with the same result on both sides{skipped}.")
    for hunt in found.hunts:
        if not hunt.findings and (count := hunt.judges[0].tally.programs):
            costs = " and costs" if hunt.judges[1:] else ""
            programs = plural(count, "generated program")
            yield from wrap(f"{hunt.targets.arch.title}: {programs}, with the same state{costs}.")


def _others(found: Found) -> Iterator[str]:
    """What nothing measures, lost guests, rows that fail, and what was not done."""
    if unmeasured := found.concerned.unmeasured:
        yield from _listed("Nothing here measures ", unmeasured)
    if nearest := found.concerned.nearest:
        yield from wrap(f"The nearest benchmarks: quire bench {' '.join(nearest)}.")
    for loss in found.losses:
        yield from wrap(loss.text()) if any(loss.b) else ()
    for wrong in found.wrong:
        title = wrong.outcome.kernel.arch.title
        yield from wrap(f"{title}, benchmark {wrong.row}, with the series only: {wrong.what}")
    if found.left:
        yield from _listed("Not done: ", found.left)


def _base(found: Found) -> list[str]:
    why = f", {found.chosen.why}" if found.chosen else ""
    return wrap(f"Base: {origin(found.sides.a.origin)}{why}.")


def origin(base: Base) -> str:
    """A base as other people know it: no path of this machine."""
    kind, _, value = base.hash.partition(":")
    if base.origin.startswith("Debian"):
        return f"Linux {base.version} ({base.origin})"
    if kind == "git":
        name = base.origin.split()[-1]
        named = "" if value.startswith(name) else f"git {name}, "
        return f"Linux {base.version} ({named}commit {value[:12]})"
    return f"Linux {base.version} (a source tree, {kind} {value[:16]})"


def _repeat(command: Sequence[str], base: Sequence[str]) -> Iterator[str]:
    """The command, with the base that was chosen, in lines that a shell joins."""
    if "--git" in command and "--git" in base:
        base = base[2:]
    words = [shlex.quote(word) for word in portable([*command, *base])]
    yield "To repeat this:"
    lines = textwrap.wrap(" ".join(["quire", *words]), WIDTH - 6, break_long_words=False)
    for at, line in enumerate(lines):
        yield ("  " if not at else "    ") + line + (" \\" if at + 1 < len(lines) else "")


def portable(command: Sequence[str]) -> Iterator[str]:
    """The words that matter, without directories of this machine."""
    value = False
    for word in command:
        name, sign, path = word.partition("=")
        if value or name in SILENT | VALUED or re.match(r"O=|-j\d", word):
            value = not value and name in VALUED and not sign
        elif sign and Path(path).is_absolute():
            yield f"{name}={Path(path).name}"
        else:
            yield Path(word).name if Path(word).is_absolute() else word


def _listed(head: str, names: Sequence[str]) -> list[str]:
    """Names in lines that fit, and how many are left out."""
    shown = list(names)
    while len(lines := wrap(_sentence(head, names, shown))) > LINES // 2:
        shown.pop()
    return lines


def _sentence(head: str, names: Sequence[str], shown: Sequence[str]) -> str:
    more = len(names) - len(shown)
    return f"{head}{', '.join(shown)}{f' and {more} more' if more else ''}"


def plural(count: int, word: str) -> str:
    """A number of things."""
    many = f"{word}es" if word.endswith("ch") else f"{word}s"
    return f"{count} {word if count == 1 else many}"


def fit(line: str) -> str:
    """One line, cut off if it is too long."""
    indent = line[: len(line) - len(line.lstrip())]
    line = line.translate(PLAIN)
    return indent + textwrap.shorten(line, WIDTH - len(indent), placeholder=" ...")


def wrap(text: str) -> list[str]:
    """A sentence in lines that fit a mail."""
    text = text.translate(PLAIN)
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, WIDTH, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
