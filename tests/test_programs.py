# SPDX-License-Identifier: GPL-2.0
"""Suites and recipes, on fakes: what is chosen, compared, and said about a lost guest."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, Quire, said
from test_rootfs import words  # noqa: F401 -- the fixture

from quire.boot import ktap
from quire.boot.ktap import Status
from quire.boot.results import Results
from quire.host.errors import UserError
from quire.measure.workloads import Benchmark
from quire.programs import costs, recipe, stress, suites

GUEST = ROOT / "guest"


def test_every_stressor_is_a_run_of_each_size() -> None:
    of = stress.suite(GUEST, (16, 64), 2)
    names = [run.name for run in of.runs]
    assert names[:2] == ["bad-altstack-16k", "bad-altstack-64k"]
    assert len(names) == len(set(names)) > 80
    (run,) = of.matching(["bigheap-64k"])
    assert run.plan() == "bigheap-64k 80 stress-ng 64 2 bigheap --bigheap-bytes 128M"
    with pytest.raises(UserError, match="no run of stress-ng matches"):
        of.matching(["nosuch"])


def test_a_run_that_does_not_pass_tells_why() -> None:
    report = ktap.Test(
        "", subtests=[ktap.Test("vm-64k", Status.FAIL), ktap.Test("mmap-64k", Status.PASS)]
    )
    lines = ["# dispatching hogs: 1 vm", "# vm: fail: 7 bits are wrong", "# failed: 0",
             "not ok 1 vm-64k", "# done", "ok 2 mmap-64k"]  # fmt: skip
    suites._expand(report, lines)
    ends = [run.subtests[0] for run in report.subtests]
    assert [(end.name, end.status) for end in ends] == [("exit", "fail"), ("exit", "pass")]
    assert ends[0].reason == "vm: fail: 7 bits are wrong"
    assert ends[1].reason == ""


@pytest.fixture
def lab(quire: Quire, words: tuple[str, ...]) -> tuple[str, ...]:  # noqa: F811
    """A suite of one stressor, which the fake QEMU calls good-d-1."""
    folder = quire.project / "guest/programs"
    folder.mkdir()
    shutil.copy2(GUEST / stress.SCRIPT, folder)
    (folder / "stress-ng.toml").write_text('[[stressor]]\nname = "good"\n')
    return ("suite", "stress-ng", *words[1:])


def test_the_sides_are_compared(quire: Quire, lab: tuple[str, ...]) -> None:
    done = quire.passes(*lab, "--json")
    (result,) = json.loads(done.stdout)
    assert [(case["a"], case["b"]) for case in result["cases"]] == [("pass", "pass")]
    said(quire(*lab, FAKE_QEMU="worse"), 1, "patched fails runs that stock passes", "exit: fail")
    assert quire(*lab, "--resume", "-v").stderr.count("-- selftests") == 0
    assert quire.passes(*lab[:2], "--list").stdout == "good-64k\n"


def test_a_lost_guest_is_a_result(quire: Quire, lab: tuple[str, ...]) -> None:
    quire.passes(*lab)
    done = quire(*lab, FAKE_QEMU="panic")
    said(done, 1, "no run passes on stock")
    assert "the guest printed a splat (panic)" in " ".join(done.stdout.split())


def test_the_recipes_are_complete() -> None:
    names = recipe.names(GUEST)
    assert names == ["gcc", "jemalloc", "redis"]
    for name in names:
        known = recipe.read(GUEST, name)
        assert known.packages
        assert known.topics
        script = (GUEST / recipe.FOLDER / name).read_text()
        assert script.index("/quire/init") < script.index("quire: ops 1")
        for benchmark in recipe.benchmarks(known, ()):
            assert benchmark.words()[:3] == ("program", "bench", f"/user/{name}")


def test_an_unknown_recipe_names_the_known_ones() -> None:
    with pytest.raises(UserError, match="no recipe 'nosuch'") as error:
        recipe.read(GUEST, "nosuch")
    assert "gcc, jemalloc, redis" in error.value.remedy


def test_a_recipe_has_a_script_and_known_keys(tmp_path: Path) -> None:
    folder = tmp_path / recipe.FOLDER
    folder.mkdir()
    (folder / "mine.toml").write_text('packages = ["x"]\ntopics = ["y"]\nfast = 1\n[workload]\n')
    with pytest.raises(UserError, match="has no script"):
        recipe.read(tmp_path, "mine")
    (folder / "mine").touch()
    with pytest.raises(UserError) as error:
        recipe.read(tmp_path, "mine")
    assert "has no key fast" in error.value.where


def test_times_are_of_the_measured_part_and_of_the_kernel() -> None:
    workload = recipe.read(GUEST, "gcc").workload
    one = Results(counters={"time-ns": (5, 105), "um-syscall-ns": (1, 31), "um-fault-ns": (2, 12)})
    two = replace(one, counters={"time-ns": (5, 115)})
    rows = costs._rows([Benchmark(workload, 64)], [[one, two]])
    assert {row.name: row.medians for row in rows} == {
        "gcc 64": [100.0, 110.0],
        "gcc 64:kernel": [40.0, 0.0],
    }
