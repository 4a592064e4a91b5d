# SPDX-License-Identifier: GPL-2.0
"""Costs: records with stops, steps that can be compared, margins, and what is watched."""

from pathlib import Path

import pytest
from fuzz_records import read, side

from quire.boot import machine, stops
from quire.boot.counts import SymbolCount
from quire.boot.stops import Stop
from quire.fuzz.cost import growth, watch
from quire.fuzz.cost.growth import INSNS, Regression
from quire.fuzz.cost.watch import Sum, Watch
from quire.fuzz.language import record
from quire.fuzz.language.record import Record
from quire.host.errors import GuestLost, UserError

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
    for whole in (True, False):
        assert list(watch.take(tmp_path, [], whole)) == [Stop(0, 12, 2, 10, {"down": 1})]
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
    assert stops.read(tmp_path / machine.STOPS)
    (tmp_path / machine.COUNTS).write_text(f"{head}error region 0 {watch.OPEN}\n")
    assert len(watch.take(tmp_path, [], False)) == 1
    with pytest.raises(GuestLost, match="could not count"):
        watch.take(tmp_path, [], True)
