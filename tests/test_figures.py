# SPDX-License-Identifier: GPL-2.0
"""The documents' figures are those that were counted."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import LOGS, ROOT, Quire
from test_time import data

from documents import __main__ as command
from documents import figures, records, times
from documents.figures import RESULTS, SUITES, TABLES, Figures
from quire.arch import architecture
from quire.check.topics import Gain
from quire.host.errors import UserError
from quire.measure.workloads import Catalogue, on_architecture
from quire.report import dots

REPORT = {"schema": "quire-bench", **json.loads((LOGS / "report.json").read_text())}


def kernel(architecture: str, *statuses: str) -> dict[str, object]:
    """A boot in a report of `quire test`; without cases, its guest was lost."""
    cases = [{"name": f"a.{n}", "status": status} for n, status in enumerate(statuses)]
    return {"architecture": architecture, "base": "6.12.1", "cases": cases}


def stale(root: Path) -> list[str]:
    return [f"{path.name}: {what}" for path, _, found in Figures(root).texts() for what in found]


def test_no_figure_is_stale() -> None:
    assert stale(ROOT) == []
    assert (ROOT / RESULTS / figures.PICTURE).read_text() == Figures(ROOT).picture()


def test_every_row_of_a_table_is_one_of_the_demo() -> None:
    catalogue = Catalogue.read(ROOT / "guest/workloads")
    benchmarks = catalogue.benchmarks() + catalogue.benchmarks(["lazyfree", "migrate*"])
    kinds = [architecture(name) for name in ("arm64", "arm64-16k", "arm64-64k")]
    benchmarks = [benchmark for arch in kinds for benchmark in on_architecture(arch, benchmarks)]
    known = {f"{benchmark.label} {benchmark.size or ''}".strip() for benchmark in benchmarks}
    tables = Figures(ROOT).data["table"].values()
    wanted = {
        entry[table["words"].index("benchmark")].partition(": ")[0]
        for table in tables
        if "benchmark" in table["words"]
        for entry in table.get("rows", ())
    }
    assert wanted | set(dots.ROWS) <= known


def test_all_that_costs_more_is_listed() -> None:
    """docs/results.md: the rows more than 0.5 % above stock, and no others."""
    known = Figures(ROOT)
    above = {
        name
        for line in known.lines.values()
        for part in line["architectures"].values()
        for name, row in part["rows"].items()
        if row["b"]["instructions"] > figures.ABOVE * row["a"]["instructions"]
    }
    assert {row[0] for row in known.data["table"]["above"]["rows"]} == above


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A line with the rows of REPORT, a document with a table, and a cover with a sentence."""
    (tmp_path / RESULTS).mkdir(parents=True)
    line, text = figures.record(REPORT, "c0ffee", 0, {})
    (tmp_path / RESULTS / f"{line}.json").write_text(text)
    (tmp_path / TABLES).write_text(
        '[table.one]\nwords = ["benchmark"]\n'
        'rows = [["swapout zero 64"], ["swapout zero 64: own"], ["mremap 4"]]\n'
        '[[quoted]]\nfile = "cover"\n'
        'text = "from {6.12 arm64 swapout zero 64 a} to {6.12 arm64 swapout zero 64 b}"\n'
    )
    (tmp_path / "README.md").write_text("a\n<!-- figures: one -->\n<!-- end -->\nz\n")
    (tmp_path / "cover").write_text("goes from\n1 to 2, and")
    write(tmp_path)
    return tmp_path


def write(root: Path) -> None:
    for path, text, _ in Figures(root).texts():
        path.write_text(text)


def test_a_run_is_recorded() -> None:
    line, text = figures.record({**REPORT, "command": "/x/__main__.py demo O=/y"}, "c0ffee", 0, {})
    known = json.loads(text)
    assert (line, known["commit"], known["date"]) == ("6.12", "c0ffee", "1970-01-01")
    assert known["command"] == "quire demo"
    (part,) = REPORT["architectures"]
    first = known["architectures"]["arm64"]["rows"]["swapout zero 64"]["a"]
    assert first["instructions"] == pytest.approx(part["rows"][0]["a"]["instructions_per_unit"])
    # Rows that a later run has not counted stay, and say which run they are of.
    later = {**REPORT, "architectures": [{**part, "rows": part["rows"][1:]}]}
    _, text = figures.record(later, "f00d", 86400, {line: known})
    rows = json.loads(text)["architectures"]["arm64"]["rows"]
    of = ["1970-01-01", "c0ffee", str(known["patches"])]
    assert rows["swapout zero 64"] == {
        "of": of,
        **known["architectures"]["arm64"]["rows"]["swapout zero 64"],
    }
    assert [name for name, row in rows.items() if "of" in row] == ["swapout zero 64"]
    with pytest.raises(UserError, match="not a report"):
        figures.record({"schema": "quire-test"}, "c0ffee", 0, {})


