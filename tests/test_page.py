# SPDX-License-Identifier: GPL-2.0
"""The page of a report: as HTML, and in a browser without a screen (slow).

logs/report.json is what `quire bench --json` printed for some rows of 6.12 on arm64, two of them
with --cost, with fewer symbols.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import LOGS
from matplotlib import image

from quire.host import seccomp
from quire.report import page

REPORT: dict[str, Any] = json.loads((LOGS / "report.json").read_text())
ROWS = REPORT["architectures"][0]["rows"]
BROWSER = "chromium-headless-shell"
# Chromium's number for a colour scheme.
DARK, LIGHT = 0, 1


def title(row: dict[str, Any]) -> str:
    """A row's name in the table."""
    return " ".join([row["workload"], *row["parameters"].values(), str(row["folio_kib"] or "–")])


class Tables(HTMLParser):
    """The rows of the main tables, and the widths of bars, as a browser or render() wrote them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.hidden: list[bool] = []
        self.bars: list[float] = []
        self.open = 0
        self.sorted: list[tuple[str, str]] = []
        self._depth: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        if tag == "tbody" and "data-topic" in found:
            self.rows.append([])
            self.hidden.append("hidden" in found)
        if (found.get("class") or "").startswith("bar "):
            width = re.fullmatch(r"width: ([\d.]+)%;", found.get("style") or "")
            assert width
            self.bars.append(float(width[1]))
        if "aria-sort" in found:
            self.sorted.append((str(found["data-key"]), str(found["aria-sort"])))
        self.open += tag == "details" and "open" in found
        if tag in ("td", "th") and self._in_row():
            self.rows[-1].append("")
        if tag not in ("meta", "link", "input"):
            self._depth.append((tag, found))

    def handle_endtag(self, tag: str) -> None:
        while self._depth and self._depth.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        cell = any(tag in ("td", "th") for tag, _ in self._depth)
        unit = any(tag == "small" for tag, _ in self._depth)
        if cell and not unit and self._in_row():
            self.rows[-1][-1] += data.strip()

    def _in_row(self) -> bool:
        behind = self._in("class", "more") or self._in("class", "note")
        return self._in("data-topic") and not behind

    def _in(self, name: str, value: str | None = None) -> bool:
        """Whether an element around this place has that attribute."""
        return any(name in found and value in (None, found[name]) for _, found in self._depth)

    @property
    def names(self) -> list[str]:
        """The workloads and sizes, in order."""
        return [" ".join(row[:2]) for row in self.rows]


def headings(text: str) -> list[str]:
    """The keys of the columns of the first table."""
    return re.findall(r'data-key="([^"]+)"', text[text.index("<thead") : text.index("</thead")])


def test_the_page_is_a_plain_table_without_its_script() -> None:
    found = Tables(page.render(REPORT))
    assert found.names == [title(row) for row in ROWS]
    for row, cells in zip(ROWS, found.rows, strict=True):
        assert f"{row['ratio']:.2f}×" in cells
        assert len(cells) == len(found.rows[0])


def test_the_page_needs_no_network() -> None:
    text = page.render(REPORT)
    assert not re.search(r"(?:src|href)=\"(?!data:,)", text)
    assert "http" not in re.sub(r'http-equiv|<script type="application/json".*?</script>', "", text)


def test_what_was_not_counted_is_a_dash() -> None:
    at = headings(page.render(REPORT)).index("read-a")
    for row, cells in zip(ROWS, Tables(page.render(REPORT)).rows, strict=True):
        assert (cells[at] == "–") == ("lines read" not in row["a"]["cost"])


def test_columns_that_nobody_counted_are_left_out() -> None:
    report = json.loads(json.dumps(REPORT))
    for row in report["architectures"][0]["rows"]:
        for side in "ab":
            row[side]["cost"] = {}
    found = headings(page.render(report))
    assert found == ["workload", "kib", "insns-a", "insns-b", "ratio", "tlb-a", "tlb-b"]


def test_the_symbols_are_in_the_page() -> None:
    (text,) = re.findall(
        r'<script type="application/json"[^>]*>(.*?)</script>', page.render(REPORT)
    )
    found = json.loads(text)
    assert found["kinds"][:2] == ["insns", "calls"]
    (part,) = found["symbols"]
    for symbols, row in zip(part, ROWS, strict=True):
        name, a, b, *_ = symbols[0]
        assert name == row["symbols"][0]["name"]
        assert a == pytest.approx(row["symbols"][0]["a"]["insns"], rel=1e-3)
        assert b == pytest.approx(row["symbols"][0]["b"]["insns"], rel=1e-3)


def test_the_costs_of_a_row_are_in_the_page() -> None:
    opened = page.render(REPORT).split('<tr class="more" hidden>')[1]
    own = ROWS[0]["a"]["own_instructions_per_unit"]
    assert f"<tr><th>own functions</th><td>{own:.0f}</td>" in opened
    assert re.search(r"<tr><th>lock: swap</th><td>1\.44</td><td class=good>", opened)
    assert re.search(r'<p class="none">None: .*lock: zram', opened)


def test_another_cpu_has_its_own_table() -> None:
    (part,) = REPORT["architectures"]
    cpu = {"name": "neoverse-n1", "qemu_model": "neoverse-n1", "lacks": "no ranged TLBI"}
    text = page.render({**REPORT, "further_cpus": [{**part, "cpu": cpu, "rows": ROWS[:2]}]})
    assert "<h2>arm64 · neoverse-n1 (no ranged TLBI)</h2>" in text
    assert Tables(text).names == [title(row) for row in [*ROWS, *ROWS[:2]]]


def test_notes_are_under_their_row() -> None:
    text = page.render(REPORT)
    note = (
        text[text.index('"row">lazyfree<') :]
        .partition('<tr class="note">')[2]
        .partition("</tr>")[0]
    )
    assert "split deferred 2\N{NARROW NO-BREAK SPACE}048 → 0" in note
    assert text.count("<svg") == 1


def test_labels_are_text() -> None:
    report = json.loads(json.dumps(REPORT))
    report["sides"]["b"]["label"] = "</script><script>alert(1)</script>"
    text = page.render(report)
    assert text.count("<script") == page.render(REPORT).count("<script")


@dataclass(frozen=True)
class Seen:
    """What the browser made of a page: its tables, and what it complained about."""

    tables: Tables
    text: str
    console: list[str]


@dataclass(frozen=True)
class Browser:
    """Opens the page, or a changed one, without a screen."""

    directory: Path

    def run(self, place: str, text: str, *options: str) -> tuple[str, list[str]]:
        """Open the page at `#place`; its document, and the lines of the console."""
        file = self.directory / "page.html"
        file.write_text(text, "utf-8")
        argv = [BROWSER, "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        argv += [f"--user-data-dir={self.directory}/profile", "--enable-logging=stderr"]
        argv += ["--virtual-time-budget=5000", *options, f"{file.as_uri()}#{place}"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=600)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    def see(self, place: str = "", then: str = "", text: str = "") -> Seen:
        """The page at `#place` after the script `then` has run."""
        text = text or page.render(REPORT)
        text = text.replace("</body>", f"<script>{then}</script></body>")
        document, console = self.run(place, text, "--dump-dom")
        return Seen(Tables(document), document, console)

    def shoot(self, place: str, scheme: int, width: int, height: int) -> Any:
        """The pixels: height × width × 3 numbers from 0 to 1."""
        file = self.directory / "shot.png"
        options = (f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={file}")
        size = f"--window-size={width},{height}"
        _, console = self.run(place, page.render(REPORT), *options, size)
        assert console == []
        return image.imread(file)[:, :, :3]


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """The browser of this host. Without one, a slow test fails: make test brings it."""
    if not shutil.which(BROWSER):
        pytest.fail(f"{BROWSER} is missing; remedy: ./quire doctor --install   (Debian, as root)")
    if seccomp.hangs():
        pytest.skip(f"seccomp filters hang on this host, and so does {BROWSER}; remedy: reboot it")
    return Browser(tmp_path)


def by(key: str, rows: Sequence[dict[str, Any]] = ROWS) -> list[str]:
    """The rows' names, largest first."""
    return [title(row) for row in sorted(rows, key=lambda row: -float(row[key]))]


