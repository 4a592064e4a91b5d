# SPDX-License-Identifier: GPL-2.0
"""Boots of the executor: results are watched while they come, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.fuzz import record, runner
from quire.fuzz.record import Record

BOOT = "quire 1\np 0\no 0 ok\nq 0\np 3\no 0 ok\nm 0 A 0 1*-\nq 3\np 4\no 0 o"


def test_each_record_is_watched_once_it_is_whole(tmp_path: Path) -> None:
    results, seen = tmp_path / "results", []

    def watch(number: int, found: Record) -> bool:
        seen.append((number, found.lines))
        return number == 4

    tick = runner._watching(results, watch)
    assert tick
    for length in range(len(BOOT)):
        results.write_text(BOOT[:length])
        tick()
    assert seen == [(0, ["o 0 ok"]), (3, ["o 0 ok", "m 0 A 0 1*-"])]
    results.write_text(f"{BOOT}k\nq 4\np 5\n")
    with pytest.raises(runner.Enough):
        tick()
    assert seen[-1] == (4, ["o 0 ok"])


def test_nothing_is_watched_for_nobody(tmp_path: Path) -> None:
    assert runner._watching(tmp_path / "results", None) is None


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
