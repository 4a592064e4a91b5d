# SPDX-License-Identifier: GPL-2.0
"""The kernel's selftests: parse their output into cases, and compare the sides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import LOGS, ROOT
from known import ARM64, X86_64, toml
from test_matrix import kernel

from quire.boot import ktap, results
from quire.boot.ktap import Status
from quire.host.errors import UserError
from quire.kselftest import changes, output, runs
from quire.kselftest.changes import Pair
from quire.suites import outcome
from quire.suites.outcome import Case, Outcome

TABLE = ROOT / "guest/selftests/runs.toml"


def report(lines: Sequence[str], **dialects: str) -> Outcome:
    """The outcome of a guest with these lines."""
    return parsed(lines, {name.replace("_", "-"): dialect for name, dialect in dialects.items()})


def parsed(lines: Sequence[str], dialects: dict[str, str]) -> Outcome:
    tree = ktap.parse(lines)
    output.expand(tree, lines, dialects)
    return outcome.read("arm64-stock", kernel(), tree, Path("/nowhere"))


def statuses(found: Outcome) -> dict[str, str]:
    return {case.name: case.status for case in found.cases}


def by_name(found: Outcome) -> dict[str, Case]:
    return {case.name: case for case in found.cases}


def captured(name: str) -> Outcome:
    """The output of a real guest, parsed as `quire selftests` does."""
    lines = results.parse((LOGS / name).read_text()).other
    return parsed(lines, {run.name: run.output for run in runs.read(TABLE)})


def run_of(program: str, printed: str, verdict: str = "ok", remark: str = "") -> list[str]:
    """The guest's lines for one run."""
    lines = [f"# {line}" for line in printed.splitlines()]
    lines += [f"  # {remark}"] if remark else []
    return ["KTAP version 1", "1..1", *lines, f"{verdict} 1 {program}"]


def test_tap_gives_a_case_for_each_result() -> None:
    printed = (
        "TAP version 13\n1..4\n# [RUN] with swap\nok 1 same words\nok 2 # SKIP no swap\n"
        "ok 3 # XFAIL leaks\nnot ok 4 same words\n# Totals: pass:1\n"
    )
    verdict = report(run_of("cow", printed, "not ok", "ended with status 1"), cow="tap")
    assert statuses(verdict) == {
        "cow.1": "pass",
        "cow.2": "skip",
        "cow.3": "xfail",
        "cow.4": "fail",
        "cow.exit": "fail",
    }
    told = by_name(verdict)
    assert told["cow.2"].reason == "no swap"
    assert told["cow.1"].diagnostics == ("[RUN] with swap",)
    assert told["cow.exit"].reason == "ended with status 1"


def test_a_plan_that_was_not_kept_fails_the_run() -> None:
    verdict = report(run_of("cow", "1..3\nok 1 a\nok 2 b"), cow="tap")
    assert statuses(verdict) == {"cow.1": "pass", "cow.2": "pass", "cow.exit": "fail"}
    assert "3 tests planned, 2 reported" in by_name(verdict)["cow.exit"].reason


def test_a_number_that_comes_again_is_a_case_of_its_own() -> None:
    # As from a child whose exec failed and that continued as its parent.
    printed = "1..3\nok 1 a\nok 2 c\n# Planned tests != run tests\nnot ok 2 b\nok 3 c"
    verdict = report(run_of("ksm", printed), ksm="tap")
    assert statuses(verdict) == {
        "ksm.1": "pass",
        "ksm.2": "pass",
        "ksm.3": "pass",
        "ksm.2-again": "fail",
        "ksm.exit": "pass",
    }


def test_a_program_that_bails_out_takes_no_other_along() -> None:
    lines = ["KTAP version 1", "1..2", "# 1..2", "# ok 1 a", "# Bail out! no memory"]
    lines += ["not ok 1 cow", "# 1..1", "# ok 1 b", "ok 2 mkdirty"]
    verdict = report(lines, cow="tap", mkdirty="tap")
    assert statuses(verdict) == {
        "cow.1": "pass",
        "cow.exit": "fail",
        "mkdirty.1": "pass",
        "mkdirty.exit": "pass",
    }


