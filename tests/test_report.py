# SPDX-License-Identifier: GPL-2.0
"""`quire report` on fakes: the reply, its exit status, and what is left out."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree

import pytest
from conftest import SOURCE, Quire, line_patch, make_line, make_tree, said
from test_checkout import git
from test_flow import keep_workloads
from test_side import clone  # noqa: F401 -- a fixture
from test_steps import FOLDER

from quire.fuzz.cost.growth import INSNS, Growth
from quire.review import blame, reply, verdict
from quire.review.verdict import WIDTH


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
    done = quire.passes(*words(tree, series))
    first, second, third, *rest = lines = done.stdout.splitlines()
    assert first == "No regression found."
    assert second == "Series: mm: move runs"
    assert third == "On Linux 6.12.117, arm64: 1 benchmark, 2 tests."
    assert "arm64, within 0.3%: mremap 64 KiB" in rest
    assert "arm64: 2 tests pass." in rest
    assert rest[-1] == "  quire report topic.mbox --source linux ARCH=arm64 --fuzz 0"
    counted = "(-icount); not time. Configuration: common.config, arm64.config of Quire."
    assert counted in " ".join(done.stdout.split())
    assert len(lines) <= 20
    assert max(map(len, lines)) <= WIDTH
    assert done.stdout.isascii()
    # Nothing of this machine.
    assert str(tree.parent) not in done.stdout


def test_details(quire: Quire, tree: Path, series: Path) -> None:
    text = quire.passes(*words(tree, series), "--details").stdout
    assert "Side B: Linux 6.12.117, " in text
    assert "\n  mm: move runs\n" in text
    assert "arm64, tests with the series: 2 pass\n" in text
    # The fake kernel lacks what the fuzzer's costs watch.
    assert "arm64, costs of programs: no function " in text


def test_what_both_sides_fail_or_skip_is_not_mentioned(
    quire: Quire, tree: Path, series: Path
) -> None:
    where = words(tree, series)[:-2]
    text = quire.passes(*where, "--fuzz", "0", FAKE_QEMU="wrong").stdout
    assert text.startswith("No regression found.\n")
    assert "bad" not in text
    assert "arm64: 1 test passes." in text
    text = quire.passes(*where, "--fuzz", "0", "--details", FAKE_QEMU="wrong").stdout
    assert "  fail on both sides: fake.bad\n" in text
    assert "arm64, mremap 64 KiB: without the series: wrong data" in text


def test_a_row_that_costs_more_fails(quire: Quire, tree: Path, series: Path) -> None:
    """The fake guest counts the characters of mm/mremap.c."""
    long = "x" * 9000
    (tree / "mm/mremap.c").write_text(SOURCE.replace("line 8\n", f"{long}\n"))
    series.write_text(line_patch("mm: less", 8, "run 8").replace("-line 8\n", f"-{long}\n"))
    junit = tree.parent / "report.xml"
    done = quire(*words(tree, series), "--junit", str(junit))
    said(done, 1, "bench.mremap 64 KiB 964 → 999 (+3.6%)")
    first, second, *rest = done.stdout.splitlines()
    assert first == "Regression: mremap 64 KiB takes 3.6% more instructions (arm64)."
    assert second == "Series: mm: less"
    assert "    move_ptes 964 -> 999" in rest
    root = ElementTree.parse(junit).getroot()
    assert root.get("failures") == "1"


def thread(series: Path, tree: Path, planted: int) -> None:
    """Five patches of mm/mremap.c, of which one removes 9000 characters, and none loses a row."""
    long, text = "x" * 9000, SOURCE.splitlines()
    text[4 * planted + 3] = long
    (tree / "mm/mremap.c").write_text("\n".join(text) + "\n")
    mails = []
    for number in range(5):
        at, old = 4 * number + 4, text[4 * number + 3]
        mail = line_patch(f"mm: change {number + 1}", at, f"run {number}")
        for other in range(5):
            # The lines around it are those of the patches before it.
            word = f"run {other}" if other < number else text[4 * other + 3]
            mail = mail.replace(f" line {4 * other + 4}\n", f" {word}\n")
        mails.append(mail.replace(f"-line {at}\n", f"-{old}\n"))
    series.write_text("".join(mails))


def test_a_row_that_costs_more_names_its_patch(quire: Quire, tree: Path, series: Path) -> None:
    thread(series, tree, 3)
    done = quire(*words(tree, series))
    assert done.returncode == 1, done.stderr
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("Regression: mremap 64 KiB takes ")
    assert second == "By patch 4/5: mm: change 4"
    # Not every patch was built: two of four.
    assert len(list(quire.build.glob("log/kernel-*"))) <= 4
    document = json.loads(quire(*words(tree, series), "--json").stdout)
    (culprit,) = document["culprits"]
    assert (culprit["first"], culprit["last"], culprit["row"]) == (4, 4, "mremap 64 KiB")
    assert culprit["before"] < culprit["after"]


def test_a_commit_of_a_branch_is_named(quire: Quire, clone: Path, series: Path) -> None:  # noqa: F811
    path = clone / "mm/mremap.c"
    for number, old in enumerate(("line 12\n", "".join(f"line {n}\n" for n in range(15, 40)))):
        path.write_text(path.read_text().replace(old, ""))
        git(clone, "commit", "-q", "-a", "-m", f"mm: remove {number}")
    where = ("--git", str(clone), "--a", "v6.12.117", "ARCH=arm64", "--fuzz", "0")
    done = quire("report", "topic", *where, "--limit", "0.05")
    assert done.returncode == 1, done.stderr
    assert "\nBy patch 3/3: mm: remove 1\n" in done.stdout


def test_the_largest_gain_is_shown_beside_the_costs() -> None:
    def row(after: float) -> Mock:
        return Mock(a=Mock(insns=100.0), b=Mock(insns=after))

    costs, gains = [row(202), row(158), row(109), row(108), row(107)], [row(69), row(61), row(84)]
    assert reply.notable([*costs, *gains]) == [*costs[:3], gains[1]]
    assert reply.notable(costs) == costs[:4]
    assert reply.notable([costs[0], *gains]) == [costs[0], *gains]


def test_a_size_stays_on_one_line() -> None:
    lines = [line for n in range(9) for line in verdict.wrap("x" * n + " mremap 16 KiB," * 9)]
    assert not any(line.strip().startswith("KiB") for line in lines)
    assert not any("\xa0" in line for line in lines)


def test_the_first_steps_that_cost_more() -> None:
    costs: list[float | None] = [100, 100, 100, None, 150, 150]

    def cost(at: int) -> float | None:
        return costs[at]

    assert blame.search(cost, 5) == (3, 4)
    costs[3] = 150
    assert blame.search(cost, 5) == (3, 3)
    assert blame.search(float, 1) == (1, 1)


def test_a_time_given_is_a_time_kept(quire: Quire, tree: Path, series: Path) -> None:
    """A boot that takes longer is stopped; what is there is the reply."""
    gate = tree.parent / "gate"
    started = time.monotonic()
    done = quire.passes(*words(tree, series), "--budget", "0.15", FAKE_GATE=str(gate))
    assert time.monotonic() - started < 60
    assert "Not done on arm64: benchmarks at 64 KiB, tests" in done.stdout
    started = time.monotonic()
    done = quire.passes(*words(tree, series)[:-1], "0.05", FAKE_FUZZ_GATE=str(gate))
    assert time.monotonic() - started < 60
    assert "arm64: 2 tests pass." in done.stdout


def test_a_build_longer_than_the_time(quire: Quire, tree: Path, series: Path) -> None:
    """It is stopped, and the reply says so."""
    started, slow = time.monotonic(), {"FAKE_MAKE": "sleep", "FAKE_STARTED": str(tree / "started")}
    done = quire.passes(*words(tree, series), "--budget", "0.1", **slow)
    assert time.monotonic() - started < 60
    assert done.stdout.startswith("Nothing was measured.\n")
    assert "Not done on arm64: build, benchmarks at 64 KiB, tests" in done.stdout


def test_a_counted_function_that_the_series_removes(quire: Quire, tree: Path, series: Path) -> None:
    for path in FOLDER.glob("gup.*"):
        shutil.copy(path, quire.project / "guest/workloads")
    concerns = quire.project / "guest/workloads/concerns.toml"
    concerns.write_text(concerns.read_text().replace('"mremap"', '"gup"'))
    series.write_text(line_patch("mm: rename", 8, "without __get_user_pages"))
    text = quire.passes(*words(tree, series), "--details").stdout
    assert "within 0.3%: gup 4 KiB, gup 64 KiB" in text
    assert "calls: topic.mbox has no function __get_user_pages" in text


def test_a_test_that_only_the_series_fails(quire: Quire, tree: Path, series: Path) -> None:
    done = quire(*words(tree, series), FAKE_QEMU="worse")
    said(done, 1, "fake.bad")
    assert done.stdout.startswith("Regression: fake.bad fails (arm64).\n")
    head = "failing with the series and passing without it:"
    assert f"{head}\n  fake.bad\n    page 1 differs\n" in done.stdout


def test_costs_of_programs_read_like_those_of_benchmarks() -> None:
    fault = Mock(verb="wp", grown=[Growth(INSNS, 16337, 18538), Growth("tlb flushes", 0, 2)])
    judge = Mock(**{"tally.findings": [Mock(fault=fault)]})
    (line,) = verdict.expenses(Mock(judges=[Mock(), judge], **{"targets.arch.title": "arm64"}))
    said = "instructions 16337 -> 18538 (+13.5%); tlb flushes 0 -> 2"
    assert line == f"wp in a generated program (arm64): {said}"


def test_another_state_is_shown_with_its_program(quire: Quire, tree: Path, series: Path) -> None:
    done = quire(*words(tree, series)[:-1], "0.1", "--json", FAKE_QEMU="differ")
    said(done, 1, "fuzz.")
    document = json.loads(done.stdout)
    (fuzz,) = document["fuzz"]
    program = fuzz["findings"][0]["program"]
    assert any(" move " in line for line in program)
    assert f"  {program[0]}" in document["reply"]
    assert document["reply"].startswith("Regression: a generated program behaves differently")


def test_a_budget_leaves_the_rest_out(quire: Quire, tree: Path, series: Path) -> None:
    done = quire.passes(*words(tree, series), "--budget", "0.00001")
    sizes = ["build", *(f"benchmarks at {size} KiB" for size in (64,))]
    left = ", ".join((*sizes, "tests", "programs"))
    assert f"Not done on arm64: {left}\n" in done.stdout.replace("\n  ", " ")
    assert done.stdout.startswith("Nothing was measured.\n")
    assert "On Linux 6.12.117: not built in the time given.\n" in done.stdout


def test_a_branch(quire: Quire, clone: Path, series: Path) -> None:  # noqa: F811
    where = ("--git", str(clone), "--a", "v6.12.117", "ARCH=arm64", "--fuzz", "0")
    text = quire.passes("report", "topic", *where).stdout
    assert "\nSeries: topic on v6.12.117\n" in text
    assert "\nBase: Linux 6.12.117 (git v6.12.117, commit " in text
    assert "  quire report topic --git clone --a v6.12.117 ARCH=arm64" in text


def test_a_guest_that_only_the_series_loses(quire: Quire, tree: Path, series: Path) -> None:
    series.write_text(line_patch("mm: lose", 8, "// panic"))
    done = quire(*words(tree, series))
    said(done, 4, "the guest printed a splat", "whole log: ")
    assert done.stdout.startswith("Regression: the guest is lost in mremap 64 KiB (arm64)")
    text = " ".join(done.stdout.split())
    assert "arm64, tests: the guest is lost in 2 of 2 runs, in none without" in text
    assert "whole log" not in done.stdout


def test_a_guest_that_both_sides_lose(quire: Quire, tree: Path, series: Path) -> None:
    """A base's own faults are not blamed on a series."""
    done = quire.passes(*words(tree, series), FAKE_QEMU="panic")
    assert done.stdout.startswith("Nothing was measured.\n")
    text = " ".join(done.stdout.split())
    assert "arm64, tests: the guest is lost on both sides: a bug in the base." in text


