# SPDX-License-Identifier: GPL-2.0
"""KUnit kernels: their table, their output, and complete runs on fake tools."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Quire, line_patch
from known import ARM64, I386, X86_64, toml

from quire.host import project
from quire.host.errors import UserError
from quire.kernels import kconfig
from quire.suites import kunit
from quire.suites.kunit import KUnitKernel

SMALL = {"fragments": ["kunit-arm64.config"], "suites": ["contpte"]}
FOLDED = {"fragments": ["kunit-i386.config", "kunit-runs.config"], "suites": ["rmap_runs"]}
TABLE = toml("kernel", name="small", architecture="arm64", tree="stock", **SMALL) + toml(
    "kernel", name="folded", architecture="i386", tree="patched", **FOLDED
)
PROOF = KUnitKernel("folded", "i386", "patched", (), ("rmap_runs",))
GOOD = """\
Linux version 6.12.117
KTAP version 1
1..1
    KTAP version 1
    # Subtest: rmap_runs
    # module: rmap
    1..2
    ok 1 rmap_runs_end_of_table
random: crng init done
    ok 2 rmap_runs_anon
# rmap_runs: pass:2 fail:0 skip:0 total:2
# Totals: pass:2 fail:0 skip:0 total:2
ok 1 rmap_runs
reboot: Restarting system
"""
BAD = GOOD.replace(
    "    ok 1 rmap_runs_end_of_table",
    "    # rmap_runs_end_of_table: ASSERTION FAILED at mm/rmap_kunit.c:127\n"
    "    a run of 16 at 1023, expected 1\n"
    "    not ok 1 rmap_runs_end_of_table",
).replace("\nok 1 rmap_runs", "\nnot ok 1 rmap_runs")


def write(folder: Path, text: str) -> Path:
    file = folder / kunit.TABLE
    file.write_text(text)
    return file


def test_a_table_is_read_and_chosen_from(tmp_path: Path) -> None:
    small, folded = proofs = kunit.read(write(tmp_path, TABLE))
    assert small.arch is ARM64 and small.tree == "stock"
    assert folded.arch is I386
    assert folded.fragments == ("kunit-i386.config", "kunit-runs.config")
    assert kunit.select(proofs, ["small"], [X86_64]) == [small]
    assert kunit.select(proofs, [], [X86_64]) == [folded]
    assert kunit.select(proofs, [], [ARM64, X86_64]) == proofs
    with pytest.raises(UserError, match="no such kernel: nonsense"):
        kunit.select(proofs, ["nonsense"], [ARM64])


@pytest.mark.parametrize("words", [("vax", "stock"), ("arm64", "newest")])
def test_a_row_that_cannot_be_is_named(tmp_path: Path, words: tuple[str, str]) -> None:
    row = toml("kernel", name="odd", architecture=words[0], tree=words[1], **SMALL)
    with pytest.raises(UserError, match="kernel odd has an unknown architecture or tree") as caught:
        kunit.read(write(tmp_path, TABLE + row))
    assert caught.value.where.endswith(f"{kunit.TABLE}:{TABLE.count(chr(10)) + 1}")


def test_what_has_passed() -> None:
    assert not kunit.trouble(PROOF, GOOD)


@pytest.mark.parametrize(
    ("said", "trouble"),
    [
        ("XArray: 5 of 5 tests passed", ""),
        ("XArray: 4 of 5 tests passed", "XArray: 4 of 5 tests passed"),
        ("XArray: 0 of 0 tests passed", "XArray: 0 of 0 tests passed"),
        ("XArray: testing", "test XArray: no result"),
    ],
)
def test_a_test_that_is_not_kunits(said: str, trouble: str) -> None:
    proof = replace(PROOF, tests=("XArray",))
    assert kunit.trouble(proof, f"{said}\n{GOOD}") == trouble


@pytest.mark.parametrize(
    ("console", "trouble"),
    [
        (BAD, "a run of 16 at 1023, expected 1"),
        (BAD, "suite rmap_runs: fail"),
        (GOOD.replace("\nok 1 rmap_runs", "\nok 1 rmap_runs # SKIP"), "suite rmap_runs: skip"),
        (GOOD.replace("rmap_runs\nreboot", "other\nreboot"), "suite rmap_runs: missing"),
        (GOOD.replace("    ok 2 rmap_runs_anon\n", ""), "suite rmap_runs: fail"),
        (GOOD.partition("random")[0], "suite rmap_runs: missing"),
    ],
)
def test_what_has_not(console: str, trouble: str) -> None:
    assert trouble in kunit.trouble(PROOF, console)


def test_the_projects_own_tables_are_sound() -> None:
    found = project.find()
    tables = sorted(found.root.glob("lines/*/seeded/kunit.toml"))
    assert tables
    for table in tables:
        assert (table.parent / kunit.PATCH).is_file()
        names = [proof.name for proof in kunit.read(table)]
        assert len(names) == len(set(names))
        for proof in kunit.read(table):
            for name in (kunit.FRAGMENT, *proof.fragments):
                assert kconfig.parse((found.configs / name).read_text())


@pytest.fixture
def overlay(quire: Quire) -> Quire:
    """The fake project with a table of KUnit kernels."""
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "bugs.toml").write_text("")
    # i386 has a compiler of its own, which not every host has.
    (folder / "kunit.toml").write_text(TABLE.replace('"i386"', '"x86_64"'))
    (folder / "kunit.patch").write_text(line_patch("mm: suites", 35, "suites"))
    for name in ("boot", "arm64", "i386", "runs"):
        (quire.project / f"configs/kunit-{name}.config").write_text("CONFIG_FAKE=y\n")
    return quire


def test_a_kernel_without_user_space_is_booted(overlay: Quire, tree: Path) -> None:
    done = overlay.passes("kunit", "folded", "--source", str(tree), "--json", FAKE_CONSOLE=GOOD)
    (row,) = json.loads(done.stdout)
    assert row["kernel"] == "folded"
    assert row["cases"]["rmap_runs.rmap_runs_anon"] == "pass"
    (image,) = overlay.build.glob("tree/*/linux/o-x86_64-*/arch/x86/boot/bzImage")
    assert "run 8" in image.read_text() and "suites" in image.read_text()


def test_stock_gets_the_suites_alone(overlay: Quire, tree: Path) -> None:
    console = GOOD.replace("rmap_runs", "contpte")
    done = overlay.passes("kunit", "small", "--source", str(tree), FAKE_CONSOLE=console)
    assert "ok   small: contpte (2 cases)" in done.stdout
    (image,) = overlay.build.glob("tree/*/linux/o-arm64-*/arch/arm64/boot/Image")
    assert "run 8" not in image.read_text() and "suites" in image.read_text()


@pytest.mark.parametrize(
    ("console", "status", "text"),
    [
        (BAD, 1, "a run of 16 at 1023, expected 1"),
        ("", 4, "ended without a report"),
        (f"{GOOD}Kernel panic - not syncing: No working init found\n", 4, "printed a splat"),
    ],
)
def test_a_failure_has_its_exit_status(
    overlay: Quire, tree: Path, console: str, status: int, text: str
) -> None:
    done = overlay("kunit", "folded", "--source", str(tree), FAKE_CONSOLE=console)
    assert done.returncode == status, done.stderr
    assert text in done.stderr
    assert "remedy: " in done.stderr
