# SPDX-License-Identifier: GPL-2.0
"""README and docs: links lead somewhere, and words are known."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")],
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
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
