# SPDX-License-Identifier: GPL-2.0
"""Print what whole programs cost in the kernel."""

from collections.abc import Sequence

from rich.text import Text

from quire.host.console import columns, console, grid
from quire.measure.comparison import BenchmarkResult, Comparison
from quire.report.table import number

# A program that takes more kernel instructions by this fraction is a bug to fix.
LOSS = 0.005
# Symbols that changed most, of each program.
SHOWN = 8


def show(comparison: Comparison, title: str, topics: Sequence[str]) -> None:
    """Print the kernel's instructions, and the symbols that changed most."""
    a, b = comparison.labels
    title = f"{comparison.arch.title} · {title}\ntopics: {', '.join(topics)}"
    table = grid(title, pad_edge=True)
    columns(table, "program", no_wrap=True)
    names = (f"kernel\n{a}", f"insns, 10⁶\n{b}", "saved", "user\nshare", "TLB inv.\n10³")
    columns(table, *names, right=True, no_wrap=True)
    columns(table, "counters")
    for row in comparison.rows:
        table.add_row(*_cells(row))
    console().print(table)
    for row in comparison.rows:
        for line in row.symbols[:SHOWN]:
            change = f"{line.change() / 1e6:+10.2f}"
            console().print(
                f"{row.benchmark.heading}: {change} million {line.symbol}", highlight=False
            )


def saved(row: BenchmarkResult) -> float:
    """Return the fraction of kernel instructions that B saves; negative for a loss."""
    return 1 - row.b.kernel / row.a.kernel


def _cells(row: BenchmarkResult) -> tuple[str | Text, ...]:
    share = saved(row)
    style = "green" if share > LOSS else "red" if share < -LOSS else ""
    counters = (
        f"{name} {row.a.counters[name]} → {row.b.counters.get(name)}"
        for name in row.benchmark.workload.counters
        if name in row.a.counters
    )
    return (
        row.benchmark.heading,
        number(row.a.kernel / 1e6),
        number(row.b.kernel / 1e6),
        Text(f"{share:+.2%}", style),
        f"{1 - row.a.kernel / row.a.insns:.0%}",
        f"{row.a.tlb_total / 1e3:.1f} → {row.b.tlb_total / 1e3:.1f}",
        "; ".join(counters),
    )