def test_a_guest_that_is_lost_once(quire: Quire, tree: Path, series: Path, tmp_path: Path) -> None:
    """The second run counts."""
    done = quire.passes(*words(tree, series), FAKE_LOST=str(tmp_path / "lost"))
    text = " ".join(done.stdout.split())
    assert "arm64, tests: the guest is lost in 1 of 2 runs, not reproducibly" in text
    assert "arm64: 2 tests pass." in text


def test_tests_that_say_nothing(quire: Quire, tree: Path, series: Path) -> None:
    text = quire.passes(*words(tree, series), FAKE_QEMU="contradict").stdout
    assert "Not done on arm64: tests (exit status 1 contradicts the report)" in text


def test_a_row_that_finds_wrong_data(quire: Quire, tree: Path, series: Path) -> None:
    """The other rows are counted, and the tests run."""
    series.write_text(line_patch("mm: lose", 8, "// wrong"))
    done = quire(*words(tree, series))
    said(done, 1, "bench.mremap 64 KiB wrong data")
    assert "benchmark mremap 64 KiB, only with the series: wrong data" in done.stdout
    assert "arm64: 2 tests pass." in done.stdout


def test_a_file_that_nothing_measures(quire: Quire, tree: Path, series: Path) -> None:
    """No other rows, cases or programs run in their place: the nearest rows are offered."""
    table = quire.project / "guest/workloads/concerns.toml"
    text = table.read_text().replace("mm/mremap.c", "mm/other.c")
    table.write_text(f'{text}[[nearest]]\nfiles = ["mm/*"]\nrows = ["mremap"]\n')
    done = quire.passes(*words(tree, series)[:-1], "5")
    first, _, third, *rest = done.stdout.splitlines()
    assert first == "No benchmark covers mm/mremap.c."
    assert third == "On Linux 6.12.117: both sides build."
    assert "The nearest benchmarks: quire bench mremap." in rest
    assert not list(quire.build.glob("boot/*"))


