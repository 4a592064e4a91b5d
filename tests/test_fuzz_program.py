# SPDX-License-Identifier: GPL-2.0
"""The language of the fuzzer's programs, programs generated in it, and their records."""

import itertools
import random
import re
from dataclasses import replace

import pytest
from conftest import ROOT
from fuzz_records import compare, read
from hypothesis import given
from hypothesis import strategies as st

from quire.fuzz.difference.excuses import Rule
from quire.fuzz.generate import generator
from quire.fuzz.language import program, record
from quire.fuzz.language.program import SLOT_PAGES, SLOTS, Op, Program, Range
from quire.fuzz.language.record import PageState, Record
from quire.fuzz.language.verbs import ACTORS, FOLIO_WEIGHTS, TABLE, VERBS, Verb
from quire.fuzz.promise.oracle import broken_promises
from quire.host.errors import UserError


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    count = draw(st.integers(1, SLOT_PAGES))
    return Range(draw(st.sampled_from(SLOTS)), draw(st.integers(0, SLOT_PAGES - count)), count)


@st.composite
def operations(draw: st.DrawFn) -> Op:
    verb = draw(st.sampled_from(sorted(VERBS)))
    grammar = VERBS[verb]
    where = draw(ranges()) if "R" in grammar.takes else None
    most = SLOT_PAGES - (where.count if where else 1)
    numbers = {"folio": st.sampled_from(tuple(FOLIO_WEIGHTS)), "fork": st.integers(0, ACTORS - 1)}
    return Op(
        verb,
        draw(st.integers(0, ACTORS - 1)) if grammar.actor else None,
        where,
        Range(draw(st.sampled_from(SLOTS)), draw(st.integers(0, most)))
        if "A" in grammar.takes
        else None,
        draw(numbers.get(verb, st.integers(0, 99))) if "n" in grammar.takes else 0,
        draw(st.sampled_from(tuple(grammar.words))) if grammar.words else "",
    )


programs = st.lists(operations(), min_size=1, max_size=20).map(tuple)


@given(programs)
def test_what_is_written_is_read(ops: Program) -> None:
    assert program.parse(program.text(ops)) == ops


@given(programs)
def test_comments_and_blank_lines_mean_nothing(ops: Program) -> None:
    text = program.text(ops, ["why", ""])
    assert program.parse("\n# x\n\n" + text.replace("\n", "  # note\n\n")) == ops


# Lines that are none of a program.
WRONG = (
    "fly", "write A 0 1", "0 write A 0", "0 write A 0 0", "0 write F 0 1",
    "0 write A 1000 25", "4 write A 0 1", "0 folio 64", "folio 8", "0 advise A 0 1 sell",
    "0 move A 0 16 B 1020 move", "0 word A 0 16 512", "0 crowd 101", "0 write A 0 1 2",
    "0 write A x 1", "0 write A -1 1", "0",
)  # fmt: skip


@pytest.mark.parametrize("line", WRONG)
def test_a_line_that_is_none_is_named(line: str) -> None:
    with pytest.raises(UserError) as caught:
        program.parse(f"folio 64\n{line}\n", "some.fuzz")
    assert f"some.fuzz:2: {line}" in caught.value.where


def test_an_empty_program_is_none() -> None:
    with pytest.raises(UserError):
        program.parse("# nothing\n")


def test_the_guest_knows_the_same_operations() -> None:
    source = "".join((ROOT / f"guest/fuzz/{n}.c").read_text() for n in ("ops", "global"))
    table = re.findall(r'\{ "([\w-]+)", "(\w*)", \.(act|global) = ', source)
    assert {name: (takes, by == "act") for name, takes, by in table} == {
        name: (verb.takes, verb.actor) for name, verb in VERBS.items()
    }


def test_the_guest_knows_the_same_words() -> None:
    source = (ROOT / "guest/fuzz/ops_map.c").read_text()
    assert set(re.findall(r'\{ "([\w-]+)", MADV_', source)) == set(VERBS["advise"].words)
    assert set(re.findall(r'\{ "([\w-]+)", MAP_', source)) == set(VERBS["map"].words)
    take, scan = ((ROOT / f"guest/fuzz/ops_{n}.c").read_text() for n in ("take", "scan"))
    assert set(re.findall(r'\{ "([\w-]+)", UFFDIO_', take)) == set(VERBS["take"].words)
    assert set(re.findall(r'\{ "([\w-]+)", \.protects', scan)) == set(VERBS["scan"].words)


def test_the_documentation_knows_every_operation() -> None:
    text = (ROOT / "docs/dev/fuzz.md").read_text()
    for verb in VERBS:
        assert re.search(rf"^\| `(?:P )?{verb}\b", text, re.M), verb


