# SPDX-License-Identifier: GPL-2.0
"""Parse the output of guest and plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import LOGS
from hypothesis import given
from hypothesis import strategies as st

from quire.boot import counts, results
from quire.host.errors import GuestLost

GOOD = """quire 1
region 0 swapout
note zram is 512 MiB
pages 0 65536
pages 0 65536
ops 0 2
counter pswpout 0 65536
folios 4096 4096
verify ok
exit 0
"""


def test_all_lines_of_a_bench() -> None:
    found = results.parse(GOOD)
    region = found.regions[0]
    assert (region.name, region.pages, region.ops) == ("swapout", 131072, 2)
    assert found.counters == {"pswpout": (0, 65536)}
    assert found.folios == (4096, 4096)
    assert found.verified
    assert found.exit == 0
    assert found.notes == ["zram is 512 MiB"]


def test_no_end_no_verdict() -> None:
    assert results.parse(GOOD.replace("exit 0\n", "")).exit is None
    assert results.parse("").exit is None


def test_a_failed_verification() -> None:
    found = results.parse("quire 1\nverify fail page 7 is wrong\nexit 1\n")
    assert (found.verified, found.failures, found.exit) == (False, ["page 7 is wrong"], 1)


def test_ktap_is_left_for_its_parser() -> None:
    found = results.parse("quire 1\nKTAP version 1\n1..1\nok 1 x\nexit 0\n")
    assert found.other == ["KTAP version 1", "1..1", "ok 1 x"]


@pytest.mark.parametrize(
    "text",
    [
        "quire 2\n",
        "garbage\n",
        "quire 1\nexit x\n",
        "quire 1\npages 3 7\n",
        "quire 1\nverify maybe\n",
    ],
)
def test_what_breaks_the_contract_is_lost(text: str) -> None:
    with pytest.raises(GuestLost):
        results.parse(text)


def test_counts_of_a_real_boot() -> None:
    regions = counts.parse((LOGS / "counts-arm64.txt").read_text())
    region = regions[0]
    assert region.runs > 0
    assert region.total == region.user + region.kernel
    in_symbols = sum(symbol.insns for symbol in region.symbols.values())
    assert region.kernel == in_symbols + region.other
    assert set(region.tlb) == {"tlbi_va", "tlbi_range", "tlbi_asid", "tlbi_all"}
    assert region.symbols["move_page_tables"].calls > 0


@given(st.integers(min_value=0, max_value=400))
def test_counts_cut_short_are_never_believed(where: int) -> None:
    lines = (LOGS / "counts-arm64.txt").read_text().splitlines()
    cut = lines[: min(where, len(lines) - 1)]
    with pytest.raises(GuestLost):
        counts.parse("\n".join(cut))


def test_the_plugins_own_error_is_told() -> None:
    text = "quire-count 2 x86_64\nregion 0 runs 1 insns 1 user 1 kernel 0 other 0\nerror too soon\n"
    with pytest.raises(GuestLost, match="could not count") as caught:
        counts.parse(text, "FILE")
    assert caught.value.where == "FILE: error too soon"


def test_symbols_of_one_name_are_added() -> None:
    text = "quire-count 2 aarch64\nregion 0 runs 1 insns 9 user 0 kernel 9 other 0\n"
    text += "sym 0 same 4 1\nsym 0 same 5 2\nend\n"
    assert counts.parse(text)[0].symbols["same"] == counts.SymbolCount(9, 3)


def test_spans_have_stretches_and_instructions() -> None:
    text = "quire-count 2 x86_64\nregion 0 runs 1 insns 9 user 0 kernel 9 other 0\n"
    text += "tlb 0 invlpg 0\nspan 0 lock 3 7\nspan 0 never 0 0\nend\n"
    region = counts.parse(text)[0]
    assert region.spans == {"lock": (3, 7), "never": (0, 0)}
    assert region.tlb == {"invlpg": 0}


def test_events_and_locks_are_counted_by_symbol_and_caller() -> None:
    text = "quire-count 2 aarch64\nregion 0 runs 1 insns 9 user 0 kernel 9 other 0\n"
    text += "event 0 atomic 7\nevent 0 dmb 0\nsym 0 same 4 1 atomic=2\n"
    text += "sym 0 same 5 2 atomic=4 dmb=1\nlock 0 a down_read 3\nlock 0 - down_read 1\n"
    text += "lock 0 a down_read 2\nend\n"
    region = counts.parse(text)[0]
    assert region.events == {"atomic": 7, "dmb": 0}
    assert region.symbols["same"] == counts.SymbolCount(9, 3, {"atomic": 6, "dmb": 1})
    assert region.locks == {("a", "down_read"): 5, ("-", "down_read"): 1}


STREAM = [
    "stop 3 insns 9 user 2 kernel 7 tlbi_va=1 atomic=2 down_read=4",
    "sym 3 walk 5 1 atomic=2",
    "sym 3 walk 2 1",
    "stop 3 insns 1 user 1 kernel 0",
]


def test_a_stream_has_a_stop_for_each_run() -> None:
    first, second = counts.parse_stops(STREAM)
    assert (first.region, first.insns, first.user, first.kernel) == (3, 9, 2, 7)
    assert first.counts == {"tlbi_va": 1, "atomic": 2, "down_read": 4}
    assert first.symbols == {"walk": counts.SymbolCount(7, 2, {"atomic": 2})}
    assert (second.insns, second.counts, second.symbols) == (1, {}, {})


@pytest.mark.parametrize(
    "line",
    [
        "",
        "stop 3",
        "stop 3 insns 9 kernel 7 user 2",
        "stop 3 insns 9 user 2 kernel 7 atomic",
        "sym 4 walk 5 1",
        "sym 3 walk 5",
        "end",
    ],
)
def test_a_stream_that_makes_no_sense(line: str) -> None:
    with pytest.raises(GuestLost, match="malformed line"):
        list(counts.parse_stops([*STREAM, line]))


def test_a_stream_does_not_begin_with_a_symbol() -> None:
    with pytest.raises(GuestLost, match="malformed line"):
        list(counts.parse_stops(STREAM[1:]))


def test_no_stream(tmp_path: Path) -> None:
    with pytest.raises(GuestLost, match="left no stream"):
        counts.read_stops(tmp_path / "stops.txt")


@pytest.mark.parametrize(
    "line",
    [
        "region 0 runs",
        "tlb 7 invlpg 1",
        "sym 0",
        "sym 0 x 1 1 atomic",
        "event 0 atomic",
        "lock 0 x 1",
        "span 0 x 1",
        "nonsense 1",
    ],
)
def test_lines_that_make_no_sense(line: str) -> None:
    head = "quire-count 2 x\nregion 0 runs 1 insns 9 user 0 kernel 9 other 0\n"
    assert counts.parse(f"{head}end\n")[0].runs == 1
    with pytest.raises(GuestLost):
        counts.parse(f"{head}{line}\nend\n")
