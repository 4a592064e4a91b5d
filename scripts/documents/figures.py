# SPDX-License-Identifier: GPL-2.0
"""The figures of the documents, from one source: what a demo counted, as docs/results/LINE.json.

A table of a document stands between `<!-- figures: NAME -->` and `<!-- end -->`; tables.toml in
docs/results describes it. Its `[[quoted]]` are sentences that quote figures, in any file. A table
of a patch or cover letter begins with a line as below; each further line begins with the name of a
row and the size of its folios, and is filled in:

  Linux 6.12.117      KiB              arm64             x86-64
  swapout zero: own    64   562 -> 130 4.32x   635 -> 175 3.63x
  unmerge full          -  387 -> 59.0 6.56x  456 -> 64.9 7.03x

The table `suites` has the last full run of each suite, from docs/results/suites.json; the table
`counted` says of which series the figures are; the tables `alone` and `gains` have what each topic
needs, has passed and gains alone, from the series files and lines/LINE/topics.toml; "munmap: alone"
in a table of a patch is from there, too. One with `growth = [OLD, NEW]` has the rows whose stock
cost rose from line to line; one with `timed`, patterns of its rows, has times of user-mode Linux,
and one with `real` their ratios in its last column. One with `front` has a line for each topic, and
one with `fits` how many patches it is for each series. `trees` is of trees.json (trees.py), and
`cases-LINE` has test cases by patch (cases.py).
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from documents import alone, cases, records, times, trees
from quire.host.errors import UserError
from quire.report import dots
from quire.report.table import UNKNOWN, written
from quire.source.version import parse

Json = Mapping[str, Any]

RESULTS, TABLES, PICTURE = Path("docs/results"), Path("docs/results/tables.toml"), "ratios.svg"
SUITES = RESULTS / "suites.json"
WORKLOADS, TOPICS = Path("guest/workloads"), "docs/topics.md"
ARCHITECTURES = ("arm64", "x86_64")
# A benchmark has grown if stock's cost rose by more than this factor.
GROWN = 1.02
# A cost is above another if it is larger by more than this factor.
ABOVE = 1.005
_BLOCK = re.compile(r"(<!-- figures: (\S+) -->\n)(.*?)(<!-- end -->)", re.S)
# In the text of a quotation: {6.12 arm64 swapout zero 64 b}; "ratio" is a over b.
_QUOTED = re.compile(r"\{(\S+) (\S+) ([^}]+) (a|b|ratio)\}")
_MAIL = re.compile(r"^  Linux \S+ +KiB\b.*\n(?:  \S.*\n)+", re.M)
_LOOSE = re.compile(r"\S*\d\S* +->\s+\d\S*")
# The build's location does not affect the counts.
_PLACE = re.compile(r" ?\bO=\S+|\S*/")
_ASCII = str.maketrans({"→": "->", "×": "x", UNKNOWN: "-"})


class _Growth(NamedTuple):
    """Instructions of a row: stock of an old line, stock of a new one, the series on that."""

    was: float
    now: float
    series: float

    @classmethod
    def of(cls, old: Json | None, new: Json | None) -> Self | None:
        """Return None if a line lacks counts for the benchmark."""
        if not old or not new:
            return None
        return cls(*(side["instructions"] for side in (old["a"], new["a"], new["b"])))

    def cells(self) -> tuple[str, str]:
        """Stock, then the series."""
        percent = round(100 * (self.now / self.was - 1))
        stock = f"{written(self.was)} → {written(self.now)}, {percent:+} %"
        series = written(self.series)
        return stock, f"**{series}**" if self.series > ABOVE * self.was else series


class Figures:
    """All that was counted, by line, architecture and row."""

    def __init__(self, root: Path) -> None:
        self.root = root
        files = sorted((root / RESULTS).glob("[0-9]*.json"), key=lambda path: parse(path.stem))
        self.lines: Json = {path.stem: json.loads(path.read_text()) for path in files}
        self.data = tomllib.loads((root / TABLES).read_text())
        self.alone = alone.counted(root)
        rendered: dict[str, Callable[[], Iterable[list[str]]]] = {
            "suites": lambda: map(_run, json.loads((root / SUITES).read_text())),
            "counted": lambda: itertools.chain.from_iterable(map(self._counted, self.lines)),
            "alone": lambda: alone.rows(root),
            "gains": lambda: alone.gains(self.alone, self._whole),
            "groups": lambda: alone.grouped(root),
            "trees": lambda: trees.rows(root),
            **{f"cases-{line}": partial(cases.rows, root, line) for line in self.lines},
        }
        for name, table in self.data["table"].items():
            if name in rendered:
                table["rows"] = list(rendered[name]())
            if name.startswith("related"):
                table["rows"] = list(records.related(root, only_front="only_front" in table))
            if "timed" in table:
                table["rows"] = list(self._timed(table["words"], table["timed"]))

    def _whole(self, line: str, architecture: str, name: str) -> str:
        """What a row costs with the whole series."""
        both = self.row(line, architecture, name)
        return written(both["b"]["instructions"]) if both else UNKNOWN

    def _counted(self, line: str) -> Iterator[list[str]]:
        """Of which series the figures of that line are, and how long the series is now."""
        run, series = self.lines[line], self.root / f"patches/linux-{line}.y/series"
        now = sum(bool(name) and name[0] != "#" for name in series.read_text().splitlines())
        runs = Counter(
            tuple(row.get("of", _of(run)))
            for part in run["architectures"].values()
            for row in part["rows"].values()
        )
        for of, rows in sorted(runs.items(), reverse=True):
            yield [line, f"{rows:,}", *of, str(now)]

    def _timed(self, words: Sequence[str], only: Sequence[str]) -> Iterator[list[str]]:
        """The rows of a table of times, beside what was counted on the host's architecture."""
        for line in self.lines:
            for cells in times.rows(self.root / RESULTS, line, only):
                counted = self.row(line, times.COUNTED, cells["benchmark"])
                cells |= {"counted": _pair(counted), "counted, ratio": _ratio(counted)}
                cells["cycles, ratio"] = _ratio(counted, "cycles")
                yield [cells[word] for word in words]

    def row(self, line: str, architecture: str, name: str) -> Json | None:
        """Both sides of the row called "swapout zero 64"; None if it was not counted there."""
        if architecture == times.ARCHITECTURE:
            return times.row(self.root / RESULTS, line, name)
        parts = self.lines.get(line, {}).get("architectures", {})
        found: Json | None = parts.get(architecture, {}).get("rows", {}).get(name)
        return found

    def texts(self) -> Iterator[tuple[Path, str, list[str]]]:
        """Each file with figures, the text that it must have, and its figures that are stale."""
        for path in sorted([self.root / "README.md", *self.root.glob("docs/**/*.md")]):
            if path.is_file() and (blocks := list(_BLOCK.finditer(text := path.read_text()))):
                stale = [what for block in blocks for what in self._stale(block[2], block[3])]
                yield path, _BLOCK.sub(lambda b: b[1] + self.table(b[2]) + b[4], text), stale
        for path, text in records.pages(self.root):
            same = path.is_file() and path.read_text() == text
            yield path, text, [] if same else ["it is not what its records say"]
        for path in sorted(self.root.glob("patches/*/*/*.patch")):
            yield path, *self._mail(path)
        for quoted in self.data.get("quoted", ()):
            for path in sorted(self.root.glob(quoted["file"])):
                yield path, *self._quotation(path.read_text(), quoted["text"])

    def _stale(self, table: str, text: str) -> list[str]:
        """The differences of a table as it is written: row, column, both figures."""
        new = self.table(table)
        words = len(self.data["table"][table]["words"])
        head, *rows = map(_cells, new.splitlines())
        written = {tuple(cells[:words]): cells for cells in map(_cells, text.splitlines())}
        found = []
        for row in rows:
            old, label = written.get(tuple(row[:words]), []), " ".join(filter(None, row[:words]))
            found += [] if len(old) == len(row) else [f"{label}: no such row, or other columns"]
            found += [
                f"{label}, {column}: {was} is written, {now} was counted"
                for column, was, now in zip(head, old, row, strict=False)
                if was != now
            ]
        return found or ([] if text == new else [f"table {table}: it has other rows, or an order"])

    def table(self, name: str) -> str:
        """A table of tables.toml in Markdown."""
        wanted = self.data.get("table", {}).get(name)
        if wanted is None:
            raise UserError(f"there is no table of figures {name}", str(TABLES), "add it there")
        kind = next((word for word in ("growth", "front", "fits") if word in wanted), "")
        if kind == "growth":
            lines = self._growth(*wanted["growth"])
        elif kind == "front":
            lines = self._front(wanted)
        else:
            lines = self._fits() if kind else self._rows(wanted)
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def _rows(self, wanted: Json) -> list[list[str]]:
        """The lines of a table that names its rows, from its head on."""
        columns = [
            (line, one)
            for line, known in self.lines.items()
            for one in wanted.get("columns", ARCHITECTURES)
            if one in known["architectures"]
        ]
        words = wanted["words"]
        lines = [[*words, *(" ".join(column) for column in columns)]]
        lines.append(["---"] * len(words) + ["--:"] * len(columns))
        results, real = self.root / RESULTS, wanted.get("real")
        told = [times.told(results, line) for line in self.lines] if real else []
        if told:
            lines[0].append(f"time ({', '.join(self.lines)})")
            lines[1].append("--:")
        for entry in wanted["rows"]:
            row = dict(zip(words, [*entry, *[""] * len(words)], strict=False))
            name, _, figure = row.get("benchmark", "").partition(": ")
            sides = [self.row(*column, name) for column in columns]
            show = _ratios if wanted.get("ratios") and not figure else _pair
            lines.append([*row.values(), *(show(both, figure or "instructions") for both in sides)])
            if told:
                cells = [known.get(name, UNKNOWN) for known in told]
                lines[-1].append(UNKNOWN if figure or {*cells} == {UNKNOWN} else ", ".join(cells))
        return lines

    def _front(self, wanted: Json) -> list[list[str]]:
        """The lines of a table with a line for each topic: words, patches, ratios of instructions
        on each line of kernels, times; each of the topic's `benchmarks`, by its short name."""
        words, results = wanted["words"], self.root / RESULTS
        heads = [f"instructions, {line}" for line in self.lines]
        lines = [[*words, "patches", *heads, f"time ({', '.join(self.lines)})", *wanted["last"]]]
        lines.append(["---"] * len(lines[0]))
        told = [times.told(results, line) for line in self.lines]
        totals = {row[:2]: row[4] for row in map(tuple, alone.rows(self.root))}
        newest = {parse(of[:-1]).line: of for of, _ in totals if of.endswith("-")}

        def timed(name: str) -> str:
            found = [known.get(name, UNKNOWN) for known in told]
            return "" if {*found} == {UNKNOWN} else ", ".join(found)

        for entry in wanted["rows"]:
            topic, named = entry["topic"], entry["benchmarks"].items()
            cells = [f"[`{topic}`]({TOPICS})", *(entry[word] for word in words[1:])]
            counts = {line: totals.get((newest.get(line, ""), f"`{topic}`")) for line in self.lines}
            covers = (
                f"[{count}](patches/linux-{line}.y/{topic}/0000-cover-letter.patch)"
                if count
                else UNKNOWN
                for line, count in counts.items()
            )
            cells.append(", ".join(covers))
            shown = {short: self._linked(short, name) for short, name in named}
            for line in self.lines:
                ratios = (
                    (shown[short], self.row(line, wanted["on"], name)) for short, name in named
                )
                cells.append(", ".join(f"{short} {_ratio(sides)}" for short, sides in ratios))
                shown = {short: short for short in shown}
            found = [f"{short} {text}" for short, name in named if (text := timed(name))]
            lines.append([*cells, "; ".join(found) or UNKNOWN, *map(entry.get, wanted["last"])])
        return lines

    def _linked(self, short: str, name: str) -> str:
        """The short name of a benchmark, as a link to its source if that is there."""
        what = f'.name = "{name.partition(" ")[0]}"'
        files = sorted((self.root / WORKLOADS).glob("*.c"))
        found = next((file for file in files if what in file.read_text()), None)
        return f"[{short}]({WORKLOADS / found.name})" if found else short

    def _fits(self) -> list[list[str]]:
        """The lines of a table with a line for each topic: its patches in all for each series."""
        totals = {row[:2]: row[4] for row in map(tuple, alone.rows(self.root))}
        series = list(dict.fromkeys(of for of, _ in totals))
        lines = [["topic", *(f"{of.rstrip('-')} on" if of.endswith("-") else of for of in series)]]
        lines.append(["---", *["--:"] * len(series)])
        for topic in dict.fromkeys(topic for _, topic in totals):
            lines.append([topic, *(totals.get((of, topic), UNKNOWN) for of in series)])
        return lines

    def _growth(self, old: str, new: str) -> list[list[str]]:
        """The lines of a table of rows whose stock cost grew from a line to another, on any of
        ARCHITECTURES: both lines' stock, and the series on the new one, bold if above old stock."""
        lines = [["benchmark"], ["---", *["--:"] * 2 * len(ARCHITECTURES)]]
        for one in ARCHITECTURES:
            lines[0] += [f"{one}: stock {old} → {new}", f"series on {new}"]
        parts = self.lines[old]["architectures"]
        names = {name for one in ARCHITECTURES for name in parts[one]["rows"]}
        for name in sorted(names, key=_natural):
            grown = [_Growth.of(self.row(old, one, name), self.row(new, one, name))
                     for one in ARCHITECTURES]  # fmt: skip
            if any(each and each.now > GROWN * each.was for each in grown):
                cells = (each.cells() if each else (UNKNOWN, UNKNOWN) for each in grown)
                lines.append([name, *itertools.chain.from_iterable(cells)])
        return lines

    def _mail(self, path: Path) -> tuple[str, list[str]]:
        """A patch with its tables as they must be. In a cover letter, no other figures may be."""
        text, stale = path.read_text(), list[str]()
        line = path.parts[-3].removeprefix("linux-").removesuffix(".y")

        def table(block: re.Match[str]) -> str:
            old = block[0].splitlines()
            new = self._mail_table(line, path.parent.name, old[1:])
            stale.extend(
                f"{' '.join(was.split())!r} is written, {' '.join(now.split())!r} was counted"
                for was, now in zip(old, new, strict=True)
                if was.split() != now.split()
            )
            return "\n".join([*new, ""])

        new = _MAIL.sub(table, text)
        if path.name.startswith("0000-"):
            loose = _LOOSE.findall(_MAIL.sub("", text))
            stale += [f"{' '.join(figure.split())!r} is in no table" for figure in loose]
        return new, stale

    def _by_itself(self, line: str, topic: str, one: str, name: str) -> Json | None:
        """Both sides of a row, of which B has nothing but the topic and what it needs."""
        gain = self.alone.get((line, topic, name), {}).get(one)
        if not gain:
            return None
        return {"a": {"instructions": gain.stock}, "b": {"instructions": gain.alone}}

    def _mail_table(self, line: str, topic: str, rows: Sequence[str]) -> list[str]:
        """The table with these rows. UserError for one that was not counted."""
        base = self.lines.get(line, {}).get("base", "")
        cells = [[base.partition(",")[0], "KiB", "arm64", "x86-64"]]
        for row in rows:
            _, what, size, *_ = re.split("  +", f"{row}  -")
            name, _, figure = what.partition(": ")
            name = f"{name} {size}".removesuffix(" -")
            if figure == "alone":
                sides = [self._by_itself(line, topic, one, name) for one in ARCHITECTURES]
            else:
                sides = [self.row(line, one, name) for one in ARCHITECTURES]
            if not any(sides):
                raise UserError(f"{what} {size} was not counted on {line}", remedy="leave it out")
            of = figure.replace("TLBI", "TLB invalidations").replace("alone", "") or "instructions"
            texts = [f"{_pair(both, of)} {_ratio(both, of).strip(UNKNOWN):>5}" for both in sides]
            cells.append([what, size, *(one.translate(_ASCII) for one in texts)])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [
            "  ".join(["", row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in cells
        ]

    def _quotation(self, text: str, wanted: str) -> tuple[str, list[str]]:
        """The text with the sentence as it must be. UserError for a figure that was not counted."""
        pattern = r"\s+".join(map(re.escape, _QUOTED.sub("\0", wanted).split()))
        found = re.search(pattern.replace("\0", r"([\d.,]+)"), text)
        if not found:
            return text, [f"{wanted!r} is quoted by {TABLES} and not there"]
        stale, end = [], len(text)
        for at, figure in reversed(list(enumerate(_QUOTED.finditer(wanted), 1))):
            line, architecture, name, what = figure.groups()
            row = self.row(line, architecture, name)
            if row is None:
                raise UserError(f"no such figure: {figure[0]}", str(TABLES))
            of = times.NS if architecture == times.ARCHITECTURE else "instructions"
            now = _ratio(row, of)[:-1] if what == "ratio" else written(row[what][of])
            if found[at] != now:
                stale.append(f"{figure[0][1:-1]}: {found[at]} is written, {now} was counted")
            start, end = found.span(at)
            text = text[:start] + now + text[end:]
        return text, stale

    def picture(self) -> str:
        """The dot plot of all lines and architectures."""
        columns = [(line, one) for line in self.lines for one in ARCHITECTURES]
        ratios = {
            name: [_quotient(self.row(*column, name)) for column in columns] for name in dots.ROWS
        }
        return dots.svg(columns, dots.choose(ratios), most=dots.MOST_SHOWN)


def record(report: Json, commit: str, when: float, before: Json) -> tuple[str, str]:
    """The line of a report of `quire demo` or `bench`, and the text of its file, a line per row.

    Rows that the report lacks stay as `before`, the lines by name, has them, with the run that they
    are of. So do those that it has with cycles, which are all that they get: boots with simulated
    caches count within 0.1 % of the same. UserError for another document.
    """
    if report.get("schema") != "quire-bench":
        raise UserError("this is not a report of demo or bench", str(report.get("schema")))
    side = report["sides"]["b"]
    line = parse(side["version"]).line
    old = before.get(line, {"architectures": {}})
    parts = {part["name"]: part for part in report["architectures"]}
    parts |= {f"{part['name']} {part['cpu']['name']}": part for part in report["further_cpus"]}
    new = {title: _part(part) for title, part in parts.items()}
    for title, part in old["architectures"].items():
        rows = new.setdefault(title, {**part, "rows": {}})["rows"]
        for name, row in part["rows"].items():
            added = rows.get(name)
            if not added:
                rows[name] = {"of": _of(old), **row}
            elif all("cycles" in added[side] for side in "ab"):
                sides = {side: {**row[side], "cycles": added[side]["cycles"]} for side in "ab"}
                rows[name] = {"of": _of(old), **row, **sides}
    head = {
        "base": side["about"],
        **dated(commit, when),
        "command": _PLACE.sub("", report["command"]).replace("__main__.py", "quire").strip(),
        "patches": len(report["series"]["patches"]),
    }
    text = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    text += ',\n "architectures": {' + ",".join(_text(*part) for part in new.items())
    return line, text + "\n }\n}\n"


def record_suite(runs: str, report: Json, commit: str, when: float) -> str:
    """The text of suites.json with a report of `quire test` in place of an earlier one."""
    counted: dict[str, Counter[str]] = {}
    for kernel in report["kernels"]:
        statuses = [case["status"] for case in kernel["cases"]] or ["lost"]
        counted.setdefault(kernel["architecture"], Counter()).update(statuses)
    bad = sum(tally["fail"] + tally["lost"] for tally in counted.values())
    run = {
        "suite": "quire test --all" if len(report["kernels"]) > 2 * len(counted) else "quire test",
        "of": report["kernels"][0]["base"],
        **dated(commit, when),
        "counted": counted,
        "result": f"{bad} unexpected failures" if bad else "no unexpected failure",
    }
    known = {(each["suite"], each["of"]): each for each in [*json.loads(runs), run]}
    lines = (json.dumps(each, ensure_ascii=False) for each in known.values())
    return "[\n" + ",\n".join(lines) + "\n]\n"


def dated(commit: str, when: float) -> dict[str, str]:
    """Of which commit and day a run is, as its record says it. `when`: seconds since 1970."""
    return {"commit": commit, "date": datetime.fromtimestamp(when, UTC).date().isoformat()}


def _run(run: Json) -> list[str]:
    """A row of the table of suites."""
    counted = "; ".join(
        f"{one}: " + ", ".join(f"{n:,} {what}" for what, n in tally.items())
        for one, tally in run["counted"].items()
    )
    return [f"`{run['suite']}`", run["of"], run["date"], run["commit"], counted, run["result"]]


def _of(run: Json) -> list[str]:
    """Which run a row is of: date, commit, patches of the series."""
    return [run["date"], run["commit"], str(run["patches"])]


def _part(part: Json) -> dict[str, Any]:
    about = {key: part[key] for key in ("compiler", "qemu")}
    about["configuration"] = part["config"]["resolved_sha256"]
    rows = {dots.name(row): {side: _side(row[side]) for side in "ab"} for row in part["rows"]}
    return {**about, "rows": rows}


def _text(title: str, part: Json) -> str:
    about = (f"\n   {json.dumps(key)}: {json.dumps(part[key])}," for key in part if key != "rows")
    rows = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in part["rows"].items())
    listed = ",\n    ".join(rows)
    return f'\n  {json.dumps(title)}: {{{"".join(about)}\n   "rows": {{\n    {listed}\n   }}\n  }}'


def _side(figure: Json) -> Json:
    own, cycles = figure["own_instructions_per_unit"], figure.get("estimated_cycles")
    counted = {
        "instructions": figure["instructions_per_unit"],
        "TLB invalidations": figure["tlb_invalidations_per_unit"],
        **({"own": own} if own else {}),
        **({"cycles": sum(cycles.values())} if cycles else {}),
        **figure["spans"],
        **{what: n for what, n in figure["counters"].items() if n},
    }
    return {what: float(f"{n:.6g}") for what, n in counted.items()}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _pair(sides: Json | None, of: str = "instructions") -> str:
    if sides is None or (of not in sides["a"] and of not in sides["b"]):
        return UNKNOWN
    return " → ".join(written(sides[side].get(of, 0)) for side in "ab")


def _ratio(sides: Json | None, of: str = "instructions") -> str:
    ratio = _quotient(sides, of)
    if ratio is None:
        return UNKNOWN
    return f"{written(ratio) if ratio >= 10 else format(ratio, '.2f')}×"


def _ratios(sides: Json | None, of: str) -> str:
    """That of instructions; behind it, in brackets, that of estimated cycles."""
    cycles = _ratio(sides, "cycles").strip(UNKNOWN)
    return _ratio(sides, of) + (f" ({cycles})" if cycles else "")


def _quotient(sides: Json | None, of: str = "instructions") -> float | None:
    a, b = ((sides or {}).get(side, {}).get(of) for side in "ab")
    return a / b if a and b else None


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts the words of a row, and sizes by their number."""
    return [(int(word), "") if word.isdigit() else (0, word) for word in name.split()]
