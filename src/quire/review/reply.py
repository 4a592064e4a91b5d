# SPDX-License-Identifier: GPL-2.0
"""Write the reply to a posted series: a mail for the list, with the verdict in three lines."""

from __future__ import annotations

import itertools
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from quire.boot.ktap import Status
from quire.fuzz import report as fuzz_report
from quire.fuzz.hunt import Hunt
from quire.measure.comparison import BenchmarkResult, Comparison, Move, grown
from quire.report import counted
from quire.report.table import number
from quire.report.waterfall import events
from quire.report.waterfall import name as row_name
from quire.review import details
from quire.review.found import Found, Tested
from quire.review.verdict import PLAIN, WIDTH, expenses, fit, listed, plural, states, verdict, wrap
from quire.source.base import Base
from quire.suites import outcome

# Maximum benchmarks per architecture, failed cases, and lines of a list or a program.
ROWS, CASES, LINES = 4, 3, 8
SAME = "within 0.3%"
MORE = "more with --details"
# Options that do not affect the findings; the second group takes values.
SILENT = {"--json", "--details", "-v", "--verbose", "-q", "--quiet"}
VALUED = {"--junit", "-j", "--jobs", "--cluster", "--tls"}


def text(found: Found, command: Sequence[str]) -> str:
    """The reply."""
    blocks = [list(verdict(found))]
    blocks += [list(_rows(found, rows)) for rows, _ in found.parts.values()]
    blocks += [list(_tests(tested)) for tested in found.tests if tested.b.failed]
    for hunt in found.hunts:
        # For costs, benchmarks are more informative than programs.
        shown = bool(hunt.judges[0].tally.findings) or not any(map(found.expensive, found.parts))
        blocks += [list(_programs(hunt, shown=shown))] if hunt.findings else []
    blocks += [list(itertools.chain(_alike(found), _others(found)))]
    repeat = _repeat(command, found.chosen.words if found.chosen else ())
    blocks += [[*_base(found), *_counted(found), *repeat]]
    return "\n\n".join("\n".join(block) for block in blocks if block).translate(PLAIN)


def _rows(found: Found, rows: Comparison) -> Iterator[str]:
    """A table of changed benchmarks, more expensive ones first, and the names of the others."""
    moved = found.moved(rows.arch.name)
    if moved:
        yield f"{rows.arch.title}, instructions per 4 KiB page:"
        yield f"  {'':<40}{'before':>9}{'after':>9}{'change':>9}"
        shown = notable(moved)
        yield from _unique(itertools.chain(*(_row(found, rows.arch.name, r) for r in shown)))
        if more := len(moved) - len(shown):
            yield f"  {more} {MORE}"
    still = [row.title for row in rows.rows if row not in moved]
    if still:
        yield from listed(f"  {SAME}: " if moved else f"{rows.arch.title}, {SAME}: ", still)


def notable(moved: Sequence[BenchmarkResult]) -> list[BenchmarkResult]:
    """Return the first benchmarks and the largest gain: a cost is judged by what it buys."""
    shown = list(moved[:ROWS])
    best = min(moved, key=_share)
    if best not in shown and _share(best) < 0:
        shown[-1] = best
    return shown


def _share(row: BenchmarkResult) -> float:
    return Move(0, row.a, row.b).share


def _unique(lines: Iterable[str]) -> Iterator[str]:
    """The lines below benchmarks, without repetition: several may share a reason."""
    seen = set[str]()
    for line in lines:
        if not (line.startswith("    ") and line in seen):
            yield line
        seen.add(line)


def _row(found: Found, arch: str, row: BenchmarkResult) -> Iterator[str]:
    move, unit = Move(0, row.a, row.b), row.benchmark.workload.unit
    name = row.title if unit == "page" else f"{row.title} (per {unit})"
    figures = (number(row.a.insns), number(row.b.insns), f"{move.share:+.1%}")
    yield f"  {name:<40}" + "".join(f"{text:>9}" for text in figures)
    if row.null:
        yield fit(f"    {row.null.text} ({plural(row.null.kernels, 'kernel')})")
    if culprit := found.culprits.get((arch, row.benchmark)):
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
    """The cases that fail only with the series."""
    failed = tested.b.failed
    what = f"{plural(len(failed), 'test')} failing with the series and passing without it"
    yield f"{tested.b.kernel.arch.title}, {what}:"
    for case in failed[:CASES]:
        yield fit(f"  {case.name} {case.reason}".rstrip())
        # Without the line of the guest's source that checks.
        said = (re.sub(r"^\S+\.c:\d+: ", "", line) for line in case.diagnostics[:1])
        yield from (fit(f"    {line}") for line in said)
    if failed[CASES:]:
        yield f"  {len(failed[CASES:])} {MORE}"


def _programs(hunt: Hunt, *, shown: bool) -> Iterator[str]:
    """Findings of programs, and the first program, minimised, if it is informative."""
    lines = [*states(hunt), *expenses(hunt)]
    first, title = hunt.findings[0], hunt.targets.arch.title
    yield from wrap(f"{title}: {lines[0].replace(f' ({title})', '')}")
    if shown:
        yield from (fit(f"  {op.text()}") for op in first.program[:LINES])
    if lines[1:] or not shown or first.program[LINES:]:
        yield f"  {MORE}"