def test_a_changed_function_that_no_benchmark_runs(quire: Quire, tree: Path, series: Path) -> None:
    """The fake kernel has this function, and the fake guest never runs it."""
    (tree / "mm/mremap.c").write_text(SOURCE.replace("line 8\n", "\tline 8\n"))
    text = line_patch("mm: gup", 8, "\trun 8").replace("-line 8\n", "-\tline 8\n")
    series.write_text(text.replace("int move(", "long __get_user_pages("))
    done = quire.passes(*words(tree, series))
    assert "\nNo counted benchmark runs __get_user_pages()\n" in done.stdout
    series.write_text(text)
    assert "No counted" not in quire.passes(*words(tree, series)).stdout


def test_a_row_whose_guest_both_sides_lose(quire: Quire, tree: Path, series: Path) -> None:
    done = quire.passes(*words(tree, series), FAKE_QEMU="cut")
    text = " ".join(done.stdout.split())
    assert "arm64, mremap 64 KiB: the guest is lost on both sides" in text
    assert "arm64: 2 tests pass." in text


def debian(quire: Quire, number: str, text: str = SOURCE) -> None:
    """A base of Debian's in the cache, with this mm/mremap.c, and its line."""
    folder = quire.build / "base" / f"{number}-1"
    (make_tree(folder / "linux", number) / "mm/mremap.c").write_text(text)
    line = number.rpartition(".")[0]
    origin = f"Debian linux-source-{line} {number}-1"
    record = {"version": number, "origin": origin, "hash": "sha256:0123456789abcdef0123"}
    (folder / "base.json").write_text(json.dumps(record))
    if not (quire.project / "lines" / line).is_dir():
        make_line(quire.project, line)


