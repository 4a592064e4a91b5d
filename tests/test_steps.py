# SPDX-License-Identifier: GPL-2.0
"""`quire steps` on fakes: which patch moved which row, what is built and booted again."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import SOURCE, Quire, line_patch, said, snapshot
from test_checkout import git
from test_side import clone  # noqa: F401 -- a fixture

from quire.measure import comparison, concerns
from quire.measure.comparison import BenchmarkResult, Figure
from quire.measure.concerns import Concerned
from quire.measure.profile import ProfileLine, Spent
from quire.measure.workloads import Catalogue
from quire.report import waterfall as report

ROW = ("mremap", "--size", "64", "ARCH=arm64")
FOLDER = Path(__file__).parent.parent / "guest/workloads"


def figure(insns: float, **cost: float) -> Figure:
    return Figure(insns, insns, None, {}, 0.0, {}, {}, {}, 1, 0.0, cost)


def steps(quire: Quire, *words: str, **extra: str) -> dict[str, Any]:
    """The JSON of a run that passes, of one architecture."""
    done = quire.passes("steps", *ROW, "--json", *words, **extra)
    (found,) = json.loads(done.stdout)["architectures"]
    assert isinstance(found, dict)
    return found


def test_what_moves() -> None:
    figures = [figure(1000, atomics=1.0), figure(1002, atomics=1.0), figure(1002, atomics=1.5)]
    found = comparison.between([*figures, None, figure(900, atomics=1.5)])
    assert [(move.number, round(move.share, 3)) for move in found] == [(2, 0.0), (4, -0.102)]
    assert found[0].events == {"atomics": (1.0, 1.5)}


def test_an_event_that_an_interrupt_makes_does_not_move() -> None:
    assert comparison.between([figure(1000, atomics=1.0), figure(1000, atomics=1.01)]) == []


def test_cycles_move() -> None:
    before, after = (replace(figure(1000), cycles={"dsb": n, "atomic": 50.0}) for n in (50.0, 10.0))
    (move,) = comparison.between([before, after])
    assert move.events == {comparison.CYCLES: (100.0, 60.0)}
    assert report.events(move) == ["est. cycles 100 → 60.0"]


def test_a_symbol_that_hardly_grew_is_not_named() -> None:
    (benchmark,) = Catalogue.read(FOLDER).benchmarks(["mprotect"], [4])
    sides = {"walk": (40.0, 80.0), "read": (0.0, 14.0), "flush": (0.547, 0.551), "less": (9.0, 1.0)}
    lines = [ProfileLine(name, Spent(a), Spent(b)) for name, (a, b) in sides.items()]
    row = BenchmarkResult(benchmark, figure(240), figure(306), None, tuple(lines))
    assert [line.symbol for line in comparison.grown(row)] == ["walk", "read"]


def test_each_patch_of_a_series(quire: Quire, tree: Path, tmp_path: Path) -> None:
    """The fake guest counts the characters of mm/mremap.c."""
    found = steps(quire, "--source", str(tree), "--output", str(tmp_path / "out"))
    labels = [step["label"] for step in found["steps"]]
    assert labels == ["stock", "mremap-0001", "mremap-0002", "ksm-0001"]
    assert found["steps"][2]["subject"] == "mm: move more"
    (row,) = found["rows"]
    insns = [figure["instructions_per_unit"] for figure in row["steps"]]
    # "line 8" becomes "run 8", of a million instructions.
    lost = [round((a - b) * 256) for a, b in pairwise(insns)]
    assert lost == [-1, -1, -1]
    assert row["moved_in"] == []
    ElementTree.fromstring((tmp_path / "out/steps.svg").read_text())


def test_the_table_has_only_what_moved(quire: Quire, tree: Path) -> None:
    patch = quire.project / "patches/linux-6.12.y/mremap/0002-mm-move-more.patch"
    patch.write_text(line_patch("mm: move more", 20, "run" + "n" * 9000))
    done = quire.passes("steps", *ROW, "--source", str(tree))
    assert "mremap-0002" in done.stdout
    assert "-3.5%" in done.stdout
    assert "no benchmark changed: mremap-0001, ksm-0001." in done.stdout


def test_a_topic_begins_with_what_it_needs(quire: Quire, tree: Path) -> None:
    series = quire.project / "patches/linux-6.12.y/series"
    series.write_text(series.read_text() + "# needs: ksm mremap\n")
    found = steps(quire, "--source", str(tree), "--only", "ksm")
    assert [step["label"] for step in found["steps"]] == ["needed", "ksm-0001"]


def test_a_second_run_builds_and_boots_nothing(quire: Quire, tree: Path) -> None:
    first = steps(quire, "--source", str(tree))
    assert steps(quire, "--source", str(tree), FAKE_MAKE="fail", FAKE_QEMU="panic") == first


def test_a_changed_patch_builds_and_boots_what_follows_it(quire: Quire, tree: Path) -> None:
    steps(quire, "--source", str(tree))
    kept = {path.name for path in quire.build.glob("step/*")}
    patch = quire.project / "patches/linux-6.12.y/mremap/0002-mm-move-more.patch"
    patch.write_text(patch.read_text().replace("+run 20", "+run twenty"))
    done = quire.passes("steps", *ROW, "--source", str(tree), "-v")
    assert done.stderr.count("-plugin") == 2
    assert len({path.name for path in quire.build.glob("step/*")} - kept) == 2


def test_one_directory_has_the_last_sources(quire: Quire, tree: Path) -> None:
    """Files that a step does not change keep their times, so that kbuild compiles them once."""
    before = snapshot(tree)
    steps(quire, "--source", str(tree))
    (sources,) = quire.build.glob("steps/*/linux")
    assert "ksm 30" in (sources / "mm/mremap.c").read_text()
    kbuild, time = sources / "Kbuild", (sources / "Kbuild").stat().st_mtime_ns
    # Another series: what the first one changed is the base's again.
    other = quire.project / "other.patch"
    other.write_text(line_patch("mm: other", 12, "run 12"))
    steps(quire, "--source", str(tree), "--series", str(other))
    text = (sources / "mm/mremap.c").read_text()
    assert text == SOURCE.replace("line 12\n", "run 12\n")
    assert (kbuild.stat().st_mtime_ns, snapshot(tree)) == (time, before)


def test_the_same_code_is_not_booted(quire: Quire, tree: Path) -> None:
    patch = quire.project / "patches/linux-6.12.y/ksm/0001-ksm-look-less.patch"
    text = patch.read_text().replace("-line 30\n+ksm 30\n", " line 30\n+// a comment\n")
    patch.write_text(text.replace("@@ -27,7 +27,7", "@@ -27,7 +27,8"))
    found = steps(quire, "--source", str(tree))
    assert [step["code_of"] for step in found["steps"]] == [None, None, None, 2]
    images = [step["image_sha256"] for step in found["steps"]]
    assert images[3] != images[2]
    (row,) = found["rows"]
    assert row["steps"][3] == row["steps"][2]


def test_a_patch_that_does_not_build(quire: Quire, tree: Path) -> None:
    folder = quire.project / "patches/linux-6.12.y"
    (folder / "mremap/0002-mm-move-more.patch").write_text(line_patch("mm: more", 20, "#error"))
    (folder / "ksm/0001-ksm-look-less.patch").write_text(
        line_patch("ksm: less", 20, "run 20").replace("-line 20", "-#error")
    )
    done = quire("steps", *ROW, "--source", str(tree))
    said(done, 3, "arm64 mremap-0002 kernel did not build")
    assert "mremap-0002: " in done.stdout
    assert "no benchmark changed: mremap-0001, ksm-0001." in done.stdout


def test_an_option_that_vanishes_is_named(quire: Quire, tree: Path) -> None:
    steps(quire, "--source", str(tree), "--only", "mremap")
    patch = quire.project / "patches/linux-6.12.y/ksm/0001-ksm-look-less.patch"
    patch.write_text(
        patch.read_text()
        + "diff --git a/mm/Kconfig b/mm/Kconfig\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/mm/Kconfig\n@@ -0,0 +1 @@\n+# FAKE is gone\n"
    )
    found = steps(quire, "--source", str(tree), FAKE_MAKE="lose")
    assert [step["note"] for step in found["steps"]] == ["", "", "", "lost CONFIG_FAKE"]


def test_a_counted_function_that_a_patch_removes(quire: Quire, tree: Path) -> None:
    patch = quire.project / "patches/linux-6.12.y/mremap/0002-mm-move-more.patch"
    patch.write_text(line_patch("mm: move more", 20, "without __get_user_pages"))
    done = quire.passes("steps", "gup", *ROW[1:], "--source", str(tree), "--json")
    (found,) = json.loads(done.stdout)["architectures"]
    notes = [step["note"] for step in found["steps"]]
    assert notes == ["", "", "no function __get_user_pages", ""]
    (row,) = found["rows"]
    assert [{*figure["calls"]} for figure in row["steps"]] == [{"of pages"}] * 4


@pytest.mark.usefixtures("tree")
def test_commits_of_a_repository(quire: Quire, clone: Path) -> None:  # noqa: F811
    before = snapshot(clone)
    words = ("--git", str(clone), "--a", "v6.12.117", "--b", "topic")
    found = steps(quire, *words)
    first, second = found["steps"]
    assert (first["subject"], second["subject"]) == ("Linux 6.12.117", "mm: move runs")
    assert git(clone, "rev-parse", "topic").startswith(second["label"])
    assert snapshot(clone) == before
    # And back: the index is at the last revision.
    git(clone, "checkout", "-q", "-b", "second", "v6.12.117")
    (clone / "mm/mremap.c").write_text(SOURCE.replace("line 5\n", "run 5\n"))
    git(clone, "commit", "-q", "-a", "-m", "mm: another")
    assert steps(quire, *words[:-1], "second")["steps"][1]["subject"] == "mm: another"
    (sources,) = quire.build.glob("steps/git-*/linux")
    assert (sources / "mm/mremap.c").read_text() == (clone / "mm/mremap.c").read_text()
    assert not (sources / "mm/new.sh").exists()


def test_bad_input(quire: Quire, tree: Path) -> None:
    where = ("--source", str(tree), "ARCH=arm64")
    said(quire("steps", "mremapp", *where), 2, "unknown benchmark")
    said(quire("steps", *ROW, *where[:2], "--only", "nothing"), 2, "has no topic nothing")
    said(quire("steps", *ROW, "--a", str(tree), "--b", str(tree)), 2, "no steps between two trees")
    patch = quire.project / "patches/linux-6.12.y/ksm/0001-ksm-look-less.patch"
    text = patch.read_text()
    patch.write_text(text.replace("-line 30", "-line thirty"))
    said(quire("steps", *ROW, *where[:2]), 2, "0001-ksm-look-less.patch does not apply", "hunk 1")
    patch.write_text(text)
    (quire.project / "patches/linux-6.12.y/series").write_text("# none yet\n")
    said(quire("steps", *ROW, *where[:2]), 2, "no patches to measure")
    assert not list(quire.build.glob("step*"))


def test_each_row_is_concerned_by_a_file_and_exists() -> None:
    catalogue = Catalogue.read(FOLDER)
    table = concerns.read(FOLDER)
    rows_of_all = {row for concern in table.concern for row in concern.rows}
    named = {benchmark.workload.name for benchmark in catalogue.benchmarks([*rows_of_all])}
    assert named == {workload.name for workload in catalogue.workloads}
    files = ("mm/mremap.c", "arch/arm64/mm/contpte.c", "mm/swapfile.c")
    concerned = concerns.by_files(FOLDER, files)
    assert {"mremap*", "swapin"} <= {*concerned.rows}
    assert "*" in concerned.cases
    assert concerned.programs
    assert not concerned.unmeasured
    for rows in [*(one.rows for one in table.concern), *(one.rows for one in table.nearest)]:
        assert catalogue.benchmarks(rows)
    for concern in table.concern:
        suites = {case.partition(".")[0] for case in concern.cases} - {"*"}
        assert [name for name in suites if not (FOLDER.parent / "tests" / name).is_dir()] == []


def test_a_file_that_nothing_measures() -> None:
    assert concerns.by_files(FOLDER, ["Documentation/mm/x.rst"]) == Concerned((), (), False)
    concerned = concerns.by_files(FOLDER, ["drivers/x.c", "fs/ext4/inode.c"])
    assert concerned.unmeasured == ("drivers/x.c", "fs/ext4/inode.c")
    assert concerned.nearest == ("read", "mkclean")
    assert not (concerned.rows or concerned.cases or concerned.programs)
    # A header without an entry comes with the code that has one.
    hooks = ["include/trace/hooks/mm.h", "mm/rmap.c", "kernel/sched/fair.c", "mm/Kconfig"]
    assert concerns.by_files(FOLDER, hooks).unmeasured == ("kernel/sched/fair.c",)
    assert concerns.by_files(FOLDER, hooks[:1]).unmeasured == ("include/trace/hooks/mm.h",)
    read = concerns.by_files(FOLDER, ["mm/readahead.c"])
    assert read == Concerned(("read",), (), False)
