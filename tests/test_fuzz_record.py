# SPDX-License-Identifier: GPL-2.0
"""Records: how their lines are parsed."""

from __future__ import annotations

from fuzz_records import read

from quire.fuzz.language import record
from quire.fuzz.language.record import Page


def test_pages_of_runs() -> None:
    pages = record.pages("3 2*px:t7@B3 1*s 1*p:k1 1*-w")
    assert pages[3] == Page("px", "t7@B3")
    assert pages[4] == Page("px", "t7@B4")
    assert pages[5] == Page("s", "")
    assert pages[7] == Page("-w", "")


def test_states_hold_until_they_are_told_anew() -> None:
    steps = list(record.steps(read("o 0 ok\nm 0 A 0 1*-\no 1 ok\no 2 ok\nm 0 A 0 1*px:0\nw 0 ok")))
    assert [step.name for step in steps] == ["o 0", "o 1", "o 2", "w 0"]
    assert [step.states["m 0 A"] for step in steps] == ["0 1*-"] * 2 + ["0 1*px:0"] * 2


def test_a_program_without_its_end_is_lost() -> None:
    found = record.read(["p 3", "o 0 ok", "q 3", "p 4", "o 0 ok"])
    assert (found[3].trouble, found[4].trouble) == ("", "no end")