def test_cycles_are_added_to_what_was_counted() -> None:
    line, text = figures.record(REPORT, "c0ffee", 0, {})
    known = json.loads(text)
    (part,) = REPORT["architectures"]
    first = part["rows"][0]
    more = {side: {**first[side], "instructions_per_unit": 1.0} for side in "ab"}
    more["a"]["estimated_cycles"] = {"instruction": 300.0, "dsb": 100.0}
    more["b"]["estimated_cycles"] = {"instruction": 100.0}
    later = {**REPORT, "architectures": [{**part, "rows": [{**first, **more}]}]}
    _, text = figures.record(later, "f00d", 86400, {line: known})
    rows = json.loads(text)["architectures"]["arm64"]["rows"]
    before = known["architectures"]["arm64"]["rows"]
    assert rows.keys() == before.keys()
    row, was = rows["swapout zero 64"], before["swapout zero 64"]
    assert row["of"] == ["1970-01-01", "c0ffee", str(known["patches"])]
    assert row["a"] == {**was["a"], "cycles": 400} and row["b"] == {**was["b"], "cycles": 100}
    assert figures._ratios(row, "instructions").endswith(" (4.00×)")
    # Counts without cycles take the place of both.
    _, text = figures.record(REPORT, "beef", 86400, {line: json.loads(text)})
    assert "cycles" not in text


def test_a_run_of_the_suite_is_recorded() -> None:
    kernels = [kernel("arm64", "pass", "pass", "skip"), kernel("x86_64", "pass", "expected")]
    text = figures.record_suite("[]", {"kernels": kernels}, "c0ffee", 0)
    (run,) = json.loads(text)
    assert (run["suite"], run["of"], run["date"]) == ("quire test", "6.12.1", "1970-01-01")
    assert run["counted"] == {"arm64": {"pass": 2, "skip": 1}, "x86_64": {"pass": 1, "expected": 1}}
    assert run["result"] == "no unexpected failure"
    # The next run of the same takes its place; a lost guest is a failure.
    kernels = [kernel("arm64", "fail"), kernel("x86_64")]
    (run,) = json.loads(figures.record_suite(text, {"kernels": kernels}, "c0ffee", 0))
    assert (run["counted"]["x86_64"], run["result"]) == ({"lost": 1}, "2 unexpected failures")
    many = {"kernels": [kernel("arm64", "pass")] * 3}
    assert [each["suite"] for each in json.loads(figures.record_suite(text, many, "", 0))] == [
        "quire test",
        "quire test --all",
    ]


def test_what_is_written_is_not_stale(documents: Path) -> None:
    assert stale(documents) == []
    lines = (documents / "README.md").read_text().splitlines()
    assert (lines[0], lines[-1], lines[-3]) == ("a", "z", "| mremap 4 | – |")


def test_a_stale_figure_is_named_with_both_values(documents: Path) -> None:
    readme, cover = documents / "README.md", documents / "cover"
    a, b = cover.read_text().split()[2], cover.read_text().split()[4].rstrip(",")
    readme.write_text(readme.read_text().replace(f"{a} →", "1,234 →"))
    cover.write_text(cover.read_text().replace(b, "77"))
    table, sentence = stale(documents)
    where = "README.md: swapout zero 64, 6.12 arm64"
    assert table == f"{where}: 1,234 → {b} is written, {a} → {b} was counted"
    assert sentence == f"cover: 6.12 arm64 swapout zero 64 b: 77 is written, {b} was counted"
    write(documents)
    assert stale(documents) == []
    readme.write_text(readme.read_text().replace("| mremap 4 | – |\n", ""))
    cover.write_text("nothing")
    assert [what.rpartition(": ")[2] for what in stale(documents)] == [
        "no such row, or other columns",
        f"'{Figures(documents).data['quoted'][0]['text']}' is quoted by {TABLES} and not there",
    ]