def _alike(found: Found) -> Iterator[str]:
    """Everything without a difference."""
    for tested in found.tests:
        title, only = tested.b.kernel.arch.title, tested.skipped
        if not tested.b.failed:
            passed = plural(tested.b.count(Status.PASS), "test")
            skipped = f", {len(only)} skipped only with the series" if only else ""
            yield from wrap(
                f"{title}: {passed} pass{'es' if passed.startswith('1 ') else ''}{skipped}."
            )
    for hunt in found.hunts:
        if not hunt.findings and (count := hunt.judges[0].tally.programs):
            costs = " and cost" if hunt.judges[1:] else ""
            programs = plural(count, "generated program")
            yield from wrap(f"{hunt.targets.arch.title}: {programs}, no change in state{costs}.")


def _others(found: Found) -> Iterator[str]:
    """Unmeasured files and functions, lost guests, failed benchmarks, and work not done."""
    unmeasured = found.concerned.unmeasured
    # If nothing measures any part of the series, the verdict says so.
    if unmeasured[1:] or (unmeasured and not found.concerned.nothing):
        yield from listed("No benchmark covers ", unmeasured)
    if not_run := found.not_run:
        yield from listed("No counted benchmark runs ", [f"{name}()" for name in not_run], 2)
    if nearest := found.concerned.nearest:
        yield from wrap(f"The nearest benchmarks: quire bench {' '.join(nearest)}.")
    for loss in found.losses:
        yield from wrap(loss.text()) if any(loss.b) else ()
    for wrong in found.wrong:
        title = wrong.outcome.kernel.arch.title
        yield from wrap(f"{title}, benchmark {wrong.row}, only with the series: {wrong.what}")
    for arch, names in _left(found).items():
        yield from listed(f"Not done on {arch}: ", names)


def _left(found: Found) -> dict[str, list[str]]:
    """Work not done, by architecture."""
    by_arch: dict[str, list[str]] = {}
    for left in found.left:
        arch, _, name = left.partition(": ")
        by_arch.setdefault(arch, []).append(name)
    return by_arch


def _base(found: Found) -> list[str]:
    chosen = found.chosen
    why = f", {chosen.why}" if chosen and chosen.why else ""
    lines = wrap(f"Base: {origin(found.sides.a.origin)}{why}.")
    if chosen and chosen.merged:
        lines += listed("Merged by git apply -3: ", chosen.merged)
    return lines


def _counted(found: Found) -> list[str]:
    """How benchmarks were counted, for readers who do not have Quire."""
    fragments = [path.name for _, counted in found.parts.values() for path in counted.fragments]
    configuration = ", ".join(dict.fromkeys(fragments))
    how = "Kernel instructions, counted in QEMU with one virtual CPU (-icount); not time."
    return wrap(f"{how} Configuration: {configuration} of Quire.") if fragments else []


def origin(base: Base) -> str:
    """A publicly meaningful name of a base: no local paths."""
    kind, _, value = base.hash.partition(":")
    if base.origin.startswith("Debian"):
        return f"Linux {base.version} ({base.origin})"
    if kind == "git":
        name = base.origin.split()[-1]
        named = "" if value.startswith(name) else f"git {name}, "
        return f"Linux {base.version} ({named}commit {value[:12]})"
    return f"Linux {base.version} (a source tree, {kind} {value[:16]})"


def _repeat(command: Sequence[str], base: Sequence[str]) -> Iterator[str]:
    """The command with the chosen base, wrapped with backslashes."""
    if "--git" in command and "--git" in base:
        base = base[2:]
    words = [shlex.quote(word) for word in portable([*command, *base])]
    yield "To repeat this:"
    # Keep an option and its value on one line.
    text = re.sub(r"(--\w+) (?!-)", "\\1\0", " ".join(["quire", *words]))
    lines = textwrap.wrap(text, WIDTH - 6, break_long_words=False, break_on_hyphens=False)
    for at, line in enumerate(lines):
        end = " \\" if at + 1 < len(lines) else ""
        yield ("    " if at else "  ") + line.replace("\0", " ") + end


def portable(command: Sequence[str]) -> Iterator[str]:
    """The relevant words, without local directories."""
    value = False
    for word in command:
        name, sign, path = word.partition("=")
        if value or name in SILENT | VALUED or re.match(r"O=|-j\d", word):
            value = not value and name in VALUED and not sign
        elif sign and Path(path).is_absolute():
            yield f"{name}={Path(path).name}"
        else:
            yield Path(word).name if Path(word).is_absolute() else word


def document(found: Found, command: Sequence[str]) -> dict[str, Any]:
    """Return all findings as JSON."""
    return {
        "bench": counted.report(command, found.sides, [*found.parts.values()]),
        "tests": [outcome.as_json(one) for one in found.outcomes() if one.cases or one.lost],
        "fuzz": [fuzz_report.figures(hunt) for hunt in found.hunts],
        "losses": [{"text": loss.text(), "blamed": loss.blamed} for loss in found.losses],
        "culprits": [
            {"architecture": arch, "row": row_name(benchmark), **asdict(culprit)}
            for (arch, benchmark), culprit in found.culprits.items()
        ],
        "not_measured": found.concerned.unmeasured,
        "nearest": found.concerned.nearest,
        "left": found.left,
        "reply": text(found, command[1:]),
        "details": details.text(found),
    }
