# SPDX-License-Identifier: GPL-2.0
"""`quire report` on fakes: the reply, its exit status, and what is left out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import SOURCE, Quire, line_patch, said
from test_flow import keep_workloads
from test_side import clone  # noqa: F401 -- a fixture
from test_steps import FOLDER

from quire.report import reply


@pytest.fixture
def series(quire: Quire, tmp_path: Path) -> Path:
    """A patch of mm/mremap.c, and few workloads."""
    keep_workloads(quire.project, "mremap")
    concerns = '[[concern]]\nfiles = ["mm/mremap.c"]\nrows = ["mremap"]\ncases = ["fake.*"]\n'
    (quire.project / "guest/workloads/concerns.toml").write_text(concerns)
    path = tmp_path / "topic.mbox"
    path.write_text(line_patch("mm: move runs", 8, "run 8"))
    return path


def words(tree: Path, series: Path) -> tuple[str, ...]:
    return ("report", str(series), "--source", str(tree), "ARCH=arm64", "--fuzz", "0")


def test_a_reply(quire: Quire, tree: Path, series: Path) -> None:
    text = quire.passes(*words(tree, series)).stdout
    first, second, subject, *_ = text.splitlines()
    assert first.startswith("Base: Linux 6.12.117, ")
    assert second == "Series: 1 patch of topic.mbox"
    assert subject == "  mm: move runs"
    assert f"  {reply.SAME}:\n    mremap 64 KiB\n" in text
    assert "arm64, tests with the series: 2 pass" in text
    assert "  quire report " in text
    # The fake kernel lacks what the fuzzer's costs watch.
    assert "arm64: costs of programs: no function " in text


def test_a_row_that_costs_more_fails(quire: Quire, tree: Path, series: Path) -> None:
    """The fake guest counts the characters of mm/mremap.c."""
    long = "x" * 9000
    (tree / "mm/mremap.c").write_text(SOURCE.replace("line 8\n", f"{long}\n"))
    series.write_text(line_patch("mm: less", 8, "run 8").replace("-line 8\n", f"-{long}\n"))
    junit = tree.parent / "report.xml"
    done = quire(*words(tree, series), "--junit", str(junit))
    said(done, 1, "bench.mremap 64 KiB 964 → 999 (+3.6%)")
    assert "COSTS MORE: move_ptes" in done.stdout
    root = ElementTree.parse(junit).getroot()
    assert root.get("failures") == "1"


def test_a_counted_function_that_the_series_removes(quire: Quire, tree: Path, series: Path) -> None:
    for path in FOLDER.glob("gup.*"):
        shutil.copy(path, quire.project / "guest/workloads")
    concerns = quire.project / "guest/workloads/concerns.toml"
    concerns.write_text(concerns.read_text().replace('"mremap"', '"gup"'))
    series.write_text(line_patch("mm: rename", 8, "without __get_user_pages"))
    text = quire.passes(*words(tree, series)).stdout
    assert f"  {reply.SAME}:\n    gup 64 KiB" in text
    assert "calls: topic.mbox has no function __get_user_pages" in text


def test_a_test_that_only_the_series_fails(quire: Quire, tree: Path, series: Path) -> None:
    done = quire(*words(tree, series), FAKE_QEMU="worse")
    said(done, 1, "fake.bad")
    assert "  FAIL fake.bad" in done.stdout


def test_another_state_is_shown_with_its_program(quire: Quire, tree: Path, series: Path) -> None:
    done = quire(*words(tree, series)[:-1], "0.1", "--json", FAKE_QEMU="differ")
    said(done, 1, "fuzz.")
    document = json.loads(done.stdout)
    (fuzz,) = document["fuzz"]
    program = fuzz["findings"][0]["program"]
    assert " move " in program[0]
    assert f"    {program[0]}" in document["reply"]


def test_a_budget_leaves_the_rest_out(quire: Quire, tree: Path, series: Path) -> None:
    done = quire.passes(*words(tree, series), "--budget", "0.00001")
    left = "rows of 64 KiB", "tests", "programs", "rows of 4, 2048 KiB"
    assert [f"  arm64: {name}" for name in left] == [
        line for line in done.stdout.splitlines() if line.startswith("  arm64: ")
    ]


def test_a_branch(quire: Quire, clone: Path, series: Path) -> None:  # noqa: F811
    where = ("--git", str(clone), "--a", "v6.12.117", "ARCH=arm64", "--fuzz", "0")
    text = quire.passes("report", "topic", *where).stdout
    assert "\nSeries: Linux 6.12.117, git " in text


def test_a_lost_guest(quire: Quire, tree: Path, series: Path) -> None:
    done = quire(*words(tree, series), FAKE_QEMU="panic")
    said(done, 4, "the guest printed a splat")
    assert "LOST" in done.stdout


def test_a_row_that_finds_wrong_data(quire: Quire, tree: Path, series: Path) -> None:
    """The other rows are counted, and the tests run."""
    series.write_text(line_patch("mm: lose", 8, "// wrong"))
    done = quire(*words(tree, series))
    said(done, 1, "bench.mremap 64 KiB wrong data")
    assert "  FAIL bench.mremap 64 KiB wrong data" in done.stdout
    assert "arm64, rows with the series: 1 fail" in done.stdout
    assert "arm64, tests with the series: 2 pass" in done.stdout


def test_a_row_that_finds_wrong_data_without_the_series(
    quire: Quire, tree: Path, series: Path
) -> None:
    text = quire.passes(*words(tree, series), FAKE_QEMU="wrong").stdout
    assert "  arm64: mremap 64 KiB: without the series: wrong data" in text


def test_a_guest_that_is_lost_with_a_row(quire: Quire, tree: Path, series: Path) -> None:
    done = quire(*words(tree, series), FAKE_QEMU="cut")
    assert done.returncode == 4, done.stderr
    assert "LOST: arm64-mremap 64 KiB" in done.stdout
    assert "arm64, tests with the series: 2 pass" in done.stdout


def test_bad_input(quire: Quire, tree: Path, series: Path) -> None:
    said(quire("report", "gone.mbox", "--source", str(tree)), 2, "the series does not exist")
    series.write_text(line_patch("mm: other", 8, "run 8").replace("line 7", "another"))
    said(quire(*words(tree, series)), 2, "does not apply", "hunk 1")
    assert not list(quire.build.glob("tree/*"))
    series.write_text(line_patch("mm: broken", 8, "#error"))
    said(quire(*words(tree, series)), 3, "topic.mbox kernel did not build")
