# SPDX-License-Identifier: GPL-2.0
"""The hunt for broken promises: what breaks twice is shrunk, written and counted by its kind."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fuzz_records import Capture, Patch, read, side
from known import ARM64

from quire.fuzz import detect, runner, show
from quire.fuzz.detect import Search
from quire.fuzz.generate import generator
from quire.fuzz.hunt import Hunt
from quire.fuzz.judge import Tally
from quire.fuzz.language import program
from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.language.record import Record
from quire.fuzz.programs import Programs
from quire.fuzz.promise.oracle import Broken
from quire.fuzz.promise.promises import PromiseJudge
from quire.fuzz.runner import Target, Targets, Watch
from quire.host.cache import Cache
from quire.host.progress import Progress
from quire.kernels.kernel import Kernel
from quire.suites.seeded import Bug

QUIET = Progress(quiet=True)
# The first operations that the kernel below knows; each page is written to by operation 1.
START = "0 map A 0 2 anon\n0 write A 0 2\n"
SWAPPED = program.parse(f"{START}0 read A 0 2\n0 advise A 0 2 pageout\nreclaim")
READ = program.parse(f"{START}0 read A 0 2")


@pytest.fixture(autouse=True)
def small_kernel(monkeypatch: Patch) -> None:
    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(Kernel, "enables", lambda *_: False)


def run(
    target: Target, programs: Numbered, losses: int | None = None, watch: Watch | None = None
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


def hunted(
    directory: Path,
    given: dict[int, Program],
    bug: str = "",
    *,
    known: dict[int, str] | None = None,
    progress: Progress = QUIET,
) -> tuple[Hunt, Tally[Broken]]:
    """A hunt on a kernel that may have a bug."""
    target = side(directory, has_series=False)
    target = replace(target, parameters=(f"quire_bug={bug}",) if bug else ())
    targets = Targets((target,))
    judge = PromiseJudge.of(targets, known)
    hunt = Hunt(targets, [judge], directory / "out")
    hunt.run(Programs(given=given, oracle=True), 5, progress)
    return hunt, judge.tally


def test_a_kernel_that_keeps_its_promises(tmp_path: Path, capsys: Capture) -> None:
    hunt, _ = hunted(tmp_path, {0: SWAPPED, 1: READ})
    assert hunt.problems == []
    show.show(hunt, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "arm64: 2 programs on stock" in text
    assert "0 findings" in text


def test_a_broken_promise_is_shrunk_written_and_counted(tmp_path: Path, capsys: Capture) -> None:
    given = {0: READ, 1: SWAPPED, 2: SWAPPED[:2]}
    hunt, tally = hunted(tmp_path, given, "lose", progress=Progress())
    assert "breaks a promise: what is written stays" in capsys.readouterr().err
    (found,) = tally.findings
    assert found.number == 0
    assert [op.text() for op in found.program] == ["0 map A 0 1 anon", "0 write A 0 1", "reclaim"]
    assert found.fault.kind == ("what is written stays", "reclaim")
    assert dict(tally.kinds) == {found.kind: 3}
    where = tmp_path / "out/broken-0"
    assert hunt.problems == [f"arm64: {where / 'program.fuzz'}: {found.fault.text}"]
    assert program.parse((where / "program.fuzz").read_text()) == found.program
    assert "source: Documentation/" in (where / "promises").read_text()
    assert (where / "record").read_text().startswith("# kernel: stock quire_bug=lose\no 0 ok\n")
    assert len(program.parse((where / "original.fuzz").read_text())) > len(READ)
    show.show(hunt, as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["kinds"] == [["what is written stays", "reclaim", 3]]
    assert printed["findings"][0]["broken"][0]["source"].startswith("Documentation/")
    show.show(hunt, as_json=False)
    assert "×3" in capsys.readouterr().out


def test_what_a_program_is_known_to_break_is_no_finding(tmp_path: Path, capsys: Capture) -> None:
    known = {0: "what is written stays", 1: "locked"}
    given = {0: SWAPPED, 1: SWAPPED[:3], 2: SWAPPED}
    hunt, tally = hunted(tmp_path, given, "lose", known=known)
    assert hunt.judges[0].figures(hunt.targets)["known"] == 1
    assert [found.number for found in tally.findings] == [1]
    show.show(hunt, as_json=False)
    assert "1 broke a promise as expected" in " ".join(capsys.readouterr().out.split())


def test_what_does_not_break_again_is_no_finding(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
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
    hunt, tally = hunted(tmp_path, {0: SWAPPED}, "lose")
    assert tally.findings == []
    assert list(tally.unstable) == [0]
    assert (tmp_path / "out/unstable/0.fuzz").exists()
    show.show(hunt, as_json=False)
    assert "only once: program 0: what is written stays" in capsys.readouterr().out


def test_seeded_bugs_are_found_missed_or_left_out(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    def generate(seed: int, *, migrating: bool) -> Program:
        # A hunt for broken promises generates migration, too.
        assert migrating
        return SWAPPED if seed > 2 else READ

    monkeypatch.setattr(generator, "generate", generate)
    lose, hide = (Bug(name, "", ("arm64",), ("a.b",)) for name in ("lose", "hide"))
    odd = replace(hide, name="odd", no_program="as before")
    targets = Targets((side(tmp_path, has_series=True),))
    cache, out = Cache(tmp_path / "build"), tmp_path / "out"
    search = Search(partial(PromiseJudge.of, targets), targets, Programs(300, oracle=True), cache)
    results = detect.look_for_all(search, [lose, hide, odd], out, QUIET)
    assert [result.missed for result in results] == [False, True, False]
    assert results[0].finding
    assert results[0].programs == 1
    assert (tmp_path / "out/lose/broken-0/promises").exists()
    show.show_bugs(ARM64, PromiseJudge.of(targets), results, as_json=True)
    rows = json.loads(capsys.readouterr().out)["bugs"]
    assert [row["operations"] for row in rows] == [3, None, None]
    show.show_bugs(ARM64, PromiseJudge.of(targets), results, as_json=False)
    assert "as before" in capsys.readouterr().out