CLICK = "document.querySelector('[data-key={}] button').click();"


@pytest.mark.slow
def test_the_address_sorts(browser: Browser) -> None:
    before, seen = browser.see(), browser.see("sort=ratio")
    assert before.console == seen.console == []
    assert before.tables.names == [title(row) for row in ROWS]
    assert seen.tables.names == by("ratio") != before.tables.names
    assert seen.tables.sorted == [("ratio", "descending")]
    assert browser.see("sort=-ratio").tables.names == by("ratio")[::-1]


@pytest.mark.slow
def test_a_click_sorts(browser: Browser) -> None:
    click = CLICK.format("ratio")
    assert browser.see("", click).tables.names == by("ratio")
    again = browser.see("", click * 2)
    assert again.tables.names == by("ratio")[::-1]
    assert again.tables.sorted == [("ratio", "ascending")]
    third = browser.see("", click * 3)
    assert third.tables.names == [title(row) for row in ROWS]
    assert third.tables.sorted == []


@pytest.mark.slow
def test_all_that_reacts_is_reached_by_the_keyboard(browser: Browser) -> None:
    """Headings are buttons and rows are summaries, which Tab reaches and Enter presses."""
    count = (
        "const reached = (what) => [...document.querySelectorAll(what)].filter((one) =>"
        "one.tabIndex === 0 && (one.focus(), document.activeElement === one)).length;"
        "const all = ['[data-key] button', '.rows summary', '#topic', '#filter'];"
        "document.body.dataset.reached = all.map(reached).join();"
        "document.querySelector('.rows summary').click();"
    )
    seen = browser.see("", count)
    keys = len(headings(page.render(REPORT)))
    assert f'data-reached="{keys},{len(ROWS)},1,1"' in seen.text
    assert seen.tables.open == 1


