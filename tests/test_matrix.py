# SPDX-License-Identifier: GPL-2.0
"""Kernels in parallel: an expected failure is shown and does not fail the run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from conftest import ROOT
from known import ARM64, X86_64, toml

from quire.arch import Architecture
from quire.boot.ktap import Status, Test
from quire.host.errors import Difference, GuestLost, UserError
from quire.kernels.kernel import Kernel, Toolchain
from quire.report.tests import show_all
from quire.session import Session
from quire.source import version
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.side import Sides
from quire.source.tree import Tree
from quire.source.version import VersionRange
from quire.suites import expected, matrix, outcome
from quire.suites.expected import Expected, Skip
from quire.suites.outcome import STYLE, Outcome
from quire.suites.suite import BootOptions

WHERE = {"tree": "stock", "architectures": ["arm64", "x86_64"]}
WHY = "stock looks at the old address"
LINES = toml("expected", **WHERE, cases=["ksm.moved*"], why=WHY)


def kernel(arch: Architecture = ARM64) -> Kernel:
    """A stock kernel that is not built."""
    base = Base("key", version.parse("6.12.117"), "a directory", "0", Path("/nowhere"))
    tree = Tree("key", base, None, base.path)
    return Kernel(arch, tree, "config", Toolchain("", "gcc"), base.path, "image")


def boot(logs: Path, flavour: str = "normal", **cases: str) -> Outcome:
    """A boot with cases of suite ksm; a reason follows the status and a colon."""
    parts = {name: status.partition(":") for name, status in cases.items()}
    tests = [Test(name, Status(status), reason) for name, (status, _, reason) in parts.items()]
    report = Test("", Status.PASS, subtests=[Test("ksm", Status.PASS, subtests=tests)])
    return outcome.read(f"arm64-stock-{flavour}-smp1", kernel(), report, logs)


def test_a_case_harms_a_kernel_without_its_fix() -> None:
    patches = (Patch("fixes/0003-mm-compare.patch", Path("/nowhere")),)
    stock = kernel()
    fixed = replace(stock.tree, series=Series(Path("series"), VersionRange(), patches))
    fix = ("fixes/mm-compare",)
    case = Expected("stock", ("arm64",), ("fixes.low",), "why", fixed_by=fix, harmful=True)
    assert case.harms(stock)
    assert not case.harms(replace(stock, tree=fixed))
    assert not replace(case, harmful=False).harms(stock)


def statuses(found: Outcome) -> dict[str, str]:
    return {case.name: case.status for case in found.cases}


@pytest.fixture
def known(tmp_path: Path) -> list[Expected]:
    (tmp_path / "expected").write_text(f"# a comment\n\n{LINES}")
    return expected.read(tmp_path / "expected")


def test_an_expected_failure_is_one_by_name(known: list[Expected], tmp_path: Path) -> None:
    plain = boot(tmp_path, moved="fail", pair="pass")
    (resolved,) = expected.resolve([plain], known)
    assert statuses(resolved) == {"ksm.moved": "expected", "ksm.pair": "pass"}
    assert outcome.failures([resolved]) is None
    assert isinstance(outcome.failures([plain]), Difference)


def test_a_report_that_contradicts_itself_fails(tmp_path: Path) -> None:
    report = Test("", Status.PASS, problem="3 tests planned, 2 reported")
    error = outcome.failures([outcome.read("arm64-stock", kernel(), report, tmp_path)])
    assert error is not None
    assert "arm64-stock: 3 tests planned, 2 reported\nwhole log: " in error.where


def test_only_what_is_not_pass_everywhere_is_shown(known: list[Expected], tmp_path: Path) -> None:
    boots = [
        boot(tmp_path, pair="pass", smart="pass", moved="fail"),
        boot(tmp_path, "debug", pair="pass", smart="fail", moved="pass"),
    ]
    boots = expected.resolve(boots, known)
    assert matrix.rows(boots) == {
        "ksm.smart": ["pass", "fail"],
        "ksm.moved": ["expected", "pass"],
    }
    error = outcome.failures(boots)
    assert error is not None
    assert error.where == f"arm64-stock-debug-smp1: ksm.smart\nwhole log: {tmp_path}"


def test_what_a_boot_leaves_out_is_counted_but_no_row(tmp_path: Path) -> None:
    boots = [
        boot(tmp_path, pair="pass", smart="pass"),
        boot(tmp_path, "debug", pair="skip:SKIP left out: its size", smart="skip:SKIP no ksmd"),
    ]
    assert statuses(boots[1]) == {"ksm.pair": "left out", "ksm.smart": "skip"}
    assert {*STYLE} == {*Status}
    assert [case["status"] for case in outcome.as_json(boots[1])["cases"]] == ["skip", "skip"]
    assert matrix.rows(boots) == {"ksm.smart": ["pass", "skip"]}
    assert outcome.failures(boots) is None


def test_the_table_has_a_letter_a_kernel(
    known: list[Expected], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For any set of cases on a kernel, and any characters in their names."""
    boots = [
        boot(tmp_path, smart="pass", moved="fail", other="skip:SKIP no ksmd"),
        boot(tmp_path, "debug", smart="fail", other="skip:SKIP left out: its size"),
        boot(tmp_path, "kasan", smart="missing", **{"other[/]": "fail"}),
    ]
    show_all(expected.resolve(boots, known))
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()[3:7]}
    assert rows == {
        "ksm.smart": [".", "F", "F"],
        "ksm.moved": ["x"],
        "ksm.other": ["s", "-"],
        "ksm.other[/]": ["F"],
    }


