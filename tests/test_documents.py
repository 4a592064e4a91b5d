# SPDX-License-Identifier: GPL-2.0
"""README, docs and cover letters: links lead somewhere, words are known, lists are complete."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT

from documents import records
from quire.source import posting, series
from quire.suites import expected, seeded

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")],
)
# The pages for users, and the longest that each may be.
USER_PAGES, LONGEST = ("apply", "compare", "results", "topics", "evidence", "ci"), 150
COVERS = sorted(ROOT.glob("patches/*/*/0000-cover-letter.patch"))
MONTHS = (
    "January February March April May June July August September October November December".split()
)
# Terms that only the authors know, or that the style avoids.
AVOIDED = re.compile(r"\b(nobody|whoever|dearer|mends?|mended|team's list|trap numbers?)\b", re.I)


def anchors(path: Path) -> set[str]:
    """The names of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def test_links_lead_somewhere() -> None:
    broken = []
    for path in DOCUMENTS:
        for link in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", path.read_text()):
            target = path.parent / link[0] if link[0] else path
            if not target.exists() or (link[1] and link[1] not in anchors(target)):
                broken.append(f"{path.relative_to(ROOT)}: {'#'.join(link)}")
    assert broken == []


def test_words_are_known() -> None:
    # The changelog names what was renamed.
    text = {path: re.sub(r"`[^`]*`", "", path.read_text()) for path in DOCUMENTS}
    assert {path.name: found for path in text if (found := AVOIDED.findall(text[path]))} == {}


def test_the_front_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90


def test_there_are_six_short_user_pages() -> None:
    pages = sorted(ROOT.glob("docs/*.md"))
    assert [path.stem for path in pages] == sorted(USER_PAGES)
    lines = {path.stem: len(path.read_text().splitlines()) for path in pages}
    assert {name: length for name, length in lines.items() if length > LONGEST} == {}


def test_user_pages_have_no_dates() -> None:
    date = re.compile(rf"\b20\d\d-\d\d-\d\d\b|\b\d\d? (?:{'|'.join(MONTHS)})\b")
    texts = {name: (ROOT / f"docs/{name}.md").read_text() for name in USER_PAGES}
    assert {name: found for name in texts if (found := date.findall(texts[name]))} == {}


def links(path: Path) -> set[Path]:
    """The documents that a document links."""
    found = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
    return {(path.parent / link).resolve() for link in found}


def test_each_question_is_answered_within_two_clicks() -> None:
    """Ten questions for each of three readers, in docs/dev/questions.md."""
    readme, page = ROOT / "README.md", ROOT / "docs/dev/questions.md"
    near = {readme.resolve()} | links(readme)
    near |= {link for one in near if one.suffix == ".md" for link in links(one)}
    _, *roles = re.split(r"^## ", page.read_text(), flags=re.M)
    for role in roles:
        rows = re.findall(r"^\| (.+\?) \| (.+) \|$", role, re.M)
        assert len(rows) == 10, role.partition("\n")[0]
        for question, answer in rows:
            where = re.findall(r"\]\(([^)#]+)", answer)
            far = [link for link in where if (page.parent / link).resolve() not in near]
            assert where and not far, question


def private(line: str) -> set[str]:
    """Subjects of the fixes of a line that go to security@kernel.org before a list."""
    folder = ROOT / f"patches/linux-{line}.y"
    listed = posting.groups_of(series.read(folder / "series"), "fixes")
    names = {name for group in listed for name in group.private}
    assert names <= {name for group in listed for name in group.patches}
    for group in listed:
        if group.cover:
            assert ("security@kernel.org" in group.cover) == bool(group.private), group.name
    own = [patch for patch in series.read(folder / "series").patches if patch.topic == "fixes"]
    return {patch.subject() for patch in own if patch.unnumbered.partition("/")[2] in names}


def test_all_list_the_same_faults_as_private() -> None:
    """SECURITY.md, docs/dev/stock.md, and the covers of the groups in which fixes are posted."""
    known = {line: private(line) for line in ("6.12", "7.3")}
    rows = re.findall(
        r"^\| .+ \| (\S+: .+) \| (yes|no) \| (yes|no) \|$", (ROOT / "SECURITY.md").read_text(), re.M
    )
    for number, line in enumerate(known, 1):
        assert {row[0] for row in rows if row[number] == "yes"} == known[line]
    stock = (ROOT / "docs/dev/stock.md").read_text()
    named = re.findall(r"^\|.*\| fixes: ([^|]+) \| no, private \|$", stock, re.M)
    found = {re.sub(r" \((?:6\.12|7\.3)\)$", "", name) for row in named for name in row.split("; ")}
    assert found == {subject.partition(": ")[2] for some in known.values() for subject in some}


@pytest.mark.parametrize("line", ["6.12", "7.3"])
def test_tests_by_patch_name_patches_of_the_series(line: str) -> None:
    """docs/results/cases.json and `fixed_by`; `scripts/record-cases` records what is missing."""
    listed = series.read(ROOT / f"patches/linux-{line}.y/series")
    patches = {patch.unnumbered for patch in listed.patches}
    recorded = json.loads((ROOT / "docs/results/cases.json").read_text())[line]
    bugs = {bug.name for bug in seeded.read(ROOT / f"lines/{line}/seeded")}
    assert bugs <= recorded.keys()
    assert {name for names in recorded.values() for name in names} <= patches
    entries = expected.read(ROOT / f"lines/{line}/expected.toml")
    assert {name for entry in entries for name in entry.fixed_by} <= patches


@pytest.mark.parametrize("cover", COVERS, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_a_cover_letter_links_its_ideas_and_says_what_changed(cover: Path) -> None:
    text = cover.read_text()
    assert "\nChanges since the last version:\n" in text or "\nThis is the first version.\n" in text
    for thread in records.threads(ROOT):
        linked = f"\nLink: {thread.address}\n" in text
        assert linked == (cover.parent.name in thread.topics), thread.title


@pytest.mark.parametrize("cover", COVERS, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_a_cover_letter_lists_its_patches(cover: Path) -> None:
    topic, listed = cover.parent.name, series.read(cover.parent.parent / "series")
    subjects = [patch.subject() for patch in listed.patches if patch.topic == topic]
    text = re.sub(r"\n +", " ", cover.read_text())
    assert f"PATCH {'0' * len(str(len(subjects)))}/{len(subjects)}]" in text
    block = cover.read_text().partition(f"Quire developers ({len(subjects)}):\n")[2]
    # git shortlog folds long subjects.
    listed_there = block.partition("\n\n")[0].replace("\n    ", " ")
    assert re.findall(r"^  (\S.*)$", listed_there, re.M) == subjects
