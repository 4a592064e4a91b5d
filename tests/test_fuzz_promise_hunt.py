# SPDX-License-Identifier: GPL-2.0
"""The hunt for broken promises: what breaks twice is shrunk, written and counted by its kind."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from fuzz_records import read, side
from known import ARM64

from quire.build.kernel import Kernel
from quire.commands import fuzz as command
from quire.fuzz import runner
from quire.fuzz.campaign import CampaignOptions
from quire.fuzz.generate import generator
from quire.fuzz.language import program
from quire.fuzz.language.program import Program
from quire.fuzz.language.record import Record
from quire.fuzz.promise import detection, report
from quire.fuzz.promise.detection import Search
from quire.fuzz.promise.hunt import Hunt
from quire.fuzz.runner import Target, Watch
from quire.host.errors import UserError
from quire.host.progress import Progress
from quire.test.seeded import Bug

QUIET = Progress(quiet=True)
# The first operations that the kernel below knows; each page is written to by operation 1.
START = "0 map A 0 2 anon\n0 write A 0 2\n"
SWAPPED = program.parse(f"{START}0 read A 0 2\n0 advise A 0 2 pageout\nreclaim")
READ = program.parse(f"{START}0 read A 0 2")


@pytest.fixture(autouse=True)
def small_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(Kernel, "enables", lambda *_: False)


def run(
    target: Target,
    programs: Mapping[int, Program],
    losses: int | None = None,
    watch: Watch | None = None,
) -> dict[int, Record]:
    """A kernel for process 0 and slot A; with the bug `lose`, `reclaim` loses its first page."""
    loses = any(word.endswith("=lose") for word in target.parameters)
    records: dict[int, Record] = {}
    for number, ops in programs.items():
        records[number] = read(_record(ops, loses=loses))
        if (watch and watch(number, records[number])) or losses == 0:
            break
    return records


def _record(ops: Program, *, loses: bool) -> str:
    lines, content, count = [], "", 0
    for at, op in enumerate(ops):
        outcome = "ok"
        if op.verb == "map" and op.range:
            count, content = op.range.count, "-"
        elif op.verb in ("write", "read") and op.range:
            ok = min(op.range.count, count)
            outcome = f"ok={ok} segv={op.range.count - ok} bus=0"
            written = f"px:t{at}@A0" if op.verb == "write" else "po:0"
            content = written if ok and (op.verb == "write" or content == "-") else content
        elif op.verb == "reclaim" and ":t" in content:
            content = "-" if loses else "s"
        elif op.verb == "advise" and not count:
            outcome = "ENOMEM"
        lines.append(f"o {at} {outcome}")
        mapping = f" 0+{count}:rw-p:0" if count else ""
        lines += [f"v 0 A{mapping}", f"m 0 A 0 {count or 2}*{content or '-'}"]
    return "\n".join(lines)


def made(directory: Path, bug: str = "") -> Hunt:
    """A hunt on a kernel that may have a bug."""
    target = side(directory, has_series=False)
    return Hunt(replace(target, parameters=(f"quire_bug={bug}",) if bug else ()), directory / "out")


def test_a_kernel_that_keeps_its_promises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = made(tmp_path)
    one.run(CampaignOptions(given={0: SWAPPED, 1: READ}), QUIET)
    assert one.problems == []
    report.show(one, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "arm64: 2 programs on stock" in text
    assert "0 findings" in text


def test_a_broken_promise_is_shrunk_written_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = made(tmp_path, "lose")
    one.run(CampaignOptions(given={0: READ, 1: SWAPPED, 2: SWAPPED[:2]}), Progress())
    assert "breaks a promise: what is written stays" in capsys.readouterr().err
    (found,) = one.findings
    assert found.number == 0
    assert [op.text() for op in found.program] == ["0 map A 0 1 anon", "0 write A 0 1", "reclaim"]
    assert found.kind == ("what is written stays", "reclaim")
    assert dict(one.tally.kinds) == {found.kind: 3}
    where = tmp_path / "out/broken-0"
    assert one.problems == [f"arm64: {where / 'program.fuzz'}: {found.title}"]
    assert program.parse((where / "program.fuzz").read_text()) == found.program
    assert "source: Documentation/" in (where / "promises").read_text()
    assert (where / "record").read_text().startswith("# kernel: stock quire_bug=lose\no 0 ok\n")
    assert len(program.parse((where / "original.fuzz").read_text())) > len(READ)
    report.show(one, as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["kinds"] == [["what is written stays", "reclaim", 3]]
    assert printed["findings"][0]["broken"][0]["source"].startswith("Documentation/")
    report.show(one, as_json=False)
    assert "×3" in capsys.readouterr().out


def test_what_a_program_is_known_to_break_is_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = made(tmp_path, "lose")
    known = {0: "what is written stays", 1: "locked"}
    one.run(CampaignOptions(given={0: SWAPPED, 1: SWAPPED[:3], 2: SWAPPED}, known=known), QUIET)
    assert one.tally.known == 1
    assert [found.number for found in one.findings] == [1]
    report.show(one, as_json=False)
    assert "1 broke what is known" in " ".join(capsys.readouterr().out.split())


def test_what_does_not_break_again_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = made(tmp_path, "lose")
    runs = iter([True, False])
    monkeypatch.setattr(
        runner,
        "run",
        lambda _target, programs, *_: {
            number: read(_record(ops, loses=loses))
            for loses in [next(runs)]
            for number, ops in programs.items()
        },
    )
    one.run(CampaignOptions(given={0: SWAPPED}), QUIET)
    assert one.findings == []
    assert [broken.verb for broken in one.tally.unstable.values()] == ["reclaim"]
    report.show(one, as_json=False)
    assert "not again: program 0: what is written stays" in capsys.readouterr().out


def test_seeded_bugs_are_found_missed_or_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def generate(seed: int, *, migrating: bool) -> Program:
        # A hunt for broken promises generates migration, too.
        assert migrating
        return SWAPPED if seed > 2 else READ

    monkeypatch.setattr(generator, "generate", generate)
    lose, hide, odd = (Bug(name, "", "", ("arm64",), ("a.b",)) for name in ("lose", "hide", "odd"))
    target = side(tmp_path, has_series=True)
    search = Search(target, tmp_path / "out", 1, 300, {"odd": "as before"})
    results = detection.look_for_all(search, [lose, hide, odd], QUIET)
    assert [result.missed for result in results] == [False, True, False]
    assert results[0].finding
    assert results[0].programs == 1
    assert (tmp_path / "out/lose/broken-0/promises").exists()
    report.show_bugs(ARM64, results, as_json=True)
    rows = json.loads(capsys.readouterr().out)["bugs"]
    assert [row["operations"] for row in rows] == [3, None, None]
    report.show_bugs(ARM64, results, as_json=False)
    assert "as before" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--oracle", "--cost"], ["--stock"], ["--mended"]])
def test_options_that_exclude_each_other(words: list[str]) -> None:
    part = argparse.ArgumentParser()
    command.add_arguments(part)
    with pytest.raises(UserError):
        command._check(part.parse_args(words))
