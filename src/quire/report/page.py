# SPDX-License-Identifier: GPL-2.0
"""The page: a report of bench or demo as one HTML file that needs no network.

Its tables are plain HTML, with the costs of each row below it. A script makes them sortable, opens
a row, and shows the symbols that changed. page.html, page.css and page.js are beside this file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from operator import itemgetter
from string import Template
from typing import Any

from quire.measure import cost, profile
from quire.report import dots
from quire.report.table import NOTABLE, UNKNOWN, number

Json = Mapping[str, Any]
Labels = tuple[str, str]

# How numbers to sort by are written, and those of symbols.
DIGITS, FEW = ".7g", ".4g"
# A symbol is left out if its change is less than this share of the row's instructions.
NEGLIGIBLE = 0.0005


def _kind(name: str) -> Callable[[Json], float | None]:
    return lambda figure: figure["cost"].get(name)


# Two columns each, by the key in the page's address: the heading, and the number of a side, None
# if it was not counted.
GROUPS: Mapping[str, tuple[str, Callable[[Json], float | None]]] = {
    "insns": ("instructions", itemgetter("instructions_per_unit")),
    "tlb": ("TLB inv.", itemgetter("tlb_invalidations_per_unit")),
    "atomics": ("atomics", _kind("atomics")),
    "barriers": ("barriers", _kind("barriers")),
    "locks": ("locks", lambda figure: cost.locks_taken(figure["cost"])),
    "read": ("lines read", _kind("lines read")),
    "written": ("lines written", _kind("lines written")),
}


def render(report: Json) -> str:
    """The page of a report as report.data makes it."""
    sides = report["sides"]
    parts = [*report["architectures"], *report["further_cpus"]]
    rows = [row for part in parts for row in part["rows"]]
    labels = (sides["a"]["label"], sides["b"]["label"])
    groups = [
        key
        for key, (_, of) in GROUPS.items()
        if any(of(row[side]) is not None for row in rows for side in "ab")
    ]
    topics = dict.fromkeys(row["topic"] for row in rows if row["topic"])
    symbols = [[[*_symbols(row)] for row in part["rows"]] for part in parts]
    data = json.dumps({"kinds": profile.KINDS, "symbols": symbols}, separators=(",", ":"))
    files = resources.files("quire.report")
    text = {name: (files / f"page.{name}").read_text("utf-8") for name in ("html", "css", "js")}
    return Template(text["html"]).substitute(
        title=escape(f"{labels[0]} → {labels[1]}"),
        style=text["css"],
        script=text["js"],
        **{f"{side}_label": escape(sides[side]["label"]) for side in "ab"},
        **{f"{side}_about": escape(sides[side]["about"]) for side in "ab"},
        dots=dots.of_report(report),
        topics="".join(f"<option>{escape(topic)}</option>" for topic in topics),
        sections="\n".join(_section(part, labels, groups) for part in parts),
        command=escape(report["command"]),
        version=escape(report["quire"]),
        # "</script>" and "<!--" would end the element or its text.
        data=data.replace("<", "\\u003c"),
    )


def _symbols(row: Json) -> Iterator[list[Any]]:
    """The symbols that changed: name, then both sides' numbers of each of profile.KINDS, without
    zeroes at the end."""
    least = NEGLIGIBLE * max(row[side]["instructions_per_unit"] for side in "ab")
    for symbol in row["symbols"]:
        a, b = ({**symbol[side], **symbol[side]["events"]} for side in "ab")
        if abs(a["insns"] - b["insns"]) < least and a["events"] == b["events"]:
            continue
        numbers = [float(format(of.get(kind, 0), FEW)) for kind in profile.KINDS for of in (a, b)]
        while numbers and not numbers[-1]:
            numbers.pop()
        yield [symbol["name"], *numbers]


def _section(part: Json, labels: Labels, groups: Sequence[str]) -> str:
    cpu = part.get("cpu")
    name = part["name"] + (f" · {cpu['name']} ({cpu['lacks']})" if cpu else "")
    ratios = [row["ratio"] for row in part["rows"]]
    fewer = sum(ratio > 1 + NOTABLE for ratio in ratios)
    more = sum(ratio < 1 - NOTABLE for ratio in ratios)
    about = (
        f"{len(ratios)} rows; {labels[1]} takes over {NOTABLE:.0%} fewer instructions in {fewer}, "
        f"over {NOTABLE:.0%} more in {more}. {part['compiler']}, QEMU {part['qemu']}."
    )
    previous, rows = "", _head(labels, groups)
    for row in part["rows"]:
        first = " class=first" if row["workload"] != previous else ""
        previous = row["workload"]
        rows += f'<tbody data-topic="{escape(row["topic"])}"{first}>{_row(row, groups)}'
        rows += f"{_notes(row, labels)}{_costs(row, labels)}</tbody>\n"
    return (
        f'<section><h2>{escape(name)}</h2>\n<p class="about">{escape(about)}</p>\n'
        f'<div class="wide"><table class="rows">\n{rows}</table></div></section>'
    )


def _head(labels: Labels, groups: Sequence[str]) -> str:
    """Two lines of headings; `data-key` names a column that can be sorted by."""
    first, second = "", ""
    for key in groups:
        ratio = '<th data-key="ratio">ratio</th>' if key == "insns" else ""
        first += f'<th colspan="{3 if ratio else 2}" class="group">{GROUPS[key][0]}</th>'
        second += f'<th data-key="{key}-a" class="edge">{escape(labels[0])}</th>'
        second += f'<th data-key="{key}-b">{escape(labels[1])}</th>{ratio}'
    return (
        '<thead><tr><th rowspan="2" data-key="workload">workload</th>'
        f'<th rowspan="2" data-key="kib">KiB</th>{first}</tr>\n<tr>{second}</tr></thead>\n'
    )


def _row(row: Json, groups: Sequence[str]) -> str:
    label = " ".join([row["workload"], *row["parameters"].values()])
    unit = "" if row["unit"] == "page" else f" <small>per {escape(row['unit'])}</small>"
    cells = _cell(row["folio_kib"], str(row["folio_kib"] or UNKNOWN))
    for key in groups:
        a, b = (GROUPS[key][1](row[side]) for side in "ab")
        cells += _cell(a, _number(a), "edge")
        if key == "insns":
            cells += _cell(b, _number(b)) + _cell(row["ratio"], f"{row['ratio']:.2f}×", _good(a, b))
        else:
            cells += _cell(b, _number(b), _good(a, b))
    return f'<tr><th scope="row">{escape(label)}{unit}</th>{cells}</tr>'


def _notes(row: Json, labels: Labels) -> str:
    """A line under the row with what is no column."""
    a, b = ({**row[side]["spans"], **row[side]["calls"], **row[side]["counters"]} for side in "ab")
    notes = [
        f"{key.replace('_', ' ')} {_number(n)} → {_number(b.get(key, 0))}"
        for key, n in a.items()
        if n != b.get(key, 0)
    ]
    notes += [f"posted by the authors, wall time: {row['posted']}"] if row["posted"] else []
    notes += [f"runs differ by {row['spread']:.2%}"] if row["unstable"] else []
    notes += [f"more calls than {labels[0]}: {what}" for what in row["calls_beyond_a"]]
    return (
        f'<tr class="note"><td colspan="99">{escape("; ".join(notes))}</td></tr>' if notes else ""
    )


def _costs(row: Json, labels: Labels) -> str:
    """What opens below a row: a table of its costs. The script adds the symbols."""
    a, b = (_kinds(row[side]) for side in "ab")
    names = dict.fromkeys([*a, *b])
    lines = "".join(
        f"<tr><th>{escape(name)}</th>{_cell(None, _number(a.get(name)))}"
        f"{_cell(None, _number(b.get(name)), _good(a.get(name), b.get(name)))}</tr>"
        for name in names
        if a.get(name) or b.get(name)
    )
    none = ", ".join(name for name in names if not a.get(name) and not b.get(name))
    heads = "".join(f"<th>{escape(label)}</th>" for label in labels)
    return (
        '<tr class="more" hidden><td colspan="99"><div class="inside"><div class="cost">'
        f"<h3>Per {escape(row['unit'])}</h3><table><tr><th></th>{heads}</tr>{lines}</table>"
        + (f'<p class="none">None: {escape(none)}.</p>' if none else "")
        + "</div></div></td></tr>"
    )


def _kinds(figure: Json) -> dict[str, float]:
    """All costs of one side by what the page calls them."""
    kinds = {
        "instructions": figure["instructions_per_unit"],
        "in the kernel": figure["kernel_instructions_per_unit"],
        "own functions": figure["own_instructions_per_unit"],
    }
    for kind, spent in figure["cost"].items():
        kinds[kind.replace("tlb", "TLB") if kind in cost.KINDS else f"lock: {kind}"] = spent
    return {kind: spent for kind, spent in kinds.items() if spent is not None}


def _good(a: float | None, b: float | None) -> str:
    """The class of side B's cell: has it fewer?"""
    if a is None or b is None or abs(a - b) <= NOTABLE * b:
        return ""
    return "good" if b < a else "bad"


def _cell(value: float | None, text: str, kind: str = "") -> str:
    """A cell; what was not counted has no value to sort by."""
    known = "" if value is None else f' data-v="{value:{DIGITS}}"'
    return f"<td{known}{f' class={kind}' if kind else ''}>{text}</td>"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else number(value).replace(" ", "\N{NARROW NO-BREAK SPACE}")