@pytest.mark.parametrize(
    ("said", "number", "why"),
    [
        ("", "7.3.4", "the newest available base to which the series applies"),
        ("This applies on v6.12.111.\n", "6.12.111", "the base that the series names"),
        ("Based on top of v6.12-rc4.\n", "6.12.117", "the base nearest to v6.12-rc4"),
        ("Rebased to mm-unstable.\n", "7.3.4", "the base nearest to mm-unstable"),
        (f"base-commit: {'12' * 20}\n", "7.3.4", "the base nearest to commit 121212121212"),
    ],
)
def test_the_base_that_a_series_names(
    quire: Quire, series: Path, said: str, number: str, why: str
) -> None:
    for known in ("6.12.111", "6.12.117", "7.3.4"):
        debian(quire, known)
    series.write_text(series.read_text().replace("Because.\n", f"Because.\n\n{said}"))
    text = quire.passes("report", str(series), "ARCH=arm64", "--fuzz", "0").stdout
    line = number.rpartition(".")[0]
    base = f"Base: Linux {number} (Debian linux-source-{line} {number}-1), {why}"
    assert base in text.replace("\n  ", " ")
    assert f"--fuzz 0 --base {number}\n" in text.replace(" \\\n    ", " ")


def test_the_nearest_base_on_which_a_series_applies(quire: Quire, series: Path) -> None:
    debian(quire, "6.12.111")
    debian(quire, "6.12.117", SOURCE.replace("line 7\n", "another\n"))
    debian(quire, "7.3.4", SOURCE.replace("line 7\n", "another\n"))
    where = ("ARCH=arm64", "--fuzz", "0")
    text = quire.passes("report", str(series), *where).stdout
    assert "\nBase: Linux 6.12.111 " in text
    said(quire("report", str(series), *where, "--base", "7.3"), 2, "does not apply", "hunk 1")
    shutil.rmtree(quire.build / "base/6.12.111-1")
    said(quire("report", str(series), *where), 2, "applies to no available base", "hunk 1")


def test_a_base_commit_of_a_repository(quire: Quire, clone: Path, series: Path) -> None:  # noqa: F811
    commit = git(clone, "rev-parse", "v6.12.117")
    series.write_text(f"{series.read_text()}-- \n2.39.5\n\nbase-commit: {commit}\n")
    where = ("--git", str(clone), "ARCH=arm64", "--fuzz", "0")
    text = quire.passes("report", str(series), *where).stdout
    found = f"Base: Linux 6.12.117 (commit {commit[:12]}), the base that"
    assert found in text.replace("\n  ", " ")
    assert f"--git clone ARCH=arm64 --fuzz 0 --a {commit}" in text.replace(" \\\n    ", " ")


def test_bad_input(quire: Quire, tree: Path, series: Path) -> None:
    said(quire("report", "gone.mbox", "--source", str(tree)), 2, "the series does not exist")
    series.write_text(line_patch("mm: other", 8, "run 8").replace("line 7", "another"))
    said(quire(*words(tree, series)), 2, "does not apply", "hunk 1")
    assert not list(quire.build.glob("tree/*"))
    series.write_text(line_patch("mm: broken", 8, "#error"))
    said(quire(*words(tree, series)), 3, "topic.mbox kernel did not build")
