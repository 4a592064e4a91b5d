# SPDX-License-Identifier: GPL-2.0
"""Time: the interval of a median, the program itself, and what compares with what."""

from __future__ import annotations

import json
import os
import platform
import random
import signal
import statistics
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, Quire
from hypothesis import given
from hypothesis import strategies as st

from quire.arch import ARCHITECTURES
from quire.host.errors import UserError
from quire.kernels import kernel
from quire.measure.workloads import Catalogue
from quire.timing import boots, compare, document
from quire.timing.compare import FASTER, NOT_SIGNIFICANT, SLOWER
from quire.timing.document import Timing

NATIVE = [arch for arch in ARCHITECTURES.values() if arch.machine == platform.machine()]
MACHINE = {"architecture": "x86_64", "cpu": "A CPU", "cpus": 8, "pinned_to": 7,
           "memory": "8000000 kB", "release": "6.12.117"}  # fmt: skip


def data(**rows: list[list[float]]) -> dict[str, Any]:
    """A document with these boots of each row."""
    return {
        "schema": "quire-time",
        "schema_version": 1,
        "build": "0123",
        "clock": {"kind": "real", "why": "a CPU", "values": "nanoseconds per unit"},
        "machine": dict(MACHINE),
        "options": {"most": 100},
        "rows": [
            {"name": name, "unit": "page", "words": name, "skipped": "", "failed": "",
             "boots": runs, "counters": {"cycles": 3, "instructions": "Permission denied"}}
            for name, runs in rows.items()
        ],
    }  # fmt: skip


def timing(**rows: list[list[float]]) -> Timing:
    return document.parse(json.dumps(data(**rows)), "a.json")


def changed(key: str, value: Any) -> Timing:
    """A timing of the row `move` with another value; the key is `a.b` for a value in a dict."""
    found = data(move=[[1.0] * 9])
    outer, _, inner = key.partition(".")
    if inner:
        found[outer][inner] = value
    else:
        found[outer] = value
    return document.parse(json.dumps(found), "b.json")


def test_the_rank_is_the_textbooks() -> None:
    assert [compare.rank(n) for n in (1, 5, 6, 8, 9, 20, 25, 100)] == [0, 0, 1, 1, 2, 6, 8, 40]
    assert compare.rank(6, 0.975) == 0
    assert compare.rank(7, 0.975) == 1


@given(st.lists(st.floats(1, 1000), min_size=6, max_size=60))
def test_an_interval_has_the_median(values: list[float]) -> None:
    found = compare.median_interval(values)
    assert found
    assert found.low <= found.median <= found.high
    assert found.median == statistics.median(values)


def test_an_interval_covers_as_often_as_it_says() -> None:
    """Of a skewed distribution, whose median is known."""
    draw, covered = random.Random(1), 0
    for _ in range(2000):
        found = compare.median_interval([draw.expovariate(1) for _ in range(25)])
        assert found
        covered += found.low <= 0.6931 <= found.high
    assert 0.94 <= covered / 2000 <= 0.98


def test_faster_slower_or_not_known() -> None:
    slow = [[100.0 + n for n in range(20)]]
    fast = [[50.0 + n for n in range(20)]]
    wide = [[50.0 + 5 * n for n in range(20)]]
    a = timing(move=slow, drop=fast, same=slow, few=[[100.0] * 5])
    b = timing(move=fast, drop=slow, same=wide, few=[[50.0] * 5])
    found = {one.row.name: one for one in compare.compare(a, b)}
    verdicts = {name: one.verdict for name, one in found.items()}
    assert verdicts == {
        "move": FASTER,
        "drop": SLOWER,
        "same": NOT_SIGNIFICANT,
        "few": NOT_SIGNIFICANT,
    }
    move = found["move"].ratio
    assert move
    assert move.low < 109.5 / 59.5 < move.high
    assert found["few"].why == "too few runs"


def test_an_interval_that_is_not_tight_tells_nothing_of_one_boot() -> None:
    def loose(**rows: list[list[float]]) -> Timing:
        found = data(**rows)
        found["rows"][0]["tight"] = False
        return document.parse(json.dumps(found), "b.json")

    slow, fast = [[100.0 + n for n in range(20)]], [[50.0 + n for n in range(20)]]
    (one,) = compare.compare(timing(move=slow), loose(move=fast))
    assert (one.verdict, one.why) == (NOT_SIGNIFICANT, "not tight on B")
    (one,) = compare.compare(loose(move=slow * 7), loose(move=fast * 7))
    assert (one.verdict, one.values) == (FASTER, "boots")