def test_a_skipped_program_has_no_cases() -> None:
    lines = ["KTAP version 1", "1..1", "# 1..0 # SKIP KSM is off", "ok 1 ksm # SKIP"]
    assert statuses(report(lines, ksm="tap")) == {"ksm.exit": "skip"}


def test_only_the_exit_status() -> None:
    verdict = report(run_of("stress", "ok 1 is no result here", "not ok"), stress="exit")
    assert statuses(verdict) == {"stress.exit": "fail"}


def test_testing_lines_give_cases_by_name() -> None:
    printed = (
        "Testing move on anon... done\nTesting poison on shmem... skipped [reason: feature missing]"
        "\nTesting wp on anon... failed [reason: lost]\nTesting minor on anon... ERROR: read\n"
    )
    verdict = report(run_of("uffd", printed, "not ok"), uffd="testing")
    assert statuses(verdict) == {
        "uffd.move-on-anon": "pass",
        "uffd.poison-on-shmem": "skip",
        "uffd.wp-on-anon": "fail",
        "uffd.minor-on-anon": "fail",
        "uffd.exit": "fail",
    }
    assert by_name(verdict)["uffd.poison-on-shmem"].reason == "feature missing"


def test_coloured_steps_give_cases_by_number() -> None:
    printed = (
        "Save settings... \x1b[32mOK\x1b[0m\n\nRun test: full (madvise:anon)\n"
        "Collapse...... \x1b[32mOK\x1b[0m\nCheck... \x1b[31mFail\x1b[0m\n"
        "More... \x1b[33mSkip\x1b[0m\n"
    )
    verdict = report(run_of("khugepaged", printed, "not ok"), khugepaged="steps")
    assert list(statuses(verdict).values()) == ["pass", "pass", "fail", "skip", "fail"]
    assert by_name(verdict)["khugepaged.3"].reason == "full (madvise:anon): Check: Fail"


def verdict_of(**cases: str) -> Outcome:
    """One run, `cow`, with such cases; a digit stands behind an underscore."""
    found = (
        Case(f"cow.{name.lstrip('_')}", Status(status), f"what {name} does")
        for name, status in cases.items()
    )
    return Outcome("arm64-stock", kernel(), tuple(found))


def pair(name: str, a: str, b: str, told: str = "") -> Pair:
    return Pair(name, Status(a), Status(b), told)


def test_patched_must_pass_what_stock_passes() -> None:
    stock = verdict_of(_1="pass", _2="pass", _3="pass", _4="pass", _5="fail", _6="skip", _7="fail")
    patched = verdict_of(
        _1="pass", _2="fail", _3="skip", _5="fail", _6="pass", _7="skip", _8="pass"
    )
    cases = {case.name: case for case in changes.compare(stock, patched)}
    assert [name for name, case in cases.items() if case.regressed] == ["cow.2", "cow.3", "cow.4"]
    assert cases["cow.4"].b == Status.MISSING
    assert [name for name, case in cases.items() if case.differs] == [
        "cow.2", "cow.3", "cow.4", "cow.6", "cow.8",
    ]  # fmt: skip
    worse_word = changes.compare(verdict_of(_1="pass"), verdict_of(_1="xfail"))
    assert worse_word[0].regressed