def test_rows_that_grew_from_line_to_line_are_listed(documents: Path) -> None:
    """More than 2 %; the series is bold where it is more than 0.5 % above the old line's stock."""
    tables = documents / TABLES
    tables.write_text(
        f'{tables.read_text()}[table.two]\nwords = ["benchmark"]\ngrowth = ["6.12", "7.3"]'
    )
    was, file = Figures(documents), documents / RESULTS / "6.12.json"
    rows = {
        "grown 64": (100, 100, 110, 100.6),
        "grown 16": (100, 90, 103, 100),
        "same 4": (100, 90, 102, 101),
        "less 4": (100, 90, 50, 50),
        "new 4": (None, None, 9, 9),
    }
    for line, at in (("6.12", 0), ("7.3", 2)):
        counted = {
            name: {side: {"instructions": row[at + n]} for n, side in enumerate("ab")}
            for name, row in rows.items()
            if row[at] is not None
        }
        parts = {"arm64": {"rows": counted}, "x86_64": {"rows": {}}}
        file.with_name(f"{line}.json").write_text(
            json.dumps({**was.lines["6.12"], "architectures": parts})
        )
    assert Figures(documents).table("two").splitlines()[2:] == [
        "| grown 16 | 100 → 103, +3 % | 100 | – | – |",
        "| grown 64 | 100 → 110, +10 % | **101** | – | – |",
    ]


COVER = """\
Subject: [PATCH 0/1] mm: text

  Linux {version}  KiB
  swapout zero  64
  swapout zero: TLBI  64
  swapout zero: own  64
{more}
  mm/rmap.c | 1 +
"""


def cover(root: Path, version: str = "", more: str = "") -> Path:
    path = root / "patches/linux-6.12.y/swapout/0000-cover-letter.patch"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(COVER.format(version=version or "6.12.1", more=more))
    return path


def test_the_table_of_a_cover_letter_is_filled_in(documents: Path) -> None:
    mail = cover(documents)
    base, *rows = stale(documents)
    assert base.startswith(
        "0000-cover-letter.patch: 'Linux 6.12.1 KiB' is written, 'Linux 6.12.117"
    )
    assert len(rows) == 3
    write(documents)
    assert stale(documents) == []
    a, b = (REPORT["architectures"][0]["rows"][0][side] for side in "ab")
    ratio = a["own_instructions_per_unit"] / b["own_instructions_per_unit"]
    head, *lines, own, empty, diff = mail.read_text().splitlines()
    assert re.fullmatch(rf"  swapout zero: own    64  +\d+ -> \S+ {ratio:.2f}x  +-", own)
    assert (head, empty, diff) == ("Subject: [PATCH 0/1] mm: text", "", "  mm/rmap.c | 1 +")
    assert lines[1].startswith("  Linux 6.12.117      KiB ")
    mail.write_text(mail.read_text().replace(f"{ratio:.2f}x", "9.99x"))
    (changed,) = stale(documents)
    assert "9.99x -' is written, 'swapout zero: own 64 " in changed


def test_a_cover_letter_tells_what_its_topic_gains_alone(documents: Path) -> None:
    mail = cover(documents)
    mail.write_text(mail.read_text().replace("zero: own  64", "zero: alone  64"))
    known = Figures(documents)
    name = "swapout zero 64"
    known.alone[("6.12", "swapout", name)] = {"arm64": Gain(name, 1326.0, 1284.0)}
    texts = {path: text for path, text, _ in known.texts()}
    assert re.search(r"swapout zero: alone +64 +1,326 -> 1,284 1\.03x +-", texts[mail])


def test_a_cover_letter_has_no_figures_outside_of_its_table(documents: Path) -> None:
    cover(documents, more="It takes 1,234 ->\n567 instructions, and x -> y.")
    write(documents)
    (loose,) = stale(documents)
    assert loose == "0000-cover-letter.patch: '1,234 -> 567' is in no table"


def test_a_row_that_was_not_counted_is_named(documents: Path) -> None:
    mail = cover(documents)
    mail.write_text(mail.read_text().replace("own  64", "own  48"))
    with pytest.raises(UserError, match=r"swapout zero: own 48 was not counted on 6\.12"):
        stale(documents)


