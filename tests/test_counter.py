# SPDX-License-Identifier: GPL-2.0
"""The counting plugin against guests with instructions counted by hand."""

from __future__ import annotations

import re

import pytest
from counter_bench import COUNTER, Bench, call, expectations, of_region, spans
from known import X86_64


def test_counts_are_what_was_counted_by_hand(bench: Bench, counted: list[str]) -> None:
    assert counted[0] == f"quire-count 2 {bench.target.stem}"
    assert counted[-1] == "end"
    regions = expectations(bench.target)
    assert len(regions) >= 9
    for number, lines in regions.items():
        assert sorted(of_region(counted, number)) == sorted(lines)


def test_interrupts_do_not_disturb_the_count(bench: Bench, counted: list[str]) -> None:
    target = bench.target
    lines = of_region(counted, target.interrupted)
    found = re.search(r"user (\d+) kernel (\d+) other 0$", lines[0])
    assert found, lines
    user, kernel = map(int, found.groups())
    assert user == 1_000_000
    calls = kernel // target.handler_insns
    assert calls >= 500
    assert lines[-1] == f"sym {target.interrupted} {target.handler} {kernel} {calls}"
    assert kernel == calls * target.handler_insns


def test_interrupts_in_a_span_are_part_of_it(bench: Bench, counted: list[str]) -> None:
    lines = of_region(counted, bench.target.held)
    total = re.search(r"insns (\d+) ", lines[0])
    held = re.search(r"^span \d+ held 1 (\d+)$", "\n".join(lines), re.M)
    handled = re.search(rf"^sym \d+ {bench.target.handler} \d+ (\d+)$", "\n".join(lines), re.M)
    assert total and held and handled, lines
    assert int(handled[1]) >= 100
    # The call of k_lock, k_unlock and the code after it.
    assert int(total[1]) - int(held[1]) == 2 + 2 + 1


def test_lines_of_a_region_stand_in_order(bench: Bench, counted: list[str]) -> None:
    lines = of_region(counted, 5)
    assert [line.split()[0] for line in lines] == [
        "region",
        *["tlb"] * len(bench.target.arch.tlb_classes),
        *["event"] * len(bench.target.arch.event_kinds),
        *["span"] * len(spans(bench.target)),
        *["sym"] * 4,
    ]
    names = [line.split()[2] for line in lines if line.startswith("span")]
    assert names == [span.partition(":")[0] for span in spans(bench.target)]


def test_two_runs_give_the_same_output(bench: Bench, counted: list[str]) -> None:
    assert bench.count() == counted


@pytest.mark.parametrize(
    ("define", "message"),
    [
        ("NOT_ARMED", "marker of region 1 while not armed"),
        ("STARTED_TWICE", "region 1 was started twice without a stop"),
        ("NEVER_STARTED", "region 1 was stopped without a start"),
        ("LEFT_OPEN", "region 99 was started and never stopped"),
        ("DISARMED", "marker of region 99 while not armed"),
    ],
)
def test_a_guest_that_misuses_markers_spoils_the_output(
    bench: Bench, define: str, message: str
) -> None:
    lines = bench.count(define)
    assert lines[-1] == f"error {message}"
    assert "end" not in lines


def test_string_instructions_without_icount_are_exact_or_refused(bench: Bench) -> None:
    lines = bench.count(icount=False)
    if lines[-1] == "end":
        assert sorted(of_region(lines, 7)) == sorted(expectations(bench.target)[7])
    else:
        assert bench.target.arch is X86_64
        assert lines[-1] == "error rep instructions cannot be counted without -icount"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "no out=FILE to write the counts to"),
        (",out=@/no/such/directory/file", "cannot open out=@/no/such/directory/file: No such file"),
        (",out=@/o,sybmols=@/s", 'argument "sybmols=@/s" is unknown; there are symbols=FILE'),
        (",out=@/o,symbols=@/none", "cannot open symbols=@/none: No such file"),
        (",out=@/o,detail=on", "detail=on needs stream=FILE"),
        (",out=@/o,stream=@/s,detail=yes", "detail=yes: there is only detail=on"),
        (",out=@/o,lines=yes", "lines=yes: there is only lines=on"),
        (",out=@/o,watch=@/some", "watch=FILE needs stream=FILE"),
        (",out=@/o,stream=@/no/file", "cannot open stream=@/no/file: No such file"),
        (",out=@/o,symbols=@/good,stream=@/s,watch=@/none", "cannot open watch=@/none: No such"),
        (
            ",out=@/o,symbols=@/good,stream=@/s,watch=@/others",
            "watch=@/others names no function of symbols=FILE",
        ),
        (
            ",out=@/o,symbols=@/good,stream=@/s,watch=@/nonsense",
            "watch=@/nonsense:1: expected a line with one name",
        ),
        (",out=@/o,symbols=@/unsorted", "@/unsorted:3: address fff0 is below the one before it"),
        (",out=@/o,symbols=@/nonsense", '@/nonsense:2: expected a line "hexaddress name"'),
        (",out=@/o,symbols=@/empty", "@/empty: no symbols in it"),
        (",out=@/o,symbols=@/good,span=x:a", "span=x:a is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=x:a:b:c", "span=x:a:b:c is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=:a:b", "span=:a:b is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=x y:a:b", "span=x y:a:b is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=x:n:b", 'span=x:n:b: no "n" in symbols=FILE'),
        (",out=@/o,symbols=@/good,span=x:a:n", 'span=x:a:n: no "n" in symbols=FILE'),
        (",out=@/o,span=x:a:b", 'span=x:a:b: no "a" in symbols=FILE'),
        (",out=@/o,symbols=@/good,span=x:a:alias", "span=x:a:alias begins and ends with the same"),
        (",out=@/o,symbols=@/good,span=x:a:b,span=x:b:a", "span=x:b:a: there is a span of that"),
        (
            ",out=@/o,symbols=@/good" + "".join(f",span=x{n}:a:b" for n in range(33)),
            "span=x32:a:b is one too many; there can be 32",
        ),
    ],
)
def test_wrong_arguments_are_refused(bench: Bench, arguments: str, message: str) -> None:
    place = bench.directory
    (place / "unsorted").write_text("fff0 a\nfff8 b\nfff0 c\n")
    (place / "nonsense").write_text("fff0 a\nfff8 T b\n")
    (place / "empty").write_text("")
    (place / "others").write_text("x\ny\n")
    (place / "good").write_text("fff0 a\nfff0 alias\nfff8 b\n")
    done = bench.qemu(bench.build(), arguments.replace("@", str(place)))
    assert done.returncode != 0
    assert f"libquire-count: {message.replace('@', str(place))}" in done.stderr


@pytest.mark.slow
def test_all_plugin_interfaces_compile(bench: Bench) -> None:
    for api in ("1", "3", "4"):
        call("make", "-C", COUNTER, f"OUT={bench.directory / api}", f"API={api}")