def test_what_differs_is_run_once_more_and_only_stock_excuses() -> None:
    stock = verdict_of(_1="pass", _2="pass", _3="pass", _4="pass")
    patched = verdict_of(_1="pass", _2="fail", _3="fail", _4="fail")
    asked: list[Sequence[str]] = []

    def rerun(names: Sequence[str]) -> tuple[Outcome, Outcome]:
        asked.append(names)
        second = verdict_of(_1="fail", _2="fail", _3="pass", _4="pass")
        return second, verdict_of(_1="fail", _2="fail", _3="fail", _4="pass")

    cases = {case.name: case for case in changes.confirm(changes.compare(stock, patched), rerun)}
    assert asked == [["cow"]]
    assert cases["cow.1"].again is None
    assert [name for name, case in cases.items() if case.regressed] == ["cow.3", "cow.4"]
    assert cases["cow.2"].remark(("stock", "patched")) == "two runs on stock differ"
    assert cases["cow.3"].remark(("stock", "patched")) == "same result in a second run"
    assert cases["cow.4"].remark(("stock", "patched")) == "patched, second run: pass"


def test_nothing_is_run_again_when_nothing_differs() -> None:
    cases = changes.compare(verdict_of(_1="fail"), verdict_of(_1="fail"))
    assert changes.confirm(cases, lambda _: pytest.fail("a boot for nothing")) == cases


def test_the_table_groups_what_is_alike_and_never_what_differs() -> None:
    cases = [
        pair("cow.1", "pass", "pass", "a"),
        pair("cow.2", "skip", "skip", "no gup_test for 64 KiB"),
        pair("cow.3", "skip", "skip", "no gup_test for 2048 KiB"),
        pair("cow.4", "pass", "skip", "no gup_test for 2048 KiB"),
        pair("cow.5", "pass", "skip", "no gup_test for 2048 KiB"),
        pair("ksm.2", "skip", "skip", "no gup_test for 64 KiB"),
    ]
    names = [name for name, _ in changes.grouped(cases)]
    assert names == ["cow.2 and 1 more", "cow.4", "cow.5", "ksm.2"]


def test_a_run_of_which_stock_passes_nothing_compares_nothing() -> None:
    cases = [
        pair("a.1", "skip", "skip"),
        pair("a.exit", "skip", "skip"),
        pair("b.1", "fail", "fail"),
        pair("b.2", "pass", "pass"),
        pair("b.exit", "fail", "fail"),
        pair("c.exit", "pass", "pass"),
        pair("d.1", "skip", "skip"),
        pair("d.exit", "pass", "pass"),
    ]
    assert changes.idle(cases) == ["a", "d"]


def test_the_table_of_runs_has_what_was_asked_for() -> None:
    table = runs.read(TABLE)
    names = [run.name for run in table]
    assert len(set(names)) == len(names)
    asked = (
        "cow ksm_functional_tests ksm_tests mremap_test mremap_dontunmap madv_populate mkdirty "
        "migration soft-dirty split_huge_page_test transhuge-stress uffd-unit-tests pagemap_ioctl "
        "droppable mlock2-tests hugepage-mremap khugepaged"
    )
    assert set(asked.split()) <= {run.program for run in table}


def test_a_name_is_a_word_for_the_command_line() -> None:
    table = runs.read(TABLE)
    for run in table:
        assert run.plan().split()[2:] == run.command.split()
        assert run.name == run.plan().split()[0]


def test_what_is_left_out_is_named_with_the_reason(tmp_path: Path) -> None:
    sources = tmp_path / runs.SOURCES
    sources.mkdir(parents=True)
    for run in runs.read(TABLE):
        (sources / f"{run.program}.c").write_text("")
    (sources / "cow.c").unlink()
    chosen = runs.choose(runs.read(TABLE), tmp_path, ARM64)
    assert chosen.left_out["cow"] == "not in this base"
    assert "x86 only" in chosen.left_out["soft-dirty"]
    assert "soft-dirty" in runs.choose(runs.read(TABLE), tmp_path, X86_64).programs


def test_a_table_with_an_unknown_kind_of_output(tmp_path: Path) -> None:
    row = toml("run", command="cow", seconds=5, output="xml", architectures=["arm64"])
    (tmp_path / "runs").write_text(row)
    with pytest.raises(UserError, match="unknown output"):
        runs.read(tmp_path / "runs")
