# SPDX-License-Identifier: GPL-2.0
"""Print tables on the terminal: both sides' instructions and costs, and compile results."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from quire.check.compile import FAILED, NO_COMPILER, OK, Compilation
from quire.host.console import columns, console, grid
from quire.measure import cost, profile
from quire.measure.comparison import BenchmarkResult, Comparison
from quire.measure.profile import ProfileLine

# Ratios within this distance of 1 are not coloured.
NOTABLE = 0.01
# Shown instead of a number that was not counted.
UNKNOWN = "–"
# The costs: two-line headings, and the kind in measure.cost. None: locks of all classes.
COSTS: tuple[tuple[str, str | None], ...] = (
    ("atomics", "atomics"),
    ("barriers", "barriers"),
    ("locks", None),
    ("lines\nread", "lines read"),
    ("lines\nwritten", "lines written"),
    ("table\nwords", "table words"),
    ("TLB\npage", "tlb page"),
    ("TLB\nrange", "tlb range"),
    ("TLB\nspace", "tlb space"),
)
# With several CPUs.
BETWEEN: tuple[tuple[str, str | None], ...] = (
    ("atomics", "atomics"),
    ("barriers", "barriers"),
    ("TLB\npage", "tlb page"),
    ("TLB\nrange", "tlb range"),
    ("TLB\nspace", "tlb space"),
    ("of these\nlocal", cost.TLB_LOCAL),
    ("remote\nflushes", cost.FLUSHES),
    ("IPIs\nsent", cost.SENT),
    ("IPIs\nhandled", cost.HANDLED),
    ("others'\nkernel", cost.OTHERS),
)
COMPILED = {OK: "green", FAILED: "red", NO_COMPILER: "yellow"}


def build(comparison: Comparison, base: str) -> Table:
    """Tabulate benchmarks by folio size: both sides, the ratio, the authors' posted figures."""
    posted = any(row.posted for row in comparison.rows)
    caption = f"ratio: instructions of {' / '.join(comparison.labels)}."
    if posted:
        caption += " posted: the authors' wall time, old / new."
    table = grid(f"{comparison.arch.title} · {base}", caption + _other_units(comparison))
    table.add_column("workload", no_wrap=True)
    a, b = comparison.labels
    _numeric(table, "folio\nKiB", f"instructions\n{a}", f"per page\n{b}", "ratio")
    cycles = any(row.cycles_ratio for row in comparison.rows)
    if cycles:
        _numeric(table, f"est. cycles\n{a}", f"per page\n{b}", "ratio")
    _numeric(table, f"TLB inv.\n{a}", f"per page\n{b}")
    if posted:
        table.add_column("posted\n(time)", no_wrap=True)
    # Only this column may wrap on a narrow terminal.
    table.add_column("")
    for row in _rows(table, comparison):
        instructions = (number(row.a.insns), number(row.b.insns), _ratio(row.ratio))
        tlb = (number(row.a.tlb_total), number(row.b.tlb_total))
        of = row.posted
        text = [", ".join(filter(None, (of.text, of.counters))) if of else ""] if posted else []
        estimate: tuple[str | Text, ...] = ()
        if cycles:
            spent = (number(side.cycles_total) for side in (row.a, row.b))
            estimate = (*spent, _ratio(row.cycles_ratio or 1.0))
        table.add_row(
            row.benchmark.label, _size(row), *instructions, *estimate, *tlb, *text, remarks(row)
        )
        if row.a.own and row.b.own:
            alone = (number(row.a.own), number(row.b.own), _ratio(row.a.own / row.b.own))
            table.add_row(f"  {row.benchmark.workload.own_name} alone", "", *alone)
    return table


def build_costs(comparison: Comparison, base: str) -> Table:
    """Tabulate costs besides instructions: two lines per benchmark, side A above side B."""
    caption = (
        f"{UNKNOWN}: not counted. Locks: all classes; the JSON report and the page list them by "
        f"class.{_other_units(comparison)}"
    )
    table = grid(f"{comparison.arch.title} · {base}: per page", caption)
    table.add_column("workload", no_wrap=True)
    _numeric(table, "folio\nKiB")
    table.add_column("side", no_wrap=True)
    between = any(row.benchmark.cpus > 1 for row in comparison.rows)
    columns = BETWEEN if between else COSTS
    _numeric(table, *(heading for heading, _ in columns))
    left, right = comparison.labels
    for row in _rows(table, comparison):
        a, b = (
            [side.cost.get(kind) if kind else cost.locks_taken(side.cost) for _, kind in columns]
            for side in (row.a, row.b)
        )
        table.add_row(row.benchmark.label, _size(row), left, *map(_known, a))
        cells = [Text(_known(new), style(old, new)) for old, new in zip(a, b, strict=True)]
        table.add_row("", "", right, *cells)
    return table