def test_with_enough_boots_a_boot_is_one_value() -> None:
    """Runs of a boot that agree to a percent must not hide boots that differ by half."""
    many = [[100.0 + n / 10 for n in range(20)]]
    differing = [[base + n / 10 for n in range(20)] for base in (70, 90, 100, 110, 120, 130, 140)]
    a = timing(move=many * 7)
    (by_boot,) = compare.compare(a, timing(move=differing))
    assert (by_boot.verdict, by_boot.values) == (NOT_SIGNIFICANT, "boots")
    (by_run,) = compare.compare(a, timing(move=differing[:1]))
    assert (by_run.verdict, by_run.values) == (FASTER, "runs")


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("clock.kind", "emulated", "no times: its clock is emulated"),
        ("clock.kind", "unknown", "no times"),
        ("build", "4567", "different programs"),
        ("machine.cpu", "Another", "different machines"),
        ("machine.governor", "powersave", "governor: - and powersave"),
        ("machine.memory", "4000000 kB", "memory"),
        ("rows", data(drop=[[1.0] * 9])["rows"], "cover different benchmarks"),
    ],
)
def test_what_does_not_compare(key: str, value: Any, text: str) -> None:
    with pytest.raises(UserError) as error:
        compare.compare(timing(move=[[1.0] * 9]), changed(key, value))
    assert text in error.value.text()
    assert error.value.remedy


def test_another_kernel_and_a_little_memory_do_compare() -> None:
    a = timing(move=[[1.0] * 9])
    assert compare.compare(a, changed("machine.release", "6.12.117-quire"))
    assert compare.compare(a, changed("machine.memory", "7999000 kB"))


def test_what_was_skipped_is_not_compared() -> None:
    found = data(move=[[1.0] * 9])
    found["rows"][0] |= {"skipped": "cannot write enabled: Permission denied", "boots": [[]]}
    (one,) = compare.compare(document.parse(json.dumps(found), "b"), timing(move=[[1.0] * 9]))
    assert one.verdict == NOT_SIGNIFICANT
    assert "skipped on A: cannot write" in one.why


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "quire-test", "schema_version": 1}',
                                  '{"schema": "quire-time", "schema_version": 2}',
                                  '{"schema": "quire-time", "schema_version": 1}'])  # fmt: skip
def test_a_file_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UserError) as error:
        document.read(tmp_path / "x.json")
    assert error.value.remedy


def test_compare_as_a_command(quire: Quire, tmp_path: Path) -> None:
    a, b = tmp_path / "stock.json", tmp_path / "patched.json"
    a.write_text(json.dumps(data(move=[[100.0 + n for n in range(20)]])))
    b.write_text(json.dumps(data(move=[[50.0 + n for n in range(20)]])))
    done = quire.passes("time", "compare", str(a), str(b))
    assert "faster" in done.stdout
    assert "between boots" in done.stdout
    done = quire("time", "compare", str(b), str(a), "--json")
    assert done.returncode == 1
    assert "1 of 1 benchmarks are slower on B" in done.stderr
    schema = json.loads((ROOT / "docs/schema/compare.json").read_text())
    jsonschema.validate(json.loads(done.stdout), schema)
    assert quire("time", "compare", str(a), str(tmp_path / "none.json")).returncode == 2


def test_a_bundle_has_a_program_per_architecture(quire: Quire, tmp_path: Path) -> None:
    quire.passes("time", "run", "--bundle", str(tmp_path / "out"))
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["README", "quire-time-arm64", "quire-time-x86_64"]
    assert "mremap-size=64" in quire("time", "run", "--list").stdout.split()


def test_emulated_runs_have_no_times(quire: Quire, tree: Path, tmp_path: Path) -> None:
    found = data(move=[[12345.0, 23456.0]])
    found["clock"] |= {"kind": "emulated", "values": "not time"}
    (tmp_path / "x").write_text(json.dumps(found, indent=0) + "\n")
    words = (
        "time",
        "run",
        "--emulate",
        "--source",
        str(tree),
        "ARCH=arm64",
        "--output",
        str(tmp_path),
    )
    done = quire.passes(*words, FAKE_DOCUMENT=str(tmp_path / "x"))
    assert "NOT TIME" in done.stdout
    assert "2 runs" in done.stdout
    assert "12345" not in done.stdout
    done = quire("time", "compare", str(tmp_path / "stock.json"), str(tmp_path / "patched.json"))
    assert done.returncode == 2
    assert "no times" in done.stderr