def test_a_lost_guest_is_a_column_and_fails(tmp_path: Path) -> None:
    lost = GuestLost("the guest hung", "a place", "read")
    boots = [boot(tmp_path, pair="fail"), Outcome("arm64-stock-debug-smp2", kernel(), lost=lost)]
    error = outcome.failures(boots)
    assert isinstance(error, GuestLost)
    assert "arm64-stock-debug-smp2" in error.what
    (tmp_path / "results.txt").write_text("KTAP version 1\n")
    matrix.keep(tmp_path / "out", boots)
    report = json.loads((tmp_path / "out/matrix.json").read_text())
    assert "hung" in report["arm64-stock-debug-smp2"]["lost"]
    assert report["arm64-stock-normal-smp1"]["cases"] == {"ksm.pair": "fail"}
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


SKIPS = (
    Skip(("ksm.moved",), "there is one CPU", cpus=1),
    Skip(("ksm.far",), "no swap", unless="CONFIG_SWAP"),
    Skip(("ksm.*",), "another line", lines=("7.3",)),
    Skip(("ksm.*",), "another architecture", architectures=("x86_64",)),
)


def test_another_skip_is_a_failure(tmp_path: Path) -> None:
    plain = boot(tmp_path, moved="skip", far="left out", pair="skip:no reason", last="pass")
    (judged,) = expected.compare([plain], [], SKIPS, whole=True)
    assert [case.name for case in judged.failed] == ["ksm.pair"]
    assert judged.failed[0].reason.endswith("not listed in lines/skips.toml: no reason")
    assert not judged.problem
    (judged,) = expected.compare([replace(plain, cpus=2)], [], SKIPS, whole=True)
    assert [case.name for case in judged.failed] == ["ksm.moved", "ksm.pair"]


def test_a_skip_that_matches_nothing_is_a_failure(tmp_path: Path) -> None:
    plain = boot(tmp_path, moved="pass", far="pass")
    (part,) = expected.compare([plain], [], SKIPS, whole=False)
    (judged,) = expected.compare([plain], [], SKIPS, whole=True)
    assert not part.problem
    assert judged.problem.endswith("no case is skipped because there is one CPU; no swap")


def test_an_expected_failure_that_passes_is_a_failure(
    known: list[Expected], tmp_path: Path
) -> None:
    plain = boot(tmp_path, moved="pass", pair="pass")
    (judged,) = expected.compare([plain], known, [], whole=True)
    assert [case.name for case in judged.failed] == ["ksm.moved"]
    assert judged.failed[0].reason == f"passes, but is expected to fail: {WHY}"
    (twice,) = expected.compare([replace(plain, cpus=2)], known, [], whole=True)
    assert not twice.failed


def test_nothing_is_expected_of_an_unknown_base(tmp_path: Path) -> None:
    assert expected.read(tmp_path / "expected") == []


def test_what_needs_a_configuration_runs_with_it() -> None:
    skips = expected.skips(ROOT / "lines/skips.toml")
    named = {name for skip in skips for name in re.findall(r"configs/([\w.]+)", skip.why)}
    assert "device.config" in named
    assert named <= {name for flavour in matrix.FLAVOURS for name in flavour.fragments}


@dataclass(frozen=True)
class Planner:
    """As much of a session as planning needs; it builds nothing."""

    project: SimpleNamespace
    configs: tuple[Path, ...] = ()
    architectures: tuple[Architecture, ...] = (ARM64, X86_64)

    def kernel(self, arch: Architecture, _: Tree) -> Kernel:
        return replace(kernel(arch), config_key=" ".join(path.stem for path in self.configs))


def test_two_architectures_tell_tlb_hazards() -> None:
    planner = Planner(SimpleNamespace(configs=ROOT / "configs"))
    sides = SimpleNamespace(same=False, both=(SimpleNamespace(tree=kernel().tree),) * 2)
    planned = matrix.jobs(cast(Session, planner), cast(Sides, sides), BootOptions())
    told = [(job.kernel.arch, job.flavour) for job in planned if "tlb" in job.kernel.config_key]
    assert told == [(arch, f"tlb-smp{n}") for arch in (ARM64, X86_64) for n in (1, 4)]
    assert len(planned) == 24
