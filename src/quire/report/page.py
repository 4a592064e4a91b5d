# SPDX-License-Identifier: GPL-2.0
"""Write a report of bench or demo as one HTML file that needs no network.

The tables are plain HTML, with the costs of each benchmark below it. A script sorts them, opens a
benchmark, and shows the symbols that changed. page.html (a jinja2 template), page.css and page.js
are in this folder.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from importlib import resources
from operator import itemgetter
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from quire.measure import cost, profile
from quire.report import dots
from quire.report.table import NOTABLE, UNKNOWN, number, style

Json = Mapping[str, Any]
Labels = tuple[str, str]

# The encoding of numbers of symbols.
FEW = ".4g"
# Omit a symbol whose change is less than this fraction of the benchmark's instructions.
NEGLIGIBLE = 0.0005


def _kind(name: str) -> Callable[[Json], float | None]:
    return lambda figure: figure["cost"].get(name)


# Two columns each, by the key in the page's address: the heading, and a side's number or None if
# it was not counted.
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
    """Return the page of a report, as made by counted.py."""
    sides = report["sides"]
    parts = [*report["architectures"], *report["further_cpus"]]
    rows = [row for part in parts for row in part["rows"]]
    labels = (sides["a"]["label"], sides["b"]["label"])
    groups = {
        key: heading
        for key, (heading, of) in GROUPS.items()
        if any(of(row[side]) is not None for row in rows for side in "ab")
    }
    symbols = [[[*_symbols(row)] for row in part["rows"]] for part in parts]
    data = json.dumps({"kinds": profile.KINDS, "symbols": symbols}, separators=(",", ":"))
    files = resources.files("quire.report")
    text = {name: (files / f"page.{name}").read_text("utf-8") for name in ("html", "css", "js")}
    page = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    return page.from_string(text["html"]).render(
        title=f"{labels[0]} → {labels[1]}",
        style=Markup(text["css"]),
        script=Markup(text["js"]),
        sides=sides,
        dots=Markup(dots.of_report(report)),
        topics=dict.fromkeys(row["topic"] for row in rows if row["topic"]),
        groups=groups,
        parts=[_part(part, labels, groups) for part in parts],
        command=report["command"],
        version=report["quire"],
        # "</script>" or "<!--" would end the element or its text.
        data=Markup(data.replace("<", "\\u003c")),
        number=_number,
        good=partial(style, fewer="good", more="bad"),
        unknown=UNKNOWN,
    )


def _symbols(row: Json) -> Iterator[list[Any]]:
    """The symbols that changed: the name, then both sides' numbers for each of profile.KINDS,
    without trailing zeroes."""
    least = NEGLIGIBLE * max(row[side]["instructions_per_unit"] for side in "ab")
    for symbol in row["symbols"]:
        a, b = ({**symbol[side], **symbol[side]["events"]} for side in "ab")
        if abs(a["insns"] - b["insns"]) < least and a["events"] == b["events"]:
            continue
        numbers = [float(format(of.get(kind, 0), FEW)) for kind in profile.KINDS for of in (a, b)]
        while numbers and not numbers[-1]:
            numbers.pop()
        yield [symbol["name"], *numbers]


def _part(part: Json, labels: Labels, groups: Collection[str]) -> Json:
    """The template's data of an architecture or a further CPU."""
    cpu = part.get("cpu")
    ratios = [row["ratio"] for row in part["rows"]]
    fewer = sum(ratio > 1 + NOTABLE for ratio in ratios)
    more = sum(ratio < 1 - NOTABLE for ratio in ratios)
    about = (
        f"{len(ratios)} benchmarks; {labels[1]} takes over {NOTABLE:.0%} fewer instructions in "
        f"{fewer}, over {NOTABLE:.0%} more in {more}. {part['compiler']}, QEMU {part['qemu']}."
    )
    title = part["name"] + (f" · {cpu['name']} ({cpu['lacks']})" if cpu else "")
    rows = [_row(row, labels, groups) for row in part["rows"]]
    return {"title": title, "about": about, "rows": rows}


def _row(row: Json, labels: Labels, groups: Collection[str]) -> Json:
    """A benchmark with its notes and its costs, which open below it; the script adds symbols."""
    a, b = (_kinds(row[side]) for side in "ab")
    costs = {name: (a.get(name), b.get(name)) for name in dict.fromkeys([*a, *b])}
    return {
        **row,
        "label": " ".join([row["workload"], *row["parameters"].values()]),
        "numbers": {key: tuple(GROUPS[key][1](row[side]) for side in "ab") for key in groups},
        "notes": _notes(row, labels),
        "costs": costs,
        "none": [name for name, both in costs.items() if not any(both)],
    }


def _notes(row: Json, labels: Labels) -> list[str]:
    """Figures without a column, for a line below the benchmark."""
    a, b = ({**row[side]["spans"], **row[side]["calls"], **row[side]["counters"]} for side in "ab")
    notes = [
        f"{key.replace('_', ' ')} {_number(n)} → {_number(b.get(key, 0))}"
        for key, n in a.items()
        if n != b.get(key, 0)
    ]
    notes += [f"posted by the authors, wall time: {row['posted']}"] if row["posted"] else []
    notes += [f"runs differ by {row['spread']:.2%}"] if row["unstable"] else []
    return notes + [f"more calls than {labels[0]}: {what}" for what in row["calls_beyond_a"]]


def _kinds(figure: Json) -> dict[str, float]:
    """All costs of one side, by their names on the page."""
    kinds = {
        "instructions": figure["instructions_per_unit"],
        "in the kernel": figure["kernel_instructions_per_unit"],
        "own functions": figure["own_instructions_per_unit"],
    }
    for kind, spent in figure["cost"].items():
        kinds[kind.replace("tlb", "TLB") if kind in cost.KINDS else f"lock: {kind}"] = spent
    return {kind: spent for kind, spent in kinds.items() if spent is not None}


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else number(value).replace(" ", "\N{NARROW NO-BREAK SPACE}")
