# SPDX-License-Identifier: GPL-2.0
"""Parse the output of guest and plugin."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "line", ["region 0 runs", "tlb 7 invlpg 1", "sym 0", "span 0 x 1 1", "nonsense 1"]
)
def test_lines_that_make_no_sense(line: str) -> None:
    with pytest.raises(GuestLost):
        counts.parse(f"quire-count 2 x\n{line}\nend\n")
