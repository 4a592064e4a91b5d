# SPDX-License-Identifier: GPL-2.0
"""Cache lines and page-table words that the plugin counts, against guests counted by hand."""

from __future__ import annotations

import re

import pytest
from counter_bench import LINE_KINDS, Bench, expectations, of_region


def test_lines_and_table_words_are_what_was_counted_by_hand(bench: Bench) -> None:
    lines = bench.count("LINES", more=",lines=on")
    assert lines[-1] == "end"
    regions = expectations(bench.target, "lines:")
    assert 30 in regions
    for number, expected in regions.items():
        assert sorted(of_region(lines, number)) == sorted(expected)
    # Without lines=on nothing else changes.
    kinds = re.compile(rf" ({'|'.join(LINE_KINDS)})=\d+")
    rest = [line for line in lines if line.split()[2:3] not in [[kind] for kind in LINE_KINDS]]
    assert bench.count("LINES") == [kinds.sub("", line) for line in rest]


@pytest.mark.parametrize(
    ("define", "message"),
    [
        ("NESTED", "region 30 was started within another, which lines=on cannot count"),
        ("HALF_SPELT", "the last page table's frame number is incomplete"),
    ],
)
def test_a_guest_that_misuses_lines_spoils_the_output(
    bench: Bench, define: str, message: str
) -> None:
    assert bench.count("LINES", define, more=",lines=on")[-1] == f"error {message}"


def test_lines_need_one_cpu(bench: Bench) -> None:
    elf = bench.build("LINES")
    done = bench.qemu(elf, f",out={elf.with_suffix('.count')},lines=on", "-smp", "2")
    assert done.returncode != 0
    assert "lines=on needs a machine with one CPU" in done.stderr