def test_boots_alternate_and_become_one_document(
    quire: Quire, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = timing(move=[[1.0, 2.0]]), timing(move=[[3.0]])
    merged = document.merge([one, two], "stock")
    assert merged.rows[0].boots == ((1.0, 2.0), (3.0,))
    assert merged.rows[0].counters == {"cycles": 3, "instructions": "Permission denied"}
    schema = json.loads((ROOT / "docs/schema/time.json").read_text())
    jsonschema.validate(merged.data, schema)
    assert document.parse(json.dumps(merged.data), "again").rows == merged.rows


def test_kvm_needs_a_cpu_of_that_architecture(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (arch,) = NATIVE
    (other,) = (one for one in ARCHITECTURES.values() if one != arch)
    with pytest.raises(UserError, match="KVM supports no other"):
        boots.require_kvm(other)
    monkeypatch.setattr(boots, "KVM", Path("/nowhere/kvm"))
    with pytest.raises(UserError, match="KVM cannot be used"):
        boots.require_kvm(arch)
    monkeypatch.setattr(boots, "KVM", Path("/dev/null"))
    monkeypatch.setattr(boots, "CPUINFO", tmp_path / "cpuinfo")
    for flags, able in ("fpu vme", not arch.kvm_flags), ("fpu vmx", True):
        (tmp_path / "cpuinfo").write_text(f"flags\t\t: {flags}\n")
        if able:
            boots.require_kvm(arch)
            continue
        with pytest.raises(UserError, match="lacks full virtualisation"):
            boots.require_kvm(arch)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program for this host, with a few rows."""
    from quire.host.cache import Cache  # noqa: PLC0415

    benchmarks = Catalogue.read(ROOT / "guest/workloads").benchmarks(["mremap", "munmap"], [4, 64])
    tools = kernel.toolchain(NATIVE[0])
    return boots.build_program(
        Cache(tmp_path_factory.mktemp("build")), ROOT / "guest", NATIVE[0], tools, benchmarks
    )


def run(built: Path, *words: str, user: bool = False) -> subprocess.CompletedProcess[str]:
    as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if user else []
    return subprocess.run(
        [*as_user, str(built), *words], capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.slow
def test_the_program_lists_its_rows(built: Path) -> None:
    rows = run(built, "--list").stdout.split()
    assert rows == ["mremap-size=4", "mremap-size=64", "munmap-size=4", "munmap-size=64"]
    assert run(built, "--list", "*size=64*").stdout.split() == ["mremap-size=64", "munmap-size=64"]
    done = run(built, "--list", "nothing")
    assert done.returncode == 2
    assert "no row" in done.stderr
    for word in ("--runs=x", "--runs=0", "--runs=", "--what"):
        assert run(built, word).returncode == 2, word


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_a_user_without_rights_is_told_what_was_skipped(built: Path, tmp_path: Path) -> None:
    for folder in built.parents:
        if folder.stat().st_uid == os.geteuid() and str(folder).startswith(
            str(tmp_path.parents[1])
        ):
            folder.chmod(0o755)
    done = run(built, "--runs=2", user=True)
    assert done.returncode == 0, done.stderr
    schema = json.loads((ROOT / "docs/schema/time.json").read_text())
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema)
    assert all("Permission denied" in row["skipped"] for row in found["rows"])
    assert "skipped: " in done.stderr


@pytest.mark.slow
def test_a_full_disk_leaves_no_document(built: Path) -> None:
    done = run(built, "--runs=1", "--output=/proc/none.json")
    assert done.returncode == 1
    assert "cannot write /proc/none.json" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the workloads need root")
def test_ctrl_c_puts_settings_back_and_leaves_no_document(built: Path, tmp_path: Path) -> None:
    setting = Path("/proc/sys/vm/stat_interval")
    before = setting.read_text()
    output = tmp_path / "x.json"
    child = subprocess.Popen(
        [str(built), "mremap-size=4", "--runs=1000", "--precision=1", f"--output={output}"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr
    assert "clock: " in child.stderr.readline()
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 128 + signal.SIGINT
    child.stderr.close()
    assert setting.read_text() == before
    assert list(tmp_path.iterdir()) == []
