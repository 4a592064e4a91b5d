# SPDX-License-Identifier: GPL-2.0
"""Costs: steps that can be compared, margins, what is watched, and what a series means."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from fuzz_records import newer, read, side, whole

from quire.boot import counts, machine
from quire.boot.counts import Stop, SymbolCount
from quire.fuzz.cost import allowed, growth, watch
from quire.fuzz.cost.allowed import Allowance
from quire.fuzz.cost.growth import INSNS, Growth, Regression
from quire.fuzz.cost.watch import Sum, Watch
from quire.fuzz.difference import excuses
from quire.fuzz.language import program, record
from quire.fuzz.language.record import Record
from quire.host.errors import GuestLost, UserError
from quire.source.series import Series

WATCH = Watch((Sum("flushes", ("tlbi_va", "tlbi_all")), Sum("locks", functions=("down", "up"))))


def stop(kernel: int, **counts: int) -> Stop:
    """An operation with so many instructions of the kernel, and these counts."""
    return Stop(0, kernel + 10, 10, kernel, counts)


def grown(a: Stop, b: Stop) -> list[str]:
    """What grew, by name."""
    return [each.name for each in growth.between(a, b, WATCH)]


def test_a_record_knows_the_stops_of_its_steps() -> None:
    lines = ["p 4", "o 0 ok", "c 0", "m 0 A 0 1*-", "o 1 ESRCH", "o 2 ok", "c 1", "r 0 ok", "c 2"]
    listed = [stop(100), stop(200)]
    found = record.read([*lines, "q 4"], listed)[4]
    # The third stop was lost with the guest.
    assert found.costs == {"o 0": listed[0], "o 2": listed[1]}
    # Costs are no part of what is compared.
    assert found.plain == read("o 0 ok\nm 0 A 0 1*-\no 1 ESRCH\no 2 ok\nr 0 ok").plain
    assert not record.read([*lines, "q 4"])[4].costs


def costly(text: str) -> Record:
    """A record of these lines, whose steps all cost something."""
    found = read(text)
    found.costs = {step.name: stop(100) for step in record.steps(found)}
    return found


STATES = "o 0 ok\nm 0 A 0 1*-\no 1 ok\nm 0 A 0 1*px:t1@A0\no 2 ok\no 3 ok\nr 0 ok"


@pytest.mark.parametrize(
    ("other", "steps"),
    [
        (STATES, ["o 0", "o 1", "o 2", "o 3", "r 0"]),
        # A state after an operation differs: neither it nor those behind it count.
        (STATES.replace("px", "pxw"), ["o 0"]),
        # Only a mark differs: it is the last that counts.
        (STATES.replace("px", "pxL"), ["o 0", "o 1"]),
        (STATES.replace("px", "pxdL"), ["o 0", "o 1"]),
        # Another outcome.
        (STATES.replace("o 2 ok", "o 2 EINVAL"), ["o 0", "o 1"]),
        # A further line of state, in the middle and at the end.
        (STATES.replace("o 3", "m 0 A 0 1*-\no 3"), ["o 0", "o 1"]),
        (f"{STATES}\nm 0 A 0 1*-", ["o 0", "o 1", "o 2", "o 3"]),
        (f"{STATES}\nm 1 A 0 1*-", ["o 0", "o 1", "o 2", "o 3"]),
        # One ended early: it lacks a state, or does not.
        ("o 0 ok\nm 0 A 0 1*-\no 1 ok", ["o 0"]),
        ("o 0 ok\nm 0 A 0 1*-\no 1 ok\nm 0 A 0 1*px:t1@A0", ["o 0", "o 1"]),
    ],
)
def test_only_steps_of_equal_states_are_compared(other: str, steps: list[str]) -> None:
    assert list(growth.alike(costly(STATES), costly(other))) == steps
    assert list(growth.alike(costly(other), costly(STATES))) == steps


def test_marks_are_of_pages_and_mappings() -> None:
    mapping = "v 0 A 0+2:rw-p:0,Size=8{},rd,wr{}"
    text = f"o 0 ok\n{mapping}\nm 0 A 0 {{}}\no 1 ok"
    a = costly(text.format("", "", "1*px:t1@A0 1*pxL:t1@A1"))
    # Runs of pages are no states.
    assert list(growth.alike(a, costly(text.format("", ",sd", "2*pxL:t1@A0")))) == ["o 0"]
    assert not list(growth.alike(a, costly(text.format("", ",sd", "3*pxL:t1@A0"))))
    assert not list(growth.alike(a, costly(text.format(",Rss=8", ",sd", "2*pxL:t1@A0"))))


def test_a_step_that_one_side_did_not_count_is_left_out() -> None:
    a, b = costly(STATES), costly(STATES)
    del b.costs["o 1"]
    assert "o 1" not in list(growth.alike(a, b))


@pytest.mark.parametrize(
    ("a", "b", "names"),
    [
        (1000, 1201, [INSNS]),
        (1000, 1200, []),  # 200 more
        (3000, 3301, [INSNS]),
        (3000, 3300, []),  # a tenth more
        (3000, 2000, []),
    ],
)
def test_instructions_have_two_margins(a: int, b: int, names: list[str]) -> None:
    assert grown(stop(a), stop(b)) == names


def test_sums_grow_by_one_or_by_more_than_a_tenth() -> None:
    assert grown(stop(9), stop(9, tlbi_all=1)) == ["flushes"]
    # The sum counts: one kind took the place of another.
    assert grown(stop(9, tlbi_va=2), stop(9, tlbi_all=1)) == []
    assert grown(stop(9, down=10), stop(9, down=10, up=1)) == []
    assert grown(stop(9, down=10), stop(9, down=10, up=2)) == ["locks"]
    assert grown(stop(9), stop(9, schedule=7)) == []


def test_the_least_of_several_runs() -> None:
    quiet, noisy = stop(100, down=1), stop(180, down=2, tlbi_va=1)
    noisy.symbols = {"walk": SymbolCount(80, 1)}
    found = growth.least([noisy, quiet])
    assert (found.kernel, found.counts) == (100, {"down": 1})
    assert found.symbols == noisy.symbols
    quiet.symbols = {"walk": SymbolCount(10, 1)}
    assert growth.least([noisy, quiet]).symbols == quiet.symbols


def test_where_a_cheap_run_is_rare_the_median_decides() -> None:
    cheap, dear = stop(1000), stop(2000)
    assert grown_in([cheap, dear, dear], [dear] * 3) == []
    assert grown_in([cheap, cheap, dear], [dear] * 3) == [INSNS]
    assert grown_in([cheap] * 3, [cheap, dear, dear]) == []
    flush = stop(1000, tlbi_va=1)
    assert grown_in([cheap, flush, flush], [flush] * 3) == []
    assert grown_in([cheap] * 3, [flush] * 3) == ["flushes"]


def grown_in(a: list[Stop], b: list[Stop]) -> list[str]:
    """The names of what grew in several runs."""
    return [each.name for each in growth.compare(a, b, WATCH)]


def test_variants_of_a_function_count_as_the_function() -> None:
    a, b = stop(100), stop(100)
    a.symbols = {"walk": SymbolCount(50, 1), "gone": SymbolCount(9, 1)}
    b.symbols = {
        "walk": SymbolCount(30, 1),
        "walk.part.0": SymbolCount(40, 1),
        "new.constprop.0": SymbolCount(30, 1),
    }
    assert Regression("r 0", (), a, b, ()).symbols == [("new", 30), ("walk", 20)]


def system_map(directory: Path, *symbols: str) -> None:
    """A System.map with these symbols."""
    directory.mkdir(exist_ok=True)
    rows = [f"{at:x} t {name}\n" for at, name in enumerate(symbols, 0x1000)]
    (directory / "System.map").write_text("".join(rows))


TOML = """
lines = ["{line}"]
[[watch]]
name = "walks"
functions = ["walk"]
[watch.only]
"{line} arm64" = ["stroll"]
"{line} x86_64" = ["hike"]
"5.4" = ["march"]
[[watch]]
name = "flushes"
counts = ["tlbi_va"]
"""


def watched(directory: Path, line: str, a: str, b: str) -> Watch:
    """What is watched on arm64 kernels of 6.12 with these symbols, in a file about one line."""
    file = directory / "watch.toml"
    file.write_text(TOML.format(line=line))
    for name, symbols in (("a", a), ("b", b)):
        system_map(directory / name, *symbols.split())
    kernels = [side(directory / name, has_series=True).kernel for name in "ab"]
    watch.read.cache_clear()
    return watch.on_kernels(kernels[0], kernels[1], file)


def test_functions_that_both_kernels_have_are_watched(tmp_path: Path) -> None:
    found = watched(tmp_path, "6.12", "walk.isra.0 stroll more", "walk stroll.part.0 stroll hike")
    assert found.left_out == ()
    assert [each.name for each in found.sums] == ["walks", "flushes"]
    assert found.symbols == ("stroll", "stroll.part.0", "walk", "walk.isra.0")
    # Inlined on one side: its calls would not count there.
    found = watched(tmp_path, "6.12", "walk stroll", "walk")
    assert (found.symbols, found.left_out) == (("walk",), ("stroll",))


def test_a_function_that_neither_kernel_has_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no function stroll, which is watched as 'walks'"):
        watched(tmp_path, "6.12", "walk hike", "walk hike")
    # Of kernels of another line it is not known.
    found = watched(tmp_path, "6.6", "walk", "walk")
    assert found.symbols == ("walk",)
    assert {"stroll", "hike", "march"} == {*found.left_out}


def test_our_list_can_be_read() -> None:
    watch.read.cache_clear()
    lines, sums = watch.read()
    assert lines == ("6.12", "7.3")
    names = [each.name for each in sums]
    assert len(names) == len(set(names))
    assert {"split_folio_to_list", "__folio_split"} <= {
        name for each in sums for name in each.expected("7.3", "arm64")
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lines = []\n[[watch]]\nname = 'x'\n", "x sums nothing"),
        ("lines = []\n[[watch]]\nname = 'x'\ncalls = ['y']\n", "watch.toml:4: has no key calls"),
        ("lines = []\n[[watch]]\ncounts = ['y']\n", "watch.toml:2: lacks 'name'"),
        ("lines = [", "watch.toml"),
    ],
)
def test_a_wrong_list_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "watch.toml").write_text(text)
    with pytest.raises(UserError) as caught:
        watch.read(tmp_path / "watch.toml")
    assert says in caught.value.text()


def test_the_stops_of_a_boot(tmp_path: Path) -> None:
    assert watch.take(tmp_path, [], False) == ()
    with pytest.raises(GuestLost, match="left no counts"):
        watch.take(tmp_path, [], True)
    (tmp_path / machine.STOPS).write_text("stop 0 insns 12 user 2 kernel 10 down=1\n")
    head = "quire-count 2 aarch64\nregion 0 runs 1 insns 12 user 2 kernel 10 other 0\n"
    (tmp_path / machine.COUNTS).write_text(f"{head}end\n")
    results = tmp_path / machine.RESULTS
    results.write_text("quire 1\np 0\no 0 ok\nc 0\nq 0\nexit 0\n")
    for ended in (True, False):
        assert list(watch.take(tmp_path, [], ended)) == [Stop(0, 12, 2, 10, {"down": 1})]
    # The two count differently; the guest may be lost before it names an operation.
    results.write_text("quire 1\np 0\no 0 ok\nc 1\n")
    with pytest.raises(GuestLost, match="different numbers of operations"):
        watch.take(tmp_path, [], False)
    results.write_text("quire 1\np 0\n")
    with pytest.raises(GuestLost, match="different numbers of operations"):
        watch.take(tmp_path, [], True)
    assert len(watch.take(tmp_path, [], False)) == 1
    results.write_text("quire 1\np 0\no 0 hang\nx hang 1\nq 0\nexit 0\n")
    assert len(watch.take(tmp_path, [], True)) == 1
    (tmp_path / machine.COUNTS).write_text(f"{head}error region 0 was started twice\n")
    with pytest.raises(GuestLost, match="could not count"):
        watch.take(tmp_path, [], False)
    assert counts.read_stops(tmp_path / machine.STOPS)
    (tmp_path / machine.COUNTS).write_text(f"{head}error region 0 {watch.OPEN}\n")
    assert len(watch.take(tmp_path, [], False)) == 1
    with pytest.raises(GuestLost, match="could not count"):
        watch.take(tmp_path, [], True)


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
        (r'"move_p\*"', '"*"', "too broad"),
        (r'"move_p\*"', '"m*"', "too broad"),
        (r'per = "page"', 'per = "byte"', "page or operation"),
        (r'"resize"', '"resized"', "unknown operation: resized"),
        (r'"move keep"', '"move kept"', "unknown operation: move kept"),
        (r'"ksm"', '"ksmd"', "unknown operation: ksmd"),
        (r"operations = .*\n", "", "lacks 'operations'"),
        (r"insns = 40", "insns = 40\nfurther = { fault = 1 }", "not watched: fault"),
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
    with pytest.raises(UserError, match="side b has no function "):
        allowed.applying(whole(), None, {"ptes_move"})
    # Of swapout, cow needs a patch that adds none of them.
    part = newer().only(["cow"])
    assert "swapout" in {entry.topic for entry in allowed.applying(part, None, names_of(part))}
    own = [e for e in allowed.read(part.file.with_name(excuses.FILE)) if e.topic == "cow"]
    functions = {symbol.replace("*", "") for entry in own for symbol in entry.symbols}
    assert allowed.applying(part, None, functions)


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
