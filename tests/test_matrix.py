# SPDX-License-Identifier: GPL-2.0
"""Kernels in parallel: an expected failure is shown and does not fail the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from known import ARM64, toml

from quire.arch import Architecture
from quire.boot.ktap import Test
from quire.build.kernel import Kernel, Toolchain
from quire.commands.test import show_all
from quire.host.errors import Difference, GuestLost, UserError
from quire.source import version
from quire.source.base import Base
from quire.source.tree import Tree
from quire.test import expected, matrix
from quire.test.matrix import Column, Flavour
from quire.test.suite import Verdict

WHERE = {"tree": "stock", "architectures": ["arm64", "x86_64"]}
WHY = "stock looks at the old address"
LINES = toml("expected", **WHERE, cases=["ksm.moved*"], why=WHY)


def kernel(arch: Architecture = ARM64) -> Kernel:
    """A stock kernel that is not built."""
    base = Base("key", version.parse("6.12.117"), "a directory", "0", Path("/nowhere"))
    tree = Tree("key", base, None, base.path)
    return Kernel(arch, tree, "config", Toolchain("", "gcc"), base.path, "image")


def column(logs: Path, config: str = "normal", **cases: str) -> Column:
    parts = {name: status.partition(":") for name, status in cases.items()}
    tests = [Test(name, status, reason) for name, (status, _, reason) in parts.items()]
    report = Test("", "pass", subtests=[Test("ksm", "pass", subtests=tests)])
    return Column(kernel(), Flavour(config), 1, Verdict(kernel(), report, str(logs)))


@pytest.fixture
def known(tmp_path: Path) -> list[expected.Expected]:
    (tmp_path / "expected").write_text(f"# a comment\n\n{LINES}")
    return expected.read(tmp_path / "expected")


def test_an_expected_failure_is_one_by_name(known: list[expected.Expected], tmp_path: Path) -> None:
    one = column(tmp_path, moved="fail", pair="pass")
    assert one.statuses(known) == {"ksm.moved": "expected", "ksm.pair": "pass"}
    assert matrix.verdict([one], known) is None
    assert isinstance(matrix.verdict([one], []), Difference)


def test_only_what_is_not_pass_everywhere_is_shown(
    known: list[expected.Expected], tmp_path: Path
) -> None:
    columns = [
        column(tmp_path, pair="pass", smart="pass", moved="fail"),
        column(tmp_path, "debug", pair="pass", smart="fail", moved="pass"),
    ]
    assert matrix.rows(columns, known) == {
        "ksm.smart": ["pass", "fail"],
        "ksm.moved": ["expected", "pass"],
    }
    error = matrix.verdict(columns, known)
    assert error is not None
    assert error.where == "arm64-stock-debug-smp1: ksm.smart"


def test_what_a_column_leaves_out_is_counted_but_no_row(tmp_path: Path) -> None:
    columns = [
        column(tmp_path, pair="pass", smart="pass"),
        column(tmp_path, "debug", pair="skip:SKIP left out: its size", smart="skip:SKIP no ksmd"),
    ]
    assert columns[1].statuses([]) == {"ksm.pair": "left out", "ksm.smart": "skip"}
    assert matrix.rows(columns, []) == {"ksm.smart": ["pass", "skip"]}
    assert matrix.verdict(columns, []) is None


def test_the_table_has_a_letter_a_kernel(
    known: list[expected.Expected], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For any set of cases on a kernel, and any characters in their names."""
    columns = [
        column(tmp_path, smart="pass", moved="fail", other="skip:SKIP no ksmd"),
        column(tmp_path, "debug", smart="fail", other="skip:SKIP left out: its size"),
        column(tmp_path, "kasan", smart="missing", **{"other[/]": "fail"}),
    ]
    show_all(columns, known)
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()[3:7]}
    assert rows == {
        "ksm.smart": [".", "F", "F"],
        "ksm.moved": ["x"],
        "ksm.other": ["s", "-"],
        "ksm.other[/]": ["F"],
    }


def test_a_lost_guest_is_a_column_and_fails(tmp_path: Path) -> None:
    lost = Column(
        kernel(), Flavour("debug"), 2, None, GuestLost("the guest hung", "a place", "read")
    )
    error = matrix.verdict([column(tmp_path, pair="fail"), lost], [])
    assert isinstance(error, GuestLost)
    assert "arm64-stock-debug-smp2" in error.what
    (tmp_path / "results.txt").write_text("KTAP version 1\n")
    matrix.keep(tmp_path / "out", [column(tmp_path, pair="pass"), lost], [])
    report = json.loads((tmp_path / "out/matrix.json").read_text())
    assert "hung" in report["arm64-stock-debug-smp2"]["lost"]
    assert (tmp_path / "out/arm64-stock-normal-smp1.ktap").exists()


def test_an_entry_that_says_too_little_is_named(tmp_path: Path) -> None:
    (tmp_path / "expected").write_text(LINES + toml("expected", **WHERE, cases=["ksm.x"]))
    with pytest.raises(UserError) as error:
        expected.read(tmp_path / "expected")
    assert "expected:6: lacks 'why'" in error.value.where


def test_an_entry_for_no_architecture_is_named(tmp_path: Path) -> None:
    words = {**WHERE, "architectures": [], "cases": ["ksm.x"], "why": "why"}
    (tmp_path / "expected").write_text(LINES + toml("expected", **words))
    with pytest.raises(UserError, match="lacks its architectures") as error:
        expected.read(tmp_path / "expected")
    assert error.value.where.endswith("expected:6")


def test_nothing_is_expected_of_an_unknown_base(tmp_path: Path) -> None:
    assert expected.read(tmp_path / "expected") == []
