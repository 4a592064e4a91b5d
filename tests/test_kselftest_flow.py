# SPDX-License-Identifier: GPL-2.0
"""`quire selftests` on a fake QEMU: two boots, a comparison, and a second run of differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Quire
from known import toml

RUNS = "".join(
    toml("run", command=command, seconds=5, output=output, architectures=names, why_not=why)
    for command, output, names, why in (
        ("good -d 1", "tap", ["arm64", "x86_64"], ""),
        ("other", "exit", ["x86_64"], "arm64 cannot"),
        ("gone", "exit", ["arm64"], ""),
    )
)


@pytest.fixture
def words(quire: Quire, tree: Path) -> tuple[str, ...]:
    """A tree with two of the programs, and a table that lists three."""
    folder = tree / "tools/testing/selftests/mm"
    folder.mkdir(parents=True)
    for name in ("good", "other"):
        (folder / f"{name}.c").write_text("int main(void) { return 0; }\n")
    table = quire.project / "guest/selftests/runs.toml"
    table.parent.mkdir()
    table.write_text(RUNS)
    return ("selftests", "ARCH=arm64", "--source", str(tree))


def test_kernels_that_agree(quire: Quire, words: tuple[str, ...]) -> None:
    done = quire.passes(*words)
    assert "arm64 stock: 3 pass" in done.stdout
    assert "arm64 patched: 3 pass" in done.stdout
    assert "left out: other: arm64 cannot" in done.stdout
    assert "left out: gone: not in this base" in done.stdout


def test_patched_is_worse(quire: Quire, words: tuple[str, ...]) -> None:
    done = quire(*words, "--json", FAKE_QEMU="worse")
    assert done.returncode == 1, done.stderr
    assert "good-d-1.2: fail" in done.stderr
    (result,) = json.loads(done.stdout)
    cases = {case["name"]: case for case in result["cases"]}
    assert cases["good-d-1.1"]["a"] == cases["good-d-1.1"]["b"] == "pass"
    assert cases["good-d-1.2"]["again"] == ["pass", "fail"]
    assert cases["good-d-1.2"]["regressed"]
    assert cases["good-d-1.exit"]["regressed"]


def test_once_is_enough(quire: Quire, words: tuple[str, ...]) -> None:
    done = quire(*words, FAKE_QEMU="once")
    assert done.returncode == 1, done.stderr
    assert "patched, second run: pass" in done.stdout


def test_what_stock_does_not_do_twice_is_said_and_no_failure(
    quire: Quire, words: tuple[str, ...]
) -> None:
    done = quire.passes(*words, FAKE_QEMU="unstable")
    assert "two runs on stock differ" in done.stdout


def test_a_panic_is_a_lost_guest(quire: Quire, words: tuple[str, ...]) -> None:
    assert quire(*words, FAKE_QEMU="panic").returncode == 4


def test_a_pattern_that_matches_nothing(quire: Quire, words: tuple[str, ...]) -> None:
    done = quire(*words, "bad*")
    assert done.returncode == 2
    assert "good-d-1" in done.stderr


def test_the_list(quire: Quire, words: tuple[str, ...]) -> None:
    done = quire(*words, "--list")
    assert done.stdout.splitlines()[0] == "arm64: good-d-1"


def test_what_is_built_and_booted_is_printed(quire: Quire, words: tuple[str, ...]) -> None:
    done = quire(*words, "-v")
    assert "tools/testing/selftests/mm" in done.stderr
    assert done.stderr.count("-- selftests '*'") + done.stderr.count("-- selftests *") == 2
