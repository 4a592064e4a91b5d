# SPDX-License-Identifier: GPL-2.0
"""Several CPUs and simulated caches, against guests counted by hand (aarch64's alone has them)."""

from __future__ import annotations

import pytest
from counter_bench import ICOUNT, Bench, noted

CACHES = "l1d 128 1\nl2 512 2\nllc 1024 4\n"


@pytest.fixture(autouse=True)
def one_guest(bench: Bench) -> None:
    if bench.target.stem != "aarch64":
        pytest.skip("the guests are aarch64's")


def run(bench: Bench, define: str, more: str, *qemu: str) -> list[str]:
    elf = bench.build(define)
    out = elf.with_suffix(".count")
    arguments = f",symbols={elf.with_suffix('.symbols')},out={out}{more}"
    done = bench.qemu(elf, arguments, *qemu)
    assert done.returncode == 0, done.stderr
    return out.read_text().splitlines()


def caches(bench: Bench, text: str = CACHES) -> str:
    file = bench.directory / "caches"
    file.write_text(text)
    return f",caches={file}"


def test_cache_misses_are_what_was_counted_by_hand(bench: Bench) -> None:
    lines = run(bench, "CACHES", f"{caches(bench)},cold=on", *ICOUNT)
    assert lines[-1] == "end"
    assert set(noted(bench.target, "caches:")) <= set(lines)


def test_without_cold_a_region_begins_with_what_came_before(bench: Bench) -> None:
    lines = run(bench, "CACHES", caches(bench), *ICOUNT)
    events = [line for line in lines if line.startswith("event 41 ")]
    assert all(line.endswith(" 0") for line in events), events
    assert "event 41 memory 0" in events


def test_what_other_cpus_do_is_what_was_counted_by_hand(bench: Bench) -> None:
    lines = run(bench, "CPUS", ",cpus=on", "-smp", "2", *ICOUNT)
    assert lines[-1] == "end"
    expected = noted(bench.target, "cpus:")
    assert len(expected) >= 12
    assert set(expected) <= set(lines)


def test_cpus_at_the_same_time_are_refused(bench: Bench) -> None:
    lines = run(bench, "CPUS", ",cpus=on", "-smp", "2", "-accel", "tcg,thread=multi")
    assert lines[-1] == "error cpus=on needs -icount: the CPUs run at the same time"


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("l1d 128 1\n", "", "expected lines"),
        ("l1d 128 0\nl2 512 2\nllc 1024 4\n", "", "expected lines"),
        (CACHES.replace("l2", "l3"), "", "expected lines"),
        (CACHES, ",cold=yes", "cold=yes: there is only cold=on"),
    ],
)
def test_wrong_geometries_are_refused(
    bench: Bench, text: str, arguments: str, message: str
) -> None:
    elf = bench.build()
    arguments = f",out={elf.with_suffix('.count')}{caches(bench, text)}{arguments}"
    done = bench.qemu(elf, arguments)
    assert done.returncode != 0
    assert message in done.stderr