@pytest.mark.slow
def test_what_was_not_counted_sorts_last(browser: Browser) -> None:
    counted = [title(row) for row in ROWS if "lines read" in row["a"]["cost"]]
    for place in ("sort=read-a", "sort=-read-a"):
        names = browser.see(place).tables.names
        assert set(names[: len(counted)]) == set(counted)


@pytest.mark.slow
def test_rows_can_be_filtered(browser: Browser) -> None:
    seen = browser.see("filter=swapout+64")
    shown = [n for n, gone in zip(seen.tables.names, seen.tables.hidden, strict=True) if not gone]
    assert shown
    assert shown == [n for n in map(title, ROWS) if "swapout" in n and n.endswith(" 64")]


@pytest.mark.slow
def test_rows_can_be_filtered_by_topic(browser: Browser) -> None:
    choose = "topic.value = 'lazyfree'; topic.dispatchEvent(new Event('change'));"
    for seen in (browser.see("topic=lazyfree"), browser.see("", choose)):
        assert seen.console == []
        assert seen.tables.hidden == [row["topic"] != "lazyfree" for row in ROWS]


@pytest.mark.slow
def test_a_row_opens_with_bars_of_both_sides(browser: Browser) -> None:
    row = ROWS[0]
    seen = browser.see("open=0.0")
    assert seen.console == []
    assert (browser.see().tables.bars, seen.tables.open) == ([], 1)
    sides = [(one["a"]["insns"], one["b"]["insns"]) for one in row["symbols"]]
    most = max(map(max, sides))
    widths = [pytest.approx(100 * value / most, abs=0.1) for pair in sides for value in pair]
    # The smallest changes are not in the page.
    assert len(seen.tables.bars) > len(widths) / 2
    assert seen.tables.bars == widths[: len(seen.tables.bars)]
    assert "lock: page table" in seen.text
    assert row["symbols"][0]["name"] in seen.text


@pytest.mark.slow
def test_bars_of_another_kind(browser: Browser) -> None:
    choose = (
        "addEventListener('load', () => setTimeout(() => {"
        "const choice = document.querySelector('.symbols select');"
        "choice.value = 'atomics'; choice.dispatchEvent(new Event('change')); }, 100));"
    )
    seen = browser.see("open=0.0", choose)
    assert seen.console == []
    events = [
        [one[side]["events"].get("atomics", 0) for side in "ab"] for one in ROWS[0]["symbols"]
    ]
    changed = [pair for pair in events if pair[0] != pair[1]]
    assert len(seen.tables.bars) == 2 * len(changed)
    assert max(seen.tables.bars) == 100


@pytest.mark.slow
def test_every_row_opens(browser: Browser) -> None:
    seen = browser.see("open=all")
    assert seen.console == []
    assert seen.tables.open == len(ROWS)


@pytest.mark.slow
def test_a_broken_script_is_seen(browser: Browser) -> None:
    """The console is really read."""
    text = page.render(REPORT).replace("const apply =", "const applied =")
    seen = browser.see("sort=ratio", text=text)
    assert any("ReferenceError" in line for line in seen.console)
    assert seen.tables.names != by("ratio")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1300, 400])
@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_the_picture_is_not_blank(browser: Browser, scheme: int, width: int) -> None:
    pixels = browser.shoot("sort=ratio&open=0.0", scheme, width, 900)
    assert pixels.shape[:2] == (900, width)
    back = pixels[2, 2]
    assert (back.mean() > 0.5) == (scheme == LIGHT)
    written = (abs(pixels - back) > 0.2).any(axis=2)
    # Text is in every part of the picture.
    assert all(part.mean() > 0.005 for part in (written[:300], written[300:600], written[600:]))
    assert written.mean() < 0.5


@pytest.mark.slow
def test_a_narrow_page_does_not_scroll_sideways(browser: Browser) -> None:
    """Only its tables do, and not what is behind a row."""
    measure = (
        "addEventListener('load', () => setTimeout(() => {"
        "document.body.dataset.width = document.documentElement.scrollWidth;"
        "const inside = [...document.querySelectorAll('.inside > *')];"
        "document.body.dataset.inside = inside.length > 9 && "
        "inside.every((one) => one.getBoundingClientRect().right <= 400); }, 100));"
    )
    text = page.render(REPORT).replace("</body>", f"<script>{measure}</script></body>")
    document, console = browser.run("open=all", text, "--dump-dom", "--window-size=400,900")
    assert console == []
    assert 'data-width="400"' in document
    assert 'data-inside="true"' in document
