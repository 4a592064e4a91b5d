# SPDX-License-Identifier: GPL-2.0
"""Complete runs on fake tools: what is built, what is rebuilt, what is reused."""

from __future__ import annotations

import fcntl
import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Quire, said, snapshot

from quire import lab
from quire.arch import architecture


def test_bench_compares_and_writes(quire: Quire, tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("bench", "mremap", "swapout,data=zero", "--source", str(tree), "ARCH=arm64")
    done = quire.passes(*words, "--output", str(out))
    assert "arm64 · Linux 6.12.117" in done.stdout
    assert "2.15×" in done.stdout
    report = json.loads((out / "bench.json").read_text())
    assert report["sides"]["a"]["version"] == "6.12.117"
    assert report["sides"]["a"]["hash"].startswith("sha256:")
    assert report["series"]["patches"][0]["name"] == "mremap/0001-mm-move-runs.patch"
    (arch,) = report["architectures"]
    assert arch["compiler"] == "fake-gcc 12.2.0"
    assert arch["qemu"] == "7.2.22"
    assert len(arch["rows"]) == 14
    assert arch["rows"][0]["a"]["tlb_by_class_per_unit"]["tlbi_va"] == 33 / 256
    assert (out / "bench.html").read_text().startswith("<!DOCTYPE html>")
    assert (out / "bench.svg").read_text().startswith("<svg")


def keep_workloads(project: Path, *names: str) -> None:
    """Leave only these workloads: a demo of all boots hundreds of guests."""
    (project / "guest/workloads").unlink()
    (project / "guest/workloads").mkdir()
    for name in ("symbols", "locks"):
        shutil.copy2(ROOT / f"guest/workloads/{name}.toml", project / "guest/workloads")
    for name in names:
        text = (ROOT / f"guest/workloads/{name}.toml").read_text()
        text = text.replace("sizes = [4, 16, 32, 64, 256, 1024, 2048]\n", "")
        sizes = "" if "sizes =" in text else "sizes = [64]\n"
        (project / f"guest/workloads/{name}.toml").write_text(sizes + text)


@pytest.mark.slow
def test_a_path_that_only_patched_takes_fails_the_bench(
    quire: Quire, tree: Path, tmp_path: Path
) -> None:
    keep_workloads(quire.project, "gup", "lazyfree", "migrate", "mremap", "swapout")
    words = ("bench", "gup", "--source", str(tree), "ARCH=arm64", "--output", str(tmp_path / "out"))
    done = quire(*words, FAKE_QEMU="slow")
    assert done.returncode == 1
    assert "MORE CALLS: slow GUP" in " ".join(done.stdout.split())
    assert "arm64 gup 64 KiB: slow GUP" in done.stderr
    report = json.loads((tmp_path / "out/bench.json").read_text())
    assert report["architectures"][0]["rows"][0]["calls_beyond_a"] == ["slow GUP"]
    assert (
        quire("demo", "--all", "--source", str(tree), "ARCH=arm64", FAKE_QEMU="slow").returncode
        == 1
    )


def test_calls_of_a_function_that_is_not_there_are_not_zero(quire: Quire, tree: Path) -> None:
    words = ("bench", "gup", "--source", str(tree), "ARCH=arm64")
    said(quire(*words, FAKE_SYMBOLS=""), 2, "no function __get_user_pages")


def test_another_cpu_is_another_boot(quire: Quire, tree: Path) -> None:
    words = ("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64", "-v")
    quire(*words)
    done = quire.passes(*words, "--cpu", "neoverse-n1")
    assert done.stderr.count("-plugin") == 2
    assert "-cpu neoverse-n1 " in done.stderr
    assert "arm64 · neoverse-n1 (no ranged TLBI) · Linux 6.12.117" in done.stdout


def test_a_cpu_without_workloads_has_its_own(quire: Quire, tree: Path) -> None:
    done = quire.passes("bench", "--cpu", "neoverse-n1", "--source", str(tree), "--json")
    report = json.loads(done.stdout)
    assert report["architectures"] == []
    (other,) = report["further_cpus"]
    assert other["cpu"]["lacks"] == "no ranged TLBI"
    assert len(other["rows"]) == 10


def test_a_cpu_that_nobody_has(quire: Quire, tree: Path) -> None:
    words = ("bench", "mremap", "--source", str(tree), "--cpu")
    said(quire(*words, "z80"), 2, "neoverse-n1")
    said(quire(*words, "neoverse-n1", "ARCH=x86_64"), 2, "use ARCH=arm64")


def test_the_users_tree_is_not_touched(quire: Quire, tree: Path) -> None:
    before = snapshot(tree)
    quire.passes("build", "--source", str(tree))
    assert snapshot(tree) == before


def test_patched_files_are_not_the_bases(quire: Quire, tree: Path) -> None:
    """The patched tree consists of hard links; writing to it must not change the base."""
    quire.passes("build", "--source", str(tree), "ARCH=arm64")
    (base,) = quire.build.glob("base/*/linux")
    (patched,) = quire.build.glob("tree/*/linux")
    assert (base / "mm/mremap.c").read_text() == (tree / "mm/mremap.c").read_text()
    assert "run 8" in (patched / "mm/mremap.c").read_text()
    assert (base / "Kbuild").stat().st_ino == (patched / "Kbuild").stat().st_ino
    assert (base / "Kbuild").stat().st_mtime_ns == (tree / "Kbuild").stat().st_mtime_ns


def test_a_second_run_boots_nothing(quire: Quire, tree: Path) -> None:
    words = ("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64", "--json")
    first = quire(*words)
    again = quire.passes(*words, FAKE_QEMU="panic", FAKE_MAKE="fail")
    assert json.loads(again.stdout)["architectures"] == json.loads(first.stdout)["architectures"]


def test_a_changed_patch_boots_only_the_patched_kernel(quire: Quire, tree: Path) -> None:
    words = ("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64", "-v")
    assert quire(*words).stderr.count("-plugin") == 2
    path = quire.project / "patches/linux-6.12.y/ksm/0001-ksm-look-less.patch"
    path.write_text(path.read_text().replace("+ksm 30", "+ksm thirty"))
    assert quire(*words).stderr.count("-plugin") == 1


def test_fresh_adds_a_sample(quire: Quire, tree: Path) -> None:
    words = ("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64")
    quire(*words)
    done = quire(*words, "--fresh")
    assert "spread 0.000% of 2" in done.stdout
    done = quire(*words, "--repeat", "3")
    assert "spread 0.000% of 3" in done.stdout


def test_only_one_topic(quire: Quire, tree: Path) -> None:
    quire.passes("build", "--patched", "--source", str(tree), "ARCH=arm64", "--only", "ksm")
    (patched,) = quire.build.glob("tree/*/linux/mm/mremap.c")
    text = patched.read_text()
    assert "ksm 30" in text
    assert "run 8" not in text


def test_an_empty_series_compares_the_base_with_itself(quire: Quire, tree: Path) -> None:
    (quire.project / "patches/linux-6.12.y/series").write_text("# none yet\n")
    done = quire.passes("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64")
    assert "1.00×" in done.stdout
    assert "compared with itself" in done.stdout


def test_verbose_prints_commands(quire: Quire, tree: Path) -> None:
    words = ("--source", str(tree), "ARCH=arm64", "-v")
    shell = quire("shell", "--smp", "3", *words)
    assert "setpriv --pdeathsig KILL qemu-system-aarch64" in shell.stderr
    assert "-smp 3" in shell.stderr
    debug = str(ROOT / "configs/debug.config")
    assert "make" in quire.passes("build", "--config", debug, *words).stderr
    unpatched = snapshot(tree)
    done = quire("apply", str(tree), "--dry-run")
    assert (done.returncode, "0001-mm-move-runs.patch" in done.stdout) == (0, True)
    assert snapshot(tree) == unpatched


def test_tests_pass_and_are_reported(quire: Quire, tree: Path) -> None:
    done = quire.passes("test", "--source", str(tree), "--json")
    arm64, x86 = json.loads(done.stdout)["kernels"]
    assert (arm64["architecture"], x86["architecture"]) == ("arm64", "x86_64")
    assert [case["name"] for case in arm64["cases"]] == ["fake.good", "fake.bad"]


def test_an_interrupted_run_is_taken_up(quire: Quire, tree: Path) -> None:
    """Only boots that reached their end count, and only on request."""
    words = ("test", "--source", str(tree), "ARCH=arm64")
    assert quire(*words, FAKE_QEMU="panic").returncode == 4
    assert quire(*words, "--resume", FAKE_QEMU="panic").returncode == 4
    first = quire.passes(*words)
    assert quire(*words, "--resume", FAKE_QEMU="panic").stdout == first.stdout
    # Beside other quire processes, a boot's directory has a number.
    (boot,) = (finished.parent for finished in quire.build.glob("boot/test-*/finished"))
    boot.rename(f"{boot}-2")
    assert quire(*words, "--resume", FAKE_QEMU="panic").stdout == first.stdout
    assert quire(*words, FAKE_QEMU="panic").returncode == 4


def test_beside_another_process_a_test_ends_in_a_directory_of_its_own(
    quire: Quire, tree: Path
) -> None:
    locks = quire.build / "lock"
    locks.mkdir(parents=True)
    with (locks / "boots-1").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = quire("test", "--source", str(tree), "ARCH=arm64")
    assert done.returncode == 0, done.stderr
    assert [mark.parent.name[-2:] for mark in quire.build.glob("boot/test-*/finished")] == ["-2"]


def test_profile_shows_symbols(quire: Quire, tree: Path, tmp_path: Path) -> None:
    words = ("profile", "mremap", "--source", str(tree), "ARCH=arm64")
    done = quire.passes(*words, "--collapsed", str(tmp_path / "stacks"))
    assert "move_ptes" in done.stdout
    (stacks,) = (tmp_path / "stacks").glob("*-stock.collapsed")
    assert stacks.read_text().startswith("arm64 mremap 64 KiB stock;move_ptes ")


@pytest.mark.slow
def test_a_demo_says_what_is_left(quire: Quire, tree: Path) -> None:
    keep_workloads(quire.project, "lazyfree", "migrate", "mremap", "swapout")
    done = quire.passes("demo", "--all", "--source", str(tree))
    assert "left: " in done.stderr
    headings = ("arm64 · Linux", "arm64 · neoverse-n1", "x86_64 · Linux")
    places = [done.stdout.index(heading) for heading in headings]
    assert places == sorted(places)
    report = json.loads((quire.build / "demo/quire.json").read_text())
    assert [arch["name"] for arch in report["architectures"]] == ["arm64", "x86_64"]
    assert [cpu["cpu"]["name"] for cpu in report["further_cpus"]] == ["neoverse-n1"]
    for name in ("index.html", "quire.json", "quire.svg"):
        assert (quire.build / "demo" / name).stat().st_size > 1000


def test_a_demo_of_one_side_plans_one_kernel() -> None:
    names = [step.name for step in lab.stages([architecture("arm64")], ["stock"], 2)]
    assert names == ["arm64 stock kernel", "arm64 bench", "arm64 neoverse-n1 bench"]


def test_messages_are_plain_without_a_terminal(quire: Quire, tree: Path) -> None:
    done = quire("bench", "mremap", "--source", str(tree), "ARCH=arm64")
    assert "\x1b" not in done.stdout + done.stderr
    assert "left: patched tree, arm64 stock kernel, arm64 patched kernel, … (about" in done.stderr
