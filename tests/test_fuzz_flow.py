# SPDX-License-Identifier: GPL-2.0
"""`quire fuzz` on a fake QEMU, from programs to findings; boots of the executor."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Quire, line_patch
from fuzz_records import REDIRTIED, side
from known import X86_64, bug

from quire.boot import launch, machine
from quire.fuzz import runner
from quire.fuzz.language import program, record
from quire.fuzz.language.record import Record
from quire.host import process
from quire.kernels import guest

WORDS = ("fuzz", "compare", "ARCH=arm64", "--no-coverage", "--programs", "30")


def test_kernels_that_agree(quire: Quire, tree: Path) -> None:
    done = quire(*WORDS, "--source", str(tree))
    assert done.returncode == 0, done.stderr
    assert "30 programs" in done.stdout
    assert "0 findings" in done.stdout


def test_a_difference_is_shrunk_written_and_replayed(quire: Quire, tree: Path) -> None:
    words = (*WORDS, "--findings", "1", "--source", str(tree))
    done = quire(*words, FAKE_QEMU="differ")
    assert done.returncode == 1, done.stderr
    (path,) = (quire.build / "fuzz/arm64").glob("finding-*/program.fuzz")
    (op,) = program.parse(path.read_text())
    assert op.verb == "move"
    assert op.range
    assert op.range.count == 1
    assert str(path) in done.stderr
    for name in ("a.log", "b.log", "differences", "original.fuzz"):
        assert (path.parent / name).read_text()
    again = quire("fuzz", "replay", "ARCH=arm64", "--source", str(tree), str(path),
                  FAKE_QEMU="differ")  # fmt: skip
    assert again.returncode == 1
    good = quire("fuzz", "replay", "ARCH=arm64", "--source", str(tree), str(path))
    assert good.returncode == 0


def test_side_a_has_what_fixes_the_base(quire: Quire, tree: Path) -> None:
    file = quire.project / "patches/linux-6.12.y/series"
    file.write_text(file.read_text() + "# fixes: ksm\n")
    assert "fixed" in quire(*WORDS, "--source", str(tree)).stdout
    # Without that topic in the series, side A is the base.
    assert "fixed" not in quire(*WORDS, "--source", str(tree), "--only", "mremap").stdout


def test_side_a_of_costs_may_be_the_base_alone(quire: Quire, tree: Path) -> None:
    file = quire.project / "patches/linux-6.12.y/series"
    file.write_text(file.read_text() + "# fixes: ksm\n")
    assert quire("build", "--source", str(tree), "ARCH=arm64").returncode == 0
    words = ("fuzz", "cost", *WORDS[2:3], *WORDS[4:], "--source", str(tree), "-v")
    # Stock and patched are built, a kernel with the fixes is not.
    assert quire(*words, "--stock").stderr.count(" Image)") == 0
    assert quire(*words).stderr.count(" Image)") == 1


def test_a_guest_that_is_lost_is_a_finding(quire: Quire, tree: Path) -> None:
    words = (*WORDS, "--findings", "1", "--json", "--source", str(tree))
    done = quire(*words, FAKE_QEMU="die")
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert [line.split()[-1] for line in finding["program"]] == ["exit"]
    assert "panic" in finding["differences"][0]


def test_seeded_bugs_are_found_or_missed(quire: Quire, tree: Path) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "series").write_text("# versions: 6.12.100-\nbugs.patch\n")
    (folder / "bugs.patch").write_text(line_patch("bugs", 14, "bug 14"))
    odd = bug("odd", no_program="it does what the other one does")
    (folder / "bugs.toml").write_text(bug("lose") + bug("hide") + odd)
    words = ("fuzz", "seeded", "ARCH=arm64", "--programs", "40", "--source", str(tree), "--json")
    done = quire(*words)
    assert done.returncode == 1, done.stderr
    lose, hide, last = json.loads(done.stdout)["bugs"]
    assert last["reason"] == "it does what the other one does"
    assert lose["operations"] == 1
    assert 1 <= lose["programs"] <= 40
    assert hide.pop("seconds") >= 0
    missed = {"operations": None, "difference": None, "reason": ""}
    assert hide == {"bug": "hide", "programs": 40, **missed}
    assert quire(*words, "lose").returncode == 0


def test_a_program_that_cannot_be_read(quire: Quire, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.fuzz").write_text("0 write A 0 1\n0 wrote A 0 1\n")
    done = quire("fuzz", "replay", "--source", str(tree), str(tmp_path / "bad.fuzz"))
    assert done.returncode == 2
    assert "bad.fuzz:2: 0 wrote A 0 1" in done.stderr
    done = quire("fuzz", "replay", "--source", str(tree), str(tmp_path / "none.fuzz"))
    assert done.returncode == 2


@pytest.mark.skipif(not shutil.which("cpio"), reason="no cpio to unpack with")
@pytest.mark.parametrize("data", [b"", b"x", b"four", b"x" * 5000])
def test_an_archive_that_cpio_reads(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "archive").write_bytes(guest.cpio({"programs": data, "b": b"2"}))
    subprocess.run(
        ["cpio", "-id", "--quiet", "-F", "archive"], cwd=tmp_path, check=True, timeout=30
    )
    assert (tmp_path / "programs").read_bytes() == data
    assert (tmp_path / "b").read_bytes() == b"2"


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
    look = launch.watching(files, runner.SILENT_SECONDS, lambda: ticks.append(now))
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


def test_a_guest_that_repeats_a_message_for_ever_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "FLOOD", 1 << 20)
    console = tmp_path / machine.CONSOLE
    script = f"yes 'swap_info_get: Unused swap offset' | head -c 2M >{console}; sleep 100"
    loop = process.Command(["sh", "-c", script], log=tmp_path / machine.LOG, timeout=50)
    ended = launch.execute(loop, None, [tmp_path / machine.RESULTS, console], silence=0)
    assert ended == launch.Ended(killed="the guest's console output exceeds 1 MiB")


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
