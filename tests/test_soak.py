# SPDX-License-Identifier: GPL-2.0
"""`quire soak` on a fake QEMU: the guest's arguments, and how its report is used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Quire, line_patch
from known import bug

from quire.suites import soak
from quire.suites.soak import Pace, SoakOptions


def test_a_million_operations_on_two_cpus(quire: Quire, tree: Path) -> None:
    done = quire.passes("soak", "--source", str(tree), "ARCH=arm64", "-v")
    assert "-- soak operations=1000000 seed=1'" in done.stderr
    assert "-smp 2" in done.stderr
    assert "-icount" not in done.stderr
    assert "pass arm64 patched 6.12.117: 1000000 operations in 2 s" in done.stdout
    assert "look elsewhere" in done.stdout


def test_one_cpu_repeats(quire: Quire, tree: Path) -> None:
    words = ("--operations", "50", "--seed", "9", "--smp", "1", "--stock")
    done = quire.passes("soak", "--source", str(tree), "ARCH=arm64", "-v", *words)
    assert "-- soak operations=50 seed=9'" in done.stderr
    assert "-icount" in done.stderr
    assert "pass arm64 stock" in done.stdout


def test_by_time(quire: Quire, tree: Path) -> None:
    words = ("soak", "--source", str(tree), "ARCH=arm64", "--seconds", "60", "--json")
    done = quire.passes(*words)
    (report,) = json.loads(done.stdout)
    assert report["operations"] == 4321
    assert report["kinds"] == {"look elsewhere": 300}
    assert report["events"] == {"pswpout": 9}


def test_a_violation_is_shown(quire: Quire, tree: Path) -> None:
    done = quire("soak", "--source", str(tree), "ARCH=arm64", FAKE_QEMU="wrong")
    assert done.returncode == 1
    assert "page 7: word 0 is wrong" in done.stderr
    assert "seed=1" in done.stderr
    assert "fail arm64" in done.stdout


@pytest.mark.parametrize("mode", ["panic", "mute"])
def test_a_lost_guest(quire: Quire, tree: Path, mode: str) -> None:
    done = quire("soak", "--source", str(tree), "ARCH=arm64", FAKE_QEMU=mode)
    assert done.returncode == 4
    assert "whole log: " in done.stderr


def test_a_report_that_contradicts_itself(quire: Quire, tree: Path) -> None:
    done = quire("soak", "--source", str(tree), "ARCH=arm64", FAKE_QEMU="contradict")
    assert done.returncode == 1
    assert "contradicts the report" in done.stderr


def test_seeded_bugs_are_seen_or_missed(quire: Quire, tree: Path) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "series").write_text("# versions: 6.12.100-\nbugs.patch\n")
    (folder / "bugs.patch").write_text(line_patch("bugs", 14, "bug 14"))
    (folder / "bugs.toml").write_text(bug("lose") + bug("hide"))
    words = ("soak", "--source", str(tree), "ARCH=arm64", "--bug", "lose")
    done = quire.passes(*words)
    assert "seen arm64 lose in 77 operations  after 77 operations, process 2" in done.stdout
    done = quire(*words, "--bug", "hide", "--json")
    assert done.returncode == 1
    assert "arm64: hide" in done.stderr
    assert [row["noticed"] for row in json.loads(done.stdout)] == [True, False]
    quire.passes(*words, FAKE_QEMU="panic")


def test_the_guests_words_are_printed(quire: Quire, tree: Path) -> None:
    done = quire("soak", "--source", str(tree), "ARCH=arm64", "-v", "-q")
    assert "-- soak operations=1000000 seed=1" in done.stderr


def test_bad_numbers_are_refused(quire: Quire) -> None:
    assert quire("soak", "--operations", "0").returncode == 2
    assert quire("soak", "--smp", "none").returncode == 2


def test_how_far_a_guest_has_come(tmp_path: Path) -> None:
    file = tmp_path / "results"
    assert soak.pace(file) == Pace()
    file.write_text("quire 1\n" + "soak operations 10 1\n" * 1000 + "soak operations 500 60\nsoak ")
    assert soak.pace(file) == Pace(500, 60)
    assert "about 1 min left" in soak.pace(file).left(1000)
    assert soak.pace(file).left(soak.UNLIMITED) == ""


def test_patience_grows_with_the_work() -> None:
    assert SoakOptions(operations=1000).patience() < SoakOptions().patience()
    assert SoakOptions(seconds=86400, operations=soak.UNLIMITED).patience() > 86400
    assert SoakOptions(timeout=5).patience() == 5