def test_a_table_that_is_not_there_is_named(documents: Path) -> None:
    (documents / "README.md").write_text("<!-- figures: two -->\n<!-- end -->\n")
    with pytest.raises(UserError, match="two"):
        stale(documents)


def test_the_command_records_writes_and_checks(
    quire: Quire,
    documents: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.rmtree(quire.project / "docs", ignore_errors=True)
    shutil.copytree(documents / "docs", quire.project / "docs")
    (quire.project / "README.md").write_text("<!-- figures: one -->\n<!-- end -->\n")
    (quire.project / TABLES).write_text((documents / TABLES).read_text().partition("[[quoted")[0])
    monkeypatch.setenv("QUIRE_ROOT", str(quire.project))
    assert command.main([]) == 1
    assert "README.md: swapout zero 64: no such row" in capsys.readouterr().err
    assert command.main(["--write"]) == 0
    assert command.main([]) == 0
    assert command.main(["--record", str(documents / "nothing")]) == 2
    (quire.project / SUITES).write_text("[]")
    tests = documents / "test.json"
    tests.write_text(json.dumps({"schema": "quire-test", "kernels": [kernel("arm64", "pass")]}))
    subprocess.run(["git", "init", "-q"], cwd=quire.project, check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@invalid"]
    commit = ["git", *identity, "commit", "-q", "--allow-empty", "-m", "a"]
    subprocess.run(commit, cwd=quire.project, check=True)
    assert command.main(["--record", str(tests)]) == 0
    (run,) = json.loads((quire.project / SUITES).read_text())
    assert run["counted"] == {"arm64": {"pass": 1}}
    new = timed(documents / "new", {"move": (1, 2)})
    assert command.main(["--record", str(new)]) == 0
    assert (quire.project / RESULTS / "um-6.12/patched.json").is_file()


def timed(folder: Path, rows: dict[str, tuple[float, float]], build: str = "0123") -> Path:
    """A folder as `quire time` writes it: rows with seven boots of both sides."""
    folder.mkdir(exist_ok=True)
    for number, side in enumerate(times.SIDES):
        found = data(**{name: [[both[number]]] * 7 for name, both in rows.items()})
        found["build"] = build
        for row in found["rows"]:
            row["words"] = "swapout size=64 data=zero" if "swapout" in row["name"] else row["name"]
            row["counters"]["um-sync-ns"] = 0.5
        (folder / f"{side}.json").write_text(json.dumps(found))
    return folder


def test_times_stand_beside_the_counts(documents: Path) -> None:
    text = """
[table.times]
columns = []
words = ["line", "benchmark", "counted, ratio", "kernel, ns", "kernel", "all, ratio",
	"mappings, ns"]
timed = ["swapout*", "move"]
[table.real]
columns = []
words = ["benchmark"]
real = true
rows = [["swapout zero 64"], ["swapout zero 64: own"], ["move"]]
"""
    with (documents / TABLES).open("a") as file:
        file.write(text)
    results, of = documents / RESULTS, {"commit": "c0ffee"}
    assert "| 6.12 |" not in Figures(documents).table("times")
    both = {"swapout": (90.0, 80.0), "swapout:kernel": (30.0, 10.0)}
    times.record(results, timed(documents / "one", both), of)
    counted = Figures(documents).row("6.12", "x86_64", "swapout zero 64")
    ratio = figures._ratio(counted)
    row = f"| 6.12 | swapout zero 64 | {ratio} | 30.0 → 10.0 | faster | 1.12× [1.12, 1.12] |"
    assert f"{row} 0.5 → 0.5 |" in Figures(documents).table("times")
    row_of = Figures(documents).row("6.12", "um", "swapout zero 64")
    assert row_of == {"a": {"ns": 30.0}, "b": {"ns": 10.0}}
    assert Figures(documents).row("6.12", "um", "move") is None
    real = "| swapout zero 64 | 3× |\n| swapout zero 64: own | – |\n| move | – |\n"
    assert Figures(documents).table("real") == f"| benchmark | time (6.12) |\n| --- | --: |\n{real}"
    alike = {"swapout": (90.0, 80.0), "swapout:kernel": (30.0, 30.0)}
    times.record(results, timed(documents / "alike", alike), of)
    assert "| swapout zero 64 | n.s. |" in Figures(documents).table("real")
    times.record(results, timed(documents / "one", both), of)
    # What another run lacks stays, unless another program timed it.
    times.record(results, timed(documents / "two", {"move": (1, 2), "other": (1, 1)}), of)
    table = Figures(documents).table("times")
    assert row in table
    assert "| 6.12 | move | – | 1.00 → 2.00 | slower |" in table
    assert "other" not in table
    times.record(results, timed(documents / "three", {"move": (2, 1)}, build="4567"), of)
    assert Figures(documents).table("times").count("| 6.12 |") == 1
    assert json.loads((results / "um-6.12/stock.json").read_text())["rows"][0]["commit"] == "c0ffee"


def test_pictures_are_svg_with_every_ratio() -> None:
    full = ElementTree.fromstring(dots.of_report(REPORT, full=True))
    titles = [element.text for element in full.iter("{http://www.w3.org/2000/svg}title")]
    rows = REPORT["architectures"][0]["rows"]
    assert len(titles) == 1 + len(rows)
    assert f"swapout zero 64, arm64: {rows[0]['ratio']:.2f}×" in titles
    # Sorted, the best ratio on top; workloads of a user are not in the list of twelve.
    few = dots.choose({"swapout zero 64": [2.0, None], "mremap 64": [None, 3.0], "x": [9.0, 9.0]})
    assert list(few) == [dots.ROWS["mremap 64"], dots.ROWS["swapout zero 64"]]
    assert list(dots.choose({"x": [9.0], "y": [10.0]})) == ["y", "x"]
    # Some 7.5 pixels a letter.
    assert max(map(len, dots.ROWS.values())) * 7.5 < dots.LEFT - 12


RECORDS_FILE = """\
title = "Hunts"
about = "What was run."
[[record]]
title = "One"
date = "2026-11-25"
commit = "c0ffee"
series = "f00d"
seconds = 1234
commands = ["quire fuzz"]
result = "Nothing."
columns = ["line", "seeds"]
rows = [["7.3", "1 to 300"]]
[[record]]
title = "Two"
date = ""
result = "Something."
"""


def test_records_are_rendered_as_a_page_for_each_kind(documents: Path) -> None:
    folder = documents / records.RECORDS
    folder.mkdir()
    (folder / "hunts.toml").write_text(RECORDS_FILE)
    assert stale(documents) == ["hunts.md: it is not what its records say"]
    write(documents)
    assert stale(documents) == []
    text = (folder / "hunts.md").read_text()
    assert "# Hunts\n\nWhat was run.\n" in text
    head = "## One\n\n*2026-11-25, commit c0ffee, series f00d, 1,234 s*\n\n"
    assert f"{head}    quire fuzz\n\nNothing.\n\n| line |" in text
    assert "## Two\n\n*date not recorded*\n\nSomething.\n" in text
    (folder / "hunts.toml").write_text(RECORDS_FILE.replace("commit", "comit"))
    with pytest.raises(UserError, match=r"hunts\.toml is invalid"):
        stale(documents)


def test_the_front_table_has_a_line_for_each_topic(documents: Path) -> None:
    with (documents / TABLES).open("a") as file:
        file.write("""
[table.front]
front = true
on = "arm64"
words = ["topic"]
last = ["risk"]
[[table.front.rows]]
topic = "swapout"
risk = "high"
benchmarks = { zeroes = "swapout zero 64", "1" = "x" }
""")
    ratio = figures._ratio(Figures(documents).row("6.12", "arm64", "swapout zero 64"))
    assert Figures(documents).table("front").splitlines() == [
        "| topic | patches | instructions, 6.12 | time (6.12) | risk |",
        "| --- | --- | --- | --- | --- |",
        f"| [`swapout`](docs/topics.md) | – | zeroes {ratio}, 1 – | – | high |",
    ]


def test_one_row_does_not_decide_the_scale() -> None:
    ratios = {"a": [574.0, 551.0], "b": [2.0, 1.1]}
    picture = dots.svg([("6.12", "arm64"), ("6.12", "x86_64")], ratios, most=40)
    assert ">574×, 551× ›<" in picture
    assert ">20×<" in picture and ">50×<" not in picture
    assert "a, 6.12 arm64: 574.00×" in picture
