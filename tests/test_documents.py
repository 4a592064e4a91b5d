# SPDX-License-Identifier: GPL-2.0
"""README, docs and cover letters: links lead somewhere, words are known, lists are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

from quire.source import series

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")],
)
COVERS = sorted(ROOT.glob("patches/*/*/0000-cover-letter.patch"))
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
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


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
