# SPDX-License-Identifier: GPL-2.0
"""The plugin's stream of stops, against guests counted by hand."""

from __future__ import annotations

from collections import Counter

from counter_bench import Bench, noted

from quire.boot import counts
from quire.boot.counts import SymbolCount


def test_each_stop_has_a_line_in_the_stream(bench: Bench, counted: list[str]) -> None:
    lines, stream = bench.stream()
    # By symbol only what was asked for.
    assert lines == [line for line in counted if not line.startswith(("sym ", "lock "))]
    assert all(line.startswith("stop ") for line in stream)
    expected = noted(bench.target, "stop:")
    assert len(expected) >= 2
    regions = {line.split()[1] for line in expected}
    assert [line for line in stream if line.split()[1] in regions] == expected


def test_the_stream_adds_up(bench: Bench, counted: list[str]) -> None:
    """With detail, the counts are those of a run without a stream, and the sums of the stops."""
    lines, stream = bench.stream(",detail=on")
    assert lines == counted
    regions = counts.parse("\n".join(counted))
    found: dict[int, list[counts.Stop]] = {number: [] for number in regions}
    for stop in counts.parse_stops(stream):
        found[stop.region].append(stop)
    for number, region in regions.items():
        ended = found[number]
        assert len(ended) == region.runs
        assert region.total == sum(stop.insns for stop in ended)
        assert region.user == sum(stop.user for stop in ended)
        assert region.kernel == sum(stop.kernel for stop in ended)
        total: Counter[str] = sum((Counter(stop.counts) for stop in ended), Counter())
        calls = {
            name: region.symbols[name].calls
            for name in noted(bench.target, "watch=")
            if name in region.symbols
        }
        assert total == +Counter(region.tlb | region.events | calls)
        symbols: dict[str, SymbolCount] = {}
        for stop in ended:
            for name, count in stop.symbols.items():
                symbols[name] = symbols.get(name, SymbolCount(0, 0)) + count
        assert symbols == region.symbols
