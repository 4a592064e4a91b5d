# SPDX-License-Identifier: GPL-2.0
"""Boots of the executor: results are read as they arrive, and kept."""

from dataclasses import replace
from pathlib import Path

import pytest
from fuzz_records import REDIRTIED, side
from known import X86_64

from quire.boot import launch, machine
from quire.fuzz import runner
from quire.fuzz.language import program, record
from quire.fuzz.language.record import Record

BOOT = "quire 1\np 0\no 0 ok\nq 0\np 3\no 0 ok\nm 0 A 0 1*-\nq 3\np 4\no 0 o"


def test_each_record_is_watched_once_it_is_whole(tmp_path: Path) -> None:
    results, seen = tmp_path / machine.RESULTS, []

    def watch(number: int, found: Record) -> bool:
        seen.append((number, found.lines))
        return number == 4

    tick = runner._watching(tmp_path, watch)
    for length in range(len(BOOT)):
        results.write_text(BOOT[:length])
        tick()
    assert seen == [(0, ["o 0 ok"]), (3, ["o 0 ok", "m 0 A 0 1*-"])]
    results.write_text(f"{BOOT}k\nq 4\np 5\n")
    with pytest.raises(runner.Enough):
        tick()
    assert seen[-1] == (4, ["o 0 ok"])


def test_a_complaint_ends_the_program_that_runs(tmp_path: Path) -> None:
    tick = runner._watching(tmp_path, lambda *_: False)
    results, console = tmp_path / machine.RESULTS, tmp_path / machine.CONSOLE
    first, second = "[    1.0] BUG: Bad page map in process x\n", "[    2.0] WARNING: CPU: 0\n"
    results.write_text("quire 1\np 0\no 0 ok\nq 0\np 1\n")
    console.write_text(first)
    # The complaint is in the record of a program that has ended.
    tick()
    tick()
    console.write_text(first + second)
    with pytest.raises(runner.Complaint, match="splat: warning"):
        tick()


def test_a_guest_that_says_nothing_for_long_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, ticks = 0.0, []
    monkeypatch.setattr("time.monotonic", lambda: now)
    files = [tmp_path / machine.RESULTS, tmp_path / machine.CONSOLE]
    look = launch.until_silent(files, runner.SILENT_SECONDS, lambda: ticks.append(now))
    assert look
    now = runner.SILENT_SECONDS
    look()
    (tmp_path / machine.CONSOLE).write_text("[    0.000000] Linux\n")
    now *= 1.5
    look()
    now += runner.SILENT_SECONDS
    look()
    now += 1
    with pytest.raises(launch.Silent, match="the guest hangs"):
        look()
    assert len(ticks) == 4


def test_the_executor_is_told_what_to_swap_to(tmp_path: Path) -> None:
    target = side(tmp_path, has_series=False)
    assert (target.init, target.label) == (("fuzz",), "stock")
    target = replace(target, swap=runner.BLOCK)
    assert (target.init, target.label) == (("fuzz", "swap=block"), "stock swap=block")


def test_records_are_kept_as_they_were(tmp_path: Path) -> None:
    records = {
        3: Record(["o 0 ok", "m 0 A 0 1*-"]),
        1: Record(["o 0 ok", "x hang 1"]),
        7: Record(["o 0 ok"], lost="the guest printed a splat (panic)"),
    }
    record.write(tmp_path / "kept", records)
    found = record.read((tmp_path / "kept").read_text().splitlines())
    assert list(found) == [3, 1, 7]
    assert [r.lines for r in found.values()] == [r.lines for r in records.values()]
    assert [bool(r.trouble) for r in found.values()] == [False, True, True]


def test_only_programs_that_empty_memory_get_some_that_can_be(tmp_path: Path) -> None:
    target = side(tmp_path, has_series=False)
    target.guest.initrd.write_bytes(b"")
    empties = program.parse("0 map A 0 1 anon\n0 write A 0 1\n0 offline A 0\n")
    intel = replace(target, kernel=replace(target.kernel, arch=X86_64))
    for one, movable in ((target, set()), (intel, {"movablecore=1G"})):
        usual = runner._machine(one, {0: REDIRTIED})
        more = runner._machine(one, {0: REDIRTIED, 1: empties})
        assert (usual.hardware.memory, more.hardware.memory) == (runner.MEMORY, runner.MORE_MEMORY)
        assert set(more.parameters) - set(usual.parameters) == movable