def build_profile(
    lines: Sequence[ProfileLine], labels: tuple[str, str], kind: str, unit: str, *, counted: bool
) -> Table:
    """Symbols: both sides and the change, of a kind of event if it was `counted`, and calls."""
    table = grid()
    columns(table, "symbol", no_wrap=True)
    a, b = labels
    further = kind not in (profile.INSNS, profile.CALLS)
    names = [f"{kind}\n{a}", f"per {unit}\n{b}", "change"] if further else []
    names += [f"insns\n{a}", f"\n{b}", "change", f"calls\n{a}", f"per {unit}\n{b}"]
    _numeric(table, *names)
    for line in lines:
        cells = _changed(line, kind, counted=counted) if further else ()
        calls = (number(line.a.calls), number(line.b.calls))
        table.add_row(line.symbol, *cells, *_changed(line, profile.INSNS), *calls)
    return table


def _changed(line: ProfileLine, kind: str, *, counted: bool = True) -> tuple[str, str, str]:
    """Print both sides and the change."""
    if not counted:
        return (UNKNOWN,) * 3
    change = line.change(kind)
    sign = "−" if change < 0 else "+" if change > 0 else ""
    a, b = number(line.a.number(kind)), number(line.b.number(kind))
    return a, b, f"{sign}{number(abs(change))}"


def show_compilations(compilations: Sequence[Compilation], title: str) -> None:
    """Print compile results on stdout, configurations by topics, with failures below."""
    table = grid(title)
    table.add_column("configuration", no_wrap=True)
    rows: dict[str, list[Compilation]] = {}
    for compilation in compilations:
        rows.setdefault(compilation.configuration, []).append(compilation)
    for topic in dict.fromkeys(compilation.topic for compilation in compilations):
        table.add_column(topic, no_wrap=True)
    for configuration, row in rows.items():
        table.add_row(configuration, *(Text(cell.state, COMPILED[cell.state]) for cell in row))
    out = console()
    out.print(table)
    for failed in compilations:
        if failed.state == FAILED:
            text = f"{failed.configuration}: {failed.topic}: {failed.state}"
            out.print(Text(text, "red"))
            for line in failed.trouble.splitlines():
                out.print(f"     {line}")


def _numeric(table: Table, *headings: str) -> None:
    columns(table, *headings, right=True, no_wrap=True)


def _rows(table: Table, comparison: Comparison) -> Iterator[BenchmarkResult]:
    """The benchmarks; a line separates workloads in the table."""
    for _, rows in groupby(comparison.rows, lambda row: row.benchmark.workload.name):
        table.add_section()
        yield from rows


def _size(row: BenchmarkResult) -> str:
    return UNKNOWN if row.benchmark.size is None else str(row.benchmark.size)


def written(value: float) -> str:
    """Format as number(), with the separator of documents: 4,254."""
    return number(value).replace(" ", ",")


def number(value: float) -> str:
    """Format with three significant digits below 100, as an integer above; separate thousands."""
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    if value == 0:
        return "0"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3g}"


def remarks(row: BenchmarkResult) -> str:
    """Return the benchmark's counters, and whether its counts are reproducible."""
    parts = []
    for name in row.benchmark.workload.counters:
        if name in row.a.counters:
            parts.append(f"{name} {row.a.counters[name]} → {row.b.counters.get(name)}")
    for before, after in ((row.a.spans, row.b.spans), (row.a.calls, row.b.calls)):
        for name in before:
            parts.append(f"{name.replace('_', ' ')} {number(before[name])} → {number(after[name])}")
    parts += [row.null.text] if row.null else []
    if row.excess:
        parts.append(f"MORE CALLS: {', '.join(calls.what for calls in row.excess)}")
    if row.unstable:
        parts.append(f"unstable, spread {row.spread:.2%}")
    elif row.a.runs > 1:
        parts.append(f"spread {row.spread:.3%} of {row.a.runs}")
    return "; ".join(parts)


def _ratio(ratio: float) -> Text:
    style = "green" if ratio > 1 + NOTABLE else "red" if ratio < 1 - NOTABLE else ""
    return Text(f"{ratio:.2f}×", style=style)


def _other_units(comparison: Comparison) -> str:
    """The part of a caption that lists workloads whose figures are not per page."""
    others = [
        row.benchmark.workload for row in comparison.rows if row.benchmark.workload.unit != "page"
    ]
    units = dict.fromkeys(f"{workload.name}: per {workload.unit}" for workload in others)
    return f" Not per page: {'; '.join(units)}." if units else ""


def _known(value: float | None) -> str:
    return UNKNOWN if value is None else number(value)


def style(a: float | None, b: float | None, fewer: str = "green", more: str = "red") -> str:
    """Return the style of side B's cell, by whether it has notably fewer or more."""
    if a is None or b is None or abs(a - b) <= NOTABLE * b:
        return ""
    return fewer if b < a else more
