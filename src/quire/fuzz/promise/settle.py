# SPDX-License-Identifier: GPL-2.0
"""What the model takes from a record because no promise says it: marks and mappings.

It takes them once. What was seen then holds like what was promised.
"""

from collections.abc import Mapping

from quire.fuzz.language import record
from quire.fuzz.promise import rules
from quire.fuzz.promise.content import ZERO
from quire.fuzz.promise.memory import Cell, Page, Place, Process
from quire.fuzz.promise.state import Mapped


def mappings(process: Process, mapped: Mapping[Place, Mapped], slot: str) -> None:
    """Which doubtful places of a slot are mapped, with which protection; which are locked."""
    doubtful = {place for place in process.doubtful if place[0] == slot}
    process.doubtful -= doubtful
    for place in doubtful:
        seen, page = mapped.get(place), process.pages.get(place)
        if not seen:
            process.pages.pop(place, None)
        elif page and not page.murky:
            page.prot = seen.prot
        else:
            # What may have moved there is taken as it is.
            nothing = Cell(frozenset({ZERO}), rules.ZEROED)
            kind = "shared" if seen.shared else "anon"
            process.pages[place] = Page(
                kind,
                nothing,
                prot=seen.prot,
                marked=None,
                # It has brought the marks of its mapping along.
                locked=None,
                dontfork=None,
                wipe=None,
                murky=True,
            )
    for place, page in process.pages.items():
        if page.locked is None and place in mapped:
            page.locked = mapped[place].locked


def page(known: Page, seen: record.Page, *, words: bool) -> None:
    """The marks of a page, and which of its allowed contents it has."""
    marked = "w" in seen.state
    fleeting = known.cell.fading or (known.trapped is not False and not known.held)
    if known.marked is None or (known.marked and fleeting):
        # A page that fades away may lose its mark with its content; a trap is one of a page.
        known.marked = marked
    if seen.content in ("", "!") or len(known.cell.allowed) == 1:
        return
    if known.cell.allows(seen.content, words):
        known.cell.narrow(seen.content, words)