@given(st.integers(0, 10**9))
def test_a_seed_gives_one_valid_program(seed: int) -> None:
    ops = generator.generate(seed)
    assert ops == generator.generate(seed)
    assert program.parse(program.text(ops)) == ops


@given(programs, programs, st.randoms(use_true_random=False))
def test_a_mutant_is_a_program(ops: Program, other: Program, rng: random.Random) -> None:
    mutant = generator.mutate(rng, ops, other)
    assert program.parse(program.text(mutant)) == mutant


def test_every_operation_is_generated() -> None:
    made = (generator.generate(seed, migrating=True) for seed in range(3000))
    seen = {op.verb for ops in made for op in ops}
    # Faults are generated only on request: they need another kernel.
    assert seen == set(VERBS) - {"fail"}


def test_an_operation_is_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry makes a new one known to the parser, the generator, the oracle and the excuses."""
    holes, plain = ("holes", "ENOMEM", "zap(2): ENOMEM"), ("plain", "ok", "zap(2): DESCRIPTION")
    zap = Verb("R", 5, {}, "dontneed", (holes, plain), empties=True)
    for table in (TABLE, VERBS):
        monkeypatch.setitem(table, "zap", zap)
    assert "zap" in {op.verb for seed in range(50) for op in generator.generate(seed)}
    text = "0 map A 0 2 anon\n0 write A 0 2\n0 advise A 0 2 free\n0 write A 1 1\n0 zap A 0 1\n"
    ops = program.parse(text)
    start = (
        "o 0 ok\nv 0 A 0+2:rw-p:0\no 1 ok=2 segv=0 bus=0\nm 0 A 0 2*px:t1@A0\no 2 ok\n"
        "m 0 A 0 2*pxz:t1@A0\no 3 ok=1 segv=0 bus=0\nm 0 A 0 1*pxz:t1@A0 1*px:t3@A1\n"
    )
    kept, gone = (read(f"{start}o 4 ok\nm 0 A 0 1*{at} 1*px:t3@A1") for at in ("px:t1@A0", "-"))

    def breaks(record: Record) -> list[str]:
        return [one.rule.name for one in broken_promises(ops, record, soft_dirty=False)]

    assert breaks(gone) == []
    assert breaks(kept) == ["dropped"]
    assert breaks(read(f"{start}o 4 EIO")) == ["error: plain"]
    # A page that was given up may be gone on one side alone, unless the operation drops it.
    assert compare(ops, gone, kept).differences
    monkeypatch.setitem(TABLE, "zap", replace(zap, empties=False))
    assert [*compare(program.parse(text), gone, kept).excused] == [Rule.DROPPED_IN_PART]


def test_faults_come_before_operations_of_processes() -> None:
    seen = 0
    for seed in range(100):
        ops = generator.generate(seed)
        faulty = generator.with_faults(seed, ops)
        assert program.parse(program.text(faulty)) == faulty
        assert tuple(op for op in faulty if op.verb != "fail") == ops[: len(ops)]
        for fault, op in itertools.pairwise(faulty):
            if fault.verb == "fail":
                assert fault.actor == op.actor is not None
                seen += 1
    assert seen > 50


def test_new_programs_come_from_the_pool_and_from_seeds() -> None:
    pool = [program.parse("0 exit\n")]
    made = [generator.following(seed, pool) for seed in range(200)]
    fresh = sum(ops == generator.generate(seed) for seed, ops in enumerate(made))
    assert 80 < fresh < 180


def test_pages_of_runs() -> None:
    pages = record.pages("3 2*px:t7@B3 1*s 1*p:k1 1*-w")
    assert pages[3] == PageState("px", "t7@B3")
    assert pages[4] == PageState("px", "t7@B4")
    assert pages[5] == PageState("s", "")
    assert pages[7] == PageState("-w", "")


def test_states_hold_until_they_are_told_anew() -> None:
    steps = list(record.steps(read("o 0 ok\nm 0 A 0 1*-\no 1 ok\no 2 ok\nm 0 A 0 1*px:0\nw 0 ok")))
    assert [step.name for step in steps] == ["o 0", "o 1", "o 2", "w 0"]
    assert [step.states["m 0 A"] for step in steps] == ["0 1*-"] * 2 + ["0 1*px:0"] * 2


def test_a_program_without_its_end_is_lost() -> None:
    found = record.read(["p 3", "o 0 ok", "q 3", "p 4", "o 0 ok"])
    assert (found[3].trouble, found[4].trouble) == ("", "no end")
