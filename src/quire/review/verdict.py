# SPDX-License-Identifier: GPL-2.0
"""Write the first three lines of a reply: the finding, the responsible patch, what was tried."""

import itertools
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from quire.boot.ktap import Status
from quire.fuzz.cost.growth import INSNS, Growth
from quire.fuzz.hunt import Hunt
from quire.measure.comparison import Comparison, Move
from quire.review.found import Found

NOTHING, UNMEASURED = "No regression found.", "Nothing was measured."


def verdict(found: Found) -> Iterator[str]:
    """Return the finding, the responsible patch or what was tried, and where."""
    problems = [fit(problem) for problem in _problems(found)]
    yield problems[0] if problems else _unmeasured(found) or NOTHING
    sides, count = found.sides, len(found.sides.series.patches) - 1
    # The number of patches after the first one, unless the series is a branch.
    several = count and sides.b.origin == sides.a.origin
    further = f" (+ {plural(count, 'patch')})" if several else ""
    yield problems[1] if len(problems) > 1 else fit(f"Series: {series(found)}", further)
    titles = dict.fromkeys(
        [rows.arch.title for rows, _ in found.parts.values()]
        + [tested.b.kernel.arch.title for tested in found.tests]
    )
    where = ", ".join([f"On Linux {found.sides.base.version}", *titles])
    built = "both sides build" if found.built else "not built in the time given"
    done = ", ".join(plural(n, word) for word, n in _amounts(found).items() if n) or built
    yield fit(f"{where}: {done}.")


def _unmeasured(found: Found) -> str:
    """The verdict if no benchmark covers what the series changes."""
    concerned = found.concerned
    if not concerned.nothing:
        return "" if any(_amounts(found).values()) else UNMEASURED
    first, *rest = concerned.unmeasured or ("what this series changes",)
    also = f" and {plural(len(rest), 'other file')}" if rest else ""
    return fit(f"No benchmark covers {first}{also}.")


def _amounts(found: Found) -> dict[str, int]:
    return {
        "benchmark": sum(len(rows.rows) for rows, _ in found.parts.values()),
        "test": sum(tested.b.count(Status.PASS, Status.FAIL) for tested in found.tests),
        "program": sum(hunt.judges[0].tally.programs for hunt in found.hunts),
    }


def _problems(found: Found) -> Iterator[str]:
    """The regressions, the worst first."""
    for loss in filter(lambda loss: loss.blamed, found.losses):
        title = loss.kernel.arch.title
        yield f"Regression: the guest is lost in {loss.what} ({title}): {loss.why}"
    for tested in found.tests:
        if failed := tested.b.failed:
            also = f" and {plural(len(failed) - 1, 'other')} fail" if failed[1:] else " fails"
            yield f"Regression: {failed[0].name}{also} ({tested.b.kernel.arch.title})."
    for wrong in found.wrong:
        title = wrong.outcome.kernel.arch.title
        yield f"Regression: benchmark {wrong.row} fails ({title}): {wrong.what}"
    yield from _first(states(hunt) for hunt in found.hunts)
    for rows, _ in found.parts.values():
        yield from _costs(found, rows)
    yield from _first(expenses(hunt) for hunt in found.hunts)


def _first(each: Iterable[Iterator[str]]) -> Iterator[str]:
    for lines in each:
        yield from (f"Regression: {line}" for line in itertools.islice(lines, 1))


def _costs(found: Found, rows: Comparison) -> Iterator[str]:
    more = [row for row in rows.rows if found.costs_more(row)]
    if not more:
        return
    row = more[0]
    share = Move(0, row.a, row.b).share
    what = f"takes {share:.1%} more instructions"
    if share <= found.limit:
        what = f"makes more calls: {row.excess[0].what}"
    yield f"Regression: {row.benchmark.heading} {what} ({rows.arch.title})."
    for (arch, benchmark), one in found.culprits.items():
        if (arch, benchmark.label) == (rows.arch.name, row.benchmark.label):
            yield f"By {one.name}: {one.subject}"


def states(hunt: Hunt) -> Iterator[str]:
    """Yield the programs whose state differs."""
    title = hunt.targets.arch.title
    for finding in hunt.judges[0].tally.findings:
        yield f"a generated program behaves differently ({title}): {finding.fault.text}"


def expenses(hunt: Hunt) -> Iterator[str]:
    """Yield the programs' operations that cost more."""
    title = hunt.targets.arch.title
    for judge in hunt.judges[1:]:
        for finding in judge.tally.findings:
            grown = "; ".join(map(_growth, finding.fault.grown))
            yield f"{finding.fault.verb} in a generated program ({title}): {grown}"


def _growth(one: Growth) -> str:
    """What grew, as the table of benchmarks shows changes."""
    more = f" ({one.excess:+.1%})" if one.name == INSNS else ""
    return f"{one.name} {one.a} -> {one.b}{more}"


def series(found: Found) -> str:
    """Name the series, without the number of patches after the first one."""
    sides = found.sides
    if sides.b.origin != sides.a.origin:
        return f"{sides.b.label} on {sides.a.label}"
    return sides.series.patches[0].subject()


# Columns of a mail; maximum lines of a list of names.
WIDTH, LINES = 72, 3
# Characters that a mail program may not show.
PLAIN = str.maketrans({"→": "->", "–": "-", "…": "...", "×": "x", "\u202f": " ", "\xa0": " "})


def listed(head: str, names: Sequence[str], most: int = LINES) -> list[str]:
    """Wrap names to at most this many lines, with the number of omitted ones."""
    more = 0
    while True:
        shown = ", ".join(names[: len(names) - more])
        lines = wrap(f"{head}{shown}{f' and {more} more' if more else ''}")
        if len(lines) <= most:
            return lines
        more += 1


def plural(count: int, word: str) -> str:
    """Return a count with its noun."""
    many = f"{word}es" if word.endswith("ch") else f"{word}s"
    return f"{count} {word if count == 1 else many}"


def fit(line: str, end: str = "") -> str:
    """Return one line, shortened before its `end` if it is too long."""
    indent = line[: len(line) - len(line.lstrip())]
    line, width = line.translate(PLAIN), WIDTH - len(indent) - len(end)
    return indent + textwrap.shorten(line, width, placeholder=" ...") + end


def wrap(text: str) -> list[str]:
    """Wrap a sentence to lines that fit a mail, without splitting sizes."""
    text = text.translate(PLAIN)
    indent = " " * (len(text) - len(text.lstrip()))
    text = text.replace(" KiB", "\xa0KiB")
    lines = textwrap.wrap(text, WIDTH, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]
