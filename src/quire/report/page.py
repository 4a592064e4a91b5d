# SPDX-License-Identifier: GPL-2.0
"""The page: a report of bench or demo as one HTML file that needs no network.

Its tables are plain HTML. A script makes them sortable and shows what is behind a row: costs and
the symbols that changed. page.html, page.css and page.js are beside this file.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Any

from quire.measure import cost, profile
from quire.report import dots
from quire.report.table import NOTABLE, UNKNOWN, number

Json = Mapping[str, Any]

# Significant digits of the embedded numbers: of rows, and of symbols.
DIGITS, FEW_DIGITS = 7, 4
# A symbol is left out if its change is less than this share of the row's instructions.
NEGLIGIBLE = 0.0005


@dataclass(frozen=True)
class Group:
    """Adjacent columns: the heading, the key in the page's address, and the kinds of cost whose sum
    they show; none for instructions."""

    heading: str
    key: str
    kinds: tuple[str, ...] = ()

    def of(self, figure: Json) -> float | None:
        """The number of one side, None if it was not counted."""
        if self.key == "insns":
            return float(figure["instructions_per_unit"])
        if self.key == "tlb":
            return float(figure["tlb_invalidations_per_unit"])
        if self.key == "locks":
            return cost.locks_taken(figure["cost"])
        found = [figure["cost"][kind] for kind in self.kinds if kind in figure["cost"]]
        return float(sum(found)) if found else None


GROUPS = (
    Group("instructions", "insns"),
    Group("TLB inv.", "tlb"),
    Group("atomics", "atomics", ("atomics",)),
    Group("barriers", "barriers", ("barriers",)),
    Group("locks", "locks"),
    Group("lines read", "read", ("lines read",)),
    Group("lines written", "written", ("lines written",)),
)


def render(report: Json) -> str:
    """The page of a report as report.data makes it."""
    sides = report["sides"]
    parts = [*report["architectures"], *report["further_cpus"]]
    labels = (sides["a"]["label"], sides["b"]["label"])
    groups = [group for group in GROUPS if _counted(group, parts)]
    text = {name: _asset(f"page.{name}") for name in ("html", "css", "js")}
    return Template(text["html"]).substitute(
        notable=NOTABLE,
        title=_text(f"{labels[0]} → {labels[1]}"),
        style=text["css"],
        script=text["js"],
        sides="".join(_side(name, sides[name]) for name in "ab"),
        dots=dots.of_report(report),
        topics="".join(f"<option>{_text(topic)}</option>" for topic in _topics(parts)),
        sections="\n".join(_section(at, part, labels, groups) for at, part in enumerate(parts)),
        command=_text(report["command"]),
        version=_text(report["quire"]),
        data=embedded(report),
    )


def embedded(report: Json) -> str:
    """The report as JSON in a script element, with rounded numbers.

    A symbol is a list: its name, then both sides' numbers for each of `symbol_kinds`, without
    zeroes at the end. Small changes are left out. `kinds`: what of a cost is not a class of locks.
    """
    parts = {
        name: [{**part, "rows": [_short(row) for row in part["rows"]]} for part in report[name]]
        for name in ("architectures", "further_cpus")
    }
    names = {"kinds": cost.KINDS, "symbol_kinds": profile.KINDS}
    short = _rounded({**report, **parts}, DIGITS) | names
    text = json.dumps(short, separators=(",", ":"), ensure_ascii=False)
    # "</script>" and "<!--" would end the element or its text.
    return text.replace("<", "\\u003c")


def _asset(name: str) -> str:
    return resources.files("quire.report").joinpath(name).read_text("utf-8")


def _counted(group: Group, parts: Sequence[Json]) -> bool:
    """Whether any row has such a number."""
    rows = (row for part in parts for row in part["rows"])
    return any(group.of(row[side]) is not None for row in rows for side in "ab")


def _topics(parts: Sequence[Json]) -> list[str]:
    return [*dict.fromkeys(row["topic"] for part in parts for row in part["rows"] if row["topic"])]


def _short(row: Json) -> Json:
    least = NEGLIGIBLE * max(row[side]["instructions_per_unit"] for side in "ab")
    symbols = [
        _symbol(symbol)
        for symbol in row["symbols"]
        if abs(symbol["a"]["insns"] - symbol["b"]["insns"]) >= least
        or symbol["a"]["events"] != symbol["b"]["events"]
    ]
    return {**row, "symbols": symbols}


def _symbol(symbol: Json) -> list[Any]:
    sides = [{**symbol[side], **symbol[side]["events"]} for side in "ab"]
    numbers = [float(side.get(kind, 0)) for kind in profile.KINDS for side in sides]
    while numbers and not numbers[-1]:
        numbers.pop()
    return [symbol["name"], *_rounded(numbers, FEW_DIGITS)]


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        short = float(f"{value:.{digits}g}")
        return short if short % 1 else int(short)
    if isinstance(value, dict):
        return {key: _rounded(each, digits) for key, each in value.items()}
    return [_rounded(each, digits) for each in value] if isinstance(value, list) else value


def _side(name: str, side: Json) -> str:
    return (
        f'<p><span class="key {name}"></span><b>{_text(side["label"])}</b> '
        f"{_text(side['about'])}</p>\n"
    )


def _section(at: int, part: Json, labels: tuple[str, str], groups: Sequence[Group]) -> str:
    cpu = part.get("cpu")
    name = part["name"] + (f" · {cpu['name']} ({cpu['lacks']})" if cpu else "")
    rows = "".join(
        _row(at, number, row, part, groups) + _notes(row, labels)
        for number, row in enumerate(part["rows"])
    )
    table = f'<table class="rows">\n{_head(labels, groups)}{rows}</table>'
    about = f'<p class="about">{_text(_summary(part, labels))}</p>'
    return f'<section><h2>{_text(name)}</h2>\n{about}\n<div class="wide">{table}</div></section>'


def _summary(part: Json, labels: tuple[str, str]) -> str:
    ratios = [row["ratio"] for row in part["rows"]]
    fewer = sum(ratio > 1 + NOTABLE for ratio in ratios)
    more = sum(ratio < 1 - NOTABLE for ratio in ratios)
    return (
        f"{len(ratios)} rows; {labels[1]} takes over {NOTABLE:.0%} fewer instructions in {fewer}, "
        f"over {NOTABLE:.0%} more in {more}. {part['compiler']}, QEMU {part['qemu']}."
    )


def _head(labels: tuple[str, str], groups: Sequence[Group]) -> str:
    """Two lines of headings; `data-key` names a column that can be sorted by."""
    first, second = "", ""
    for group in groups:
        ratio = group.key == "insns"
        first += f'<th colspan="{3 if ratio else 2}" class="group">{group.heading}</th>'
        for side, label in zip("ab", labels, strict=True):
            second += f'<th data-key="{group.key}-{side}"{_edge(side)}>{_text(label)}</th>'
        second += '<th data-key="ratio">ratio</th>' if ratio else ""
    return (
        '<thead><tr><th rowspan="2" data-key="workload">workload</th>'
        f'<th rowspan="2" data-key="kib">KiB</th>{first}</tr>\n<tr>{second}</tr></thead>\n'
    )


def _row(at: int, number_: int, row: Json, part: Json, groups: Sequence[Group]) -> str:
    label = " ".join([row["workload"], *row["parameters"].values()])
    size = row["folio_kib"]
    first = number_ == 0 or part["rows"][number_ - 1]["workload"] != row["workload"]
    unit = "" if row["unit"] == "page" else f" <small>per {_text(row['unit'])}</small>"
    cells = "".join(cell for group in groups for cell in _cells(group, row))
    return (
        f'<tbody data-part="{at}" data-row="{number_}" data-topic="{_text(row["topic"])}"'
        f"{' class=first' if first else ''}>"
        f'<tr><th scope="row">{_text(label)}{unit}</th>{_cell(size, str(size or UNKNOWN))}'
        f"{cells}</tr>"
    )


def _notes(row: Json, labels: tuple[str, str]) -> str:
    """A line under the row with what is no column, and the end of its body."""
    a, b = ({**row[side]["spans"], **row[side]["calls"], **row[side]["counters"]} for side in "ab")
    notes = [
        f"{key.replace('_', ' ')} {_number(n)} → {_number(b.get(key, 0))}"
        for key, n in a.items()
        if n != b.get(key, 0)
    ]
    notes += [f"posted by the authors, wall time: {row['posted']}"] if row["posted"] else []
    notes += [f"runs differ by {row['spread']:.2%}"] if row["unstable"] else []
    notes += [f"more calls than {labels[0]}: {what}" for what in row["calls_beyond_a"]]
    text = f'<tr class="note"><td colspan="99">{_text("; ".join(notes))}</td></tr>' if notes else ""
    return text + "</tbody>\n"


def _cells(group: Group, row: Json) -> Iterator[str]:
    a, b = (group.of(row[side]) for side in "ab")
    yield _cell(a, _number(a), _edge("a"))
    ratio = group.key == "insns"
    yield _cell(b, _number(b), "" if ratio else _style(a, b))
    if ratio:
        yield _cell(row["ratio"], f"{row['ratio']:.2f}×", _style(a, b))


def _style(a: float | None, b: float | None) -> str:
    """The colour of side B: has it fewer?"""
    if a is None or b is None or abs(a - b) <= NOTABLE * b:
        return ""
    return f' class="{"good" if b < a else "bad"}"'


def _cell(value: float | None, text: str, attributes: str = "") -> str:
    """A cell; what was not counted has no value to sort by."""
    known = "" if value is None else f' data-v="{value:.{DIGITS}g}"'
    return f"<td{known}{attributes}>{text}</td>"


def _edge(side: str) -> str:
    return ' class="edge"' if side == "a" else ""


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else number(value).replace(" ", "\N{NARROW NO-BREAK SPACE}")


def _text(text: str) -> str:
    return html.escape(text)
