# SPDX-License-Identifier: GPL-2.0
"""Costs that a series means: entries are narrow, and what exceeds their limits still counts."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from fuzz_records import newer, whole

from quire.boot.counts import SymbolCount
from quire.boot.stops import Stop
from quire.fuzz.cost import allowed, watch
from quire.fuzz.cost.allowed import Allowance
from quire.fuzz.cost.growth import INSNS, Growth, Regression
from quire.fuzz.difference import excuses
from quire.fuzz.language import program
from quire.host.errors import UserError
from quire.source.series import Series

MOVE = program.parse("0 map A 0 8 anon\n0 move A 0 8 B 0 keep\n")
KSM = program.parse("ksm 2\n0 resize A 0 8 9\n")
FLUSHES = "TLB invalidations"
MEANT = Allowance("a", "mremap", "why", ("move keep",), ("move_*",), insns=100, per="page")


def more(insns: int, move: int, *grown: Growth) -> Regression:
    """The move of MOVE: `insns` more than 1000, of which `move` in two functions of that name."""
    before = {"move_ptes": SymbolCount(600, 1), "other": SymbolCount(400, 1)}
    after = {"move_run": SymbolCount(600 + move, 1), "other": SymbolCount(400 + insns - move, 1)}
    a = Stop(0, 1000, 0, 1000, {}, before)
    b = Stop(0, 1000 + insns, 0, 1000 + insns, {}, after)
    return Regression("o 1", MOVE, a, b, (Growth(INSNS, 1000, 1000 + insns), *grown))


def left(regression: Regression, *entries: Allowance) -> int:
    """How many further instructions remain, 0 if nothing does."""
    rest, _ = allowed.judge(entries, regression)
    return rest.grown[0].more if rest else 0


def test_what_the_functions_take_more_is_allowed_up_to_the_limit() -> None:
    assert left(more(500, 500)) == 500
    # 100 for each of 8 pages; a function that is gone counts against a new one.
    assert left(more(800, 800), MEANT) == 0
    assert left(more(1100, 1100), MEANT) == 300
    # 800 and the margin of 200.
    assert left(more(1000, 1000), MEANT) == 0
    assert left(more(500, 500), replace(MEANT, per="operation")) == 400
    assert left(more(500, 500), replace(MEANT, insns=0, percent=40)) == 0
    assert left(more(500, 500), replace(MEANT, insns=0, percent=20)) == 300


def test_what_grows_elsewhere_is_not() -> None:
    assert left(more(500, 0), MEANT) == 500
    assert left(more(500, 240), MEANT) == 260
    # Functions that became cheaper give nothing away.
    assert left(more(500, -300), MEANT) == 500


@pytest.mark.parametrize("kinds", [("move",), ("move keep",), ("lock", "move")])
def test_an_operation_is_a_verb_with_its_word_or_without(kinds: tuple[str, ...]) -> None:
    assert left(more(500, 500), replace(MEANT, operations=kinds)) == 0


def test_one_of_those_that_must_come_before_did() -> None:
    assert left(more(500, 500), replace(MEANT, after=("map anon", "fork"))) == 0
    assert left(more(500, 500), replace(MEANT, after=("map",))) == 0
    # The operation itself is not before it.
    assert left(more(500, 500), replace(MEANT, after=("move", "map file"))) == 500
    at_the_end = replace(more(500, 500), step="w 0")
    assert left(at_the_end, replace(MEANT, operations=("write all",), after=("move",))) == 400


def test_another_operation_is_not_meant() -> None:
    assert left(more(500, 500), replace(MEANT, operations=("move move", "resize"))) == 500


def test_further_events_are_allowed_by_number() -> None:
    both = more(500, 500, Growth(FLUSHES, 0, 2))
    rest, used = allowed.judge([MEANT], both)
    assert rest
    assert (rest.grown, used) == ((Growth(FLUSHES, 0, 2),), {"a"})
    flush = Allowance("f", "mremap", "why", ("move",), further={FLUSHES: 1})
    rest, used = allowed.judge([MEANT, flush], both)
    assert rest
    assert (rest.grown, used) == ((Growth(FLUSHES, 0, 1),), {"a", "f"})
    assert allowed.judge([MEANT, replace(flush, further={FLUSHES: 2})], both)[0] is None


def test_an_entry_that_changes_nothing_is_not_used() -> None:
    dead = replace(MEANT, name="dead", symbols=("copy_*",))
    assert allowed.judge([dead], more(500, 500))[1] == set()


ENTRY = """
[[allowed_cost]]
name = "batch of two"
topic = "mremap"
operations = ["move keep", "resize", "write all"]
after = ["ksm"]
symbols = ["move_p*"]
insns = 40
per = "page"
reason = \"\"\"
two entries
take longer\"\"\"
"""


def test_entries_are_read(tmp_path: Path) -> None:
    file = tmp_path / excuses.FILE
    file.write_text(f'[[excuse]]\nname = "held"\ntopic = "t"\nreason = "r"\n{ENTRY}')
    (entry,) = allowed.read(file)
    assert entry.reason.split() == ["two", "entries", "take", "longer"]
    assert (entry.insns, entry.per, entry.percent) == (40, "page", 0)
    assert entry.after == ("ksm",)
    assert entry.applies(replace(more(1, 1), program=KSM))
    assert entry.matches("move_ptes")
    # The other reader leaves them alone, and the other way round.
    assert [excuse.name for excuse in excuses.read(file)] == ["held"]


@pytest.mark.parametrize(
    ("pattern", "text", "says"),
    [
        (r"name = .*\n", "", "lacks 'name'"),
        (r"topic = .*\n", 'topic = " "\n', "lacks its topic"),
        (r'reason = """[^"]*"""', "", "lacks 'reason'"),
        (r"insns = 40", "", "no limit"),
        (r"insns = 40", "insns = 0", "no limit"),
        (r"insns = 40", "insns = -1", "no limit"),
        (r"insns = 40", "insns = 40\npercent = 3", "not both"),
        (r"symbols = .*\n", "", "need a limit of instructions, and such a limit symbols"),
        (r"insns = 40", "further = { faults = 1 }", "such a limit symbols"),
        (r'"move_p\*"', '"*"', "matches almost everything"),
        (r'"move_p\*"', '"m*"', "matches almost everything"),
        (r'per = "page"', 'per = "byte"', "page or operation"),
        (r'"resize"', '"resized"', "no operation: resized"),
        (r'"move keep"', '"move kept"', "no operation: move kept"),
        (r'"ksm"', '"ksmd"', "no operation: ksmd"),
        (r"operations = .*\n", "", "lacks 'operations'"),
        (r"insns = 40", "insns = 40\nfurther = { fault = 1 }", "nothing is watched as fault"),
        (r"insns = 40", "insns = 40\nlimit = 3", "has no key limit"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, pattern: str, text: str, says: str) -> None:
    file = tmp_path / excuses.FILE
    changed, number = re.subn(pattern, text, ENTRY)
    assert number == 1
    file.write_text(changed)
    watch.read.cache_clear()
    with pytest.raises(UserError) as caught:
        allowed.read(file)
    assert says in caught.value.text()
    assert str(file) in caught.value.where


def names_of(series: Series) -> set[str]:
    """A function for each pattern of a series."""
    entries = allowed.read(series.file.with_name(excuses.FILE))
    return {symbol.replace("*", "") for entry in entries for symbol in entry.symbols}


def test_a_pattern_has_to_match_a_function() -> None:
    functions = names_of(whole())
    assert allowed.applying(whole(), None, functions)
    with pytest.raises(UserError, match="no function of side b is called "):
        allowed.applying(whole(), None, {"ptes_move"})


def test_entries_are_for_topics_that_side_a_has_not() -> None:
    functions = names_of(newer()) | names_of(whole())
    alone, fixed = (
        {entry.topic for entry in allowed.applying(newer(), a, functions)}
        for a in (None, newer().fixing())
    )
    assert alone - fixed == {"fixes"}
    entries = allowed.applying(whole().only(["ksm"]), None, functions)
    assert {"ksm"} == {entry.topic for entry in entries}
    assert allowed.applying(None, None, functions) == []


def test_the_entries_of_our_series_can_be_read() -> None:
    watch.read.cache_clear()
    for file in sorted((ROOT / "patches").glob(f"*/{excuses.FILE}")):
        topics = {path.name for path in file.parent.iterdir() if path.is_dir()}
        assert {entry.topic for entry in allowed.read(file)} <= topics
