# SPDX-License-Identifier: GPL-2.0
"""Write the reply to a posted series: a mail for the list, with the verdict in three lines."""

import itertools
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from quire.boot.ktap import Status
from quire.fuzz import show as fuzz_show
from quire.fuzz.hunt import Hunt
from quire.host.cache import sha256
from quire.measure.bench import Provenance
from quire.measure.comparison import BenchmarkResult, Comparison, Move, grown
from quire.report import counted
from quire.report.table import number
from quire.report.waterfall import events
from quire.review.found import Found, Tested
from quire.review.verdict import PLAIN, WIDTH, expenses, fit, listed, plural, states, verdict, wrap
from quire.source.base import Base
from quire.suites import outcome
from quire.suites.outcome import SKIPPED

# Maximum benchmarks per architecture, failed cases, and lines of a list or a program.
ROWS, CASES, LINES = 4, 3, 8
SAME = "within 0.3%"
MORE = "more with --details"
# Options that do not affect the findings; the second group takes values.
SILENT = {"--json", "--details", "-v", "--verbose", "-q", "--quiet"}
VALUED = {"--junit", "-j", "--jobs", "--cluster", "--tls"}


def text(found: Found, command: Sequence[str]) -> str:
    """Return the reply."""
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
    still = [row.benchmark.heading for row in rows.rows if row not in moved]
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
    name = row.benchmark.heading if unit == "page" else f"{row.benchmark.heading} (per {unit})"
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
    by_arch: dict[str, list[str]] = {}
    for left in found.left:
        arch, _, name = left.partition(": ")
        by_arch.setdefault(arch, []).append(name)
    for arch, names in by_arch.items():
        yield from listed(f"Not done on {arch}: ", names)


def _base(found: Found) -> list[str]:
    chosen = found.chosen
    why = f", {chosen.why}" if chosen and chosen.why else ""
    lines = wrap(f"Base: {origin(found.sides.a.origin)}{why}.")
    if chosen and chosen.merged:
        lines += listed("Merged by git apply -3: ", chosen.merged)
    return lines


def _counted(found: Found) -> list[str]:
    """How benchmarks were counted, for readers who do not have Quire."""
    parts = (provenance for _, provenance in found.parts.values())
    fragments = [path.name for provenance in parts for path in provenance.fragments]
    configuration = ", ".join(dict.fromkeys(fragments))
    how = "Kernel instructions, counted in QEMU with one virtual CPU (-icount); not time."
    return wrap(f"{how} Configuration: {configuration} of Quire.") if fragments else []


def origin(base: Base) -> str:
    """Return a publicly meaningful name of a base: no local paths."""
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
    """Yield the relevant words, without local directories."""
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
        "fuzz": [fuzz_show.figures(hunt) for hunt in found.hunts],
        "losses": [{"text": loss.text(), "blamed": loss.blamed} for loss in found.losses],
        "culprits": [
            {"architecture": arch, "row": benchmark.heading, **asdict(culprit)}
            for (arch, benchmark), culprit in found.culprits.items()
        ],
        "not_measured": found.concerned.unmeasured,
        "nearest": found.concerned.nearest,
        "left": found.left,
        "reply": text(found, command[1:]),
        "details": details(found),
    }


# Maximum lines of a program or of a case's output.
DETAILS = 12


def details(found: Found) -> str:
    """Return all details."""
    a, b = found.sides.both
    lines = [f"Side A: {a.about}", f"Side B: {b.about}"]
    lines += [f"  {patch.subject()}" for patch in found.sides.series.patches]
    for rows, provenance in found.parts.values():
        lines += ["", *_all_rows(rows, provenance)]
    for (arch, benchmark), one in found.culprits.items():
        change = f"{number(one.before)} → {number(one.after)}"
        lines += [f"  {arch}, {benchmark.heading}: {change} by {one.name}: {one.subject}"]
    for tested in found.tests:
        lines += ["", *_all_cases(tested)]
    for hunt in found.hunts:
        lines += ["", *_all_programs(hunt)]
    for loss in found.losses:
        lines += ["", loss.text()]
        lost = next(lost for lost in (*loss.b, *loss.a) if lost)
        lines += [f"  {line}" for line in lost.text().splitlines()]
    lines += ["", "Left out:", *(f"  {note}" for note in found.notes)] if found.notes else []
    return "\n".join(lines)


def _all_rows(rows: Comparison, provenance: Provenance) -> Iterator[str]:
    """How benchmarks were counted, and all results."""
    kernel, names = provenance.b.kernel, ", ".join(path.name for path in provenance.fragments)
    yield f"{rows.arch.title}: one virtual CPU of QEMU {provenance.b.plugin.qemu}"
    yield f"  {kernel.toolchain.version}; allnoconfig with {names}"
    yield f"  (.config: sha256 {sha256(kernel.config)[:16]})"
    yield "  Each line is a benchmark, guest/workloads/NAME.c, with its folio size."
    for row in rows.rows:
        move = Move(0, row.a, row.b)
        figures = (number(row.a.insns), number(row.b.insns), f"{move.share:+.1%}")
        yield f"  {row.benchmark.heading:<36}" + "".join(f"{text:>10}" for text in figures)
        if move.events:
            yield f"    {'; '.join(events(move))}"
        if row.null:
            yield f"    {row.null.text}"
        if said := [f"{g.symbol} {number(g.a.insns)} → {number(g.b.insns)}" for g in grown(row)]:
            yield f"    more in: {', '.join(said[:DETAILS])}"


def _all_cases(tested: Tested) -> Iterator[str]:
    """Case counts, reasons for skips, and the output of failed cases."""
    for one, words in ((tested.a, "without"), (tested.b, "with")):
        yield f"{one.kernel.arch.title}, tests {words} the series: {one.counts()}"
    skips = (case for case in tested.b.cases if case.status in SKIPPED)
    yield from (f"  skipped: {reason}" for reason in dict.fromkeys(case.reason for case in skips))
    both = [case.name for case in tested.b.cases if case.status is Status.EXPECTED]
    yield from wrap(f"  fail on both sides: {', '.join(both)}") if both else ()
    for case in tested.b.failed:
        yield f"  FAIL {case.name} {case.reason}".rstrip()
        yield from (f"    {line}" for line in case.diagnostics[-DETAILS:])
    yield f"  whole log: {tested.b.logs}"


def _all_programs(hunt: Hunt) -> Iterator[str]:
    """Findings of generated programs, each with its minimised program."""
    for judge in hunt.judges:
        summary = judge.summary(hunt.targets, hunt.seconds)
        findings = judge.tally.findings
        yield from wrap(f"Generated programs, {summary}{plural(len(findings), 'finding')}")
        for found in findings:
            yield f"  {judge.finding} {found.number}: {found.fault.text}"
            yield from (f"    {op.text()}" for op in found.program)
    yield from itertools.chain(f"  {line}" for line in hunt.problems)
