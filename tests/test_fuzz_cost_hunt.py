# SPDX-License-Identifier: GPL-2.0
"""Costs: noise is dropped, what costs more each time is shrunk, and one cause is told once."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fuzz_records import Capture, Patch, side

from quire.boot.counts import Stop, SymbolCount
from quire.fuzz import detect, runner, show
from quire.fuzz.cost.allowed import Allowance
from quire.fuzz.cost.costs import CostJudge
from quire.fuzz.cost.growth import INSNS, Growth, Regression
from quire.fuzz.cost.watch import Sum, Watch
from quire.fuzz.detect import Search
from quire.fuzz.hunt import Hunt, answer
from quire.fuzz.judge import Finding
from quire.fuzz.language import program
from quire.fuzz.language.program import Numbered, Op, Program
from quire.fuzz.language.record import Record
from quire.fuzz.programs import Programs
from quire.fuzz.runner import Records, Target, Targets
from quire.host.cache import Cache
from quire.host.progress import Progress
from quire.suites.seeded import Bug

WATCH = Watch((Sum("flushes", ("tlbi_va",)),))
MOVES = program.parse(
    "folio 64\n0 map A 0 32 anon\n0 write A 0 32\n0 map B 0 4 anon\n0 advise A 0 32 pageout\n"
    "0 read A 0 32\n0 move A 0 32 C 0 move\n0 read C 0 32\n"
)
PLAIN = program.parse("0 map A 0 4 anon\n0 write A 0 4\n0 unmap A 0 4\n")
INSNS_PER_PAGE = 100


class Kernel:
    """Replaces runner.run(): each operation costs by its pages.

    On side b, a move of a mapping costs half more, if the mapping was paged out. `noise` of every
    hundred operations of a boot cost twice as much, and take a flush.
    """

    def __init__(self, noise: int = 0) -> None:
        self.noise = noise
        self.boots: list[int] = []

    def run(self, target: Target, programs: Numbered, *_: object) -> Records:
        """A boot."""
        self.boots.append(len(programs))
        records, done = {}, len(self.boots)
        slower = "patched" in target.label or "=dear" in target.label
        for number, ops in programs.items():
            record = Record()
            for at, op in enumerate(ops):
                done += 1
                record.lines.append(f"o {at} ok")
                odd = self.noise > 0 and done * 37 % 100 < self.noise
                cost = self.cost(op, slower=slower and paged_out(ops[:at]), odd=odd)
                record.costs[f"o {at}"] = cost
            records[number] = record
        return records

    @staticmethod
    def cost(op: Op, *, slower: bool, odd: bool) -> Stop:
        """The stop of an operation."""
        pages = op.range.count if op.range else 1
        insns, more = pages * INSNS_PER_PAGE, 0
        if slower and op.verb == "move":
            more = insns // 2
        noise = 300 + insns if odd else 0
        symbols = {"work": SymbolCount(insns, 1), "tick": SymbolCount(noise, 1)}
        symbols["walk.part.0"] = SymbolCount(more, 1)
        total = insns + more + noise
        return Stop(0, total, 0, total, {"tlbi_va": 1} if odd else {}, symbols)


def paged_out(ops: Program) -> bool:
    """Whether one of the operations pages out."""
    return any(op.word == "pageout" for op in ops)


def sides() -> Targets:
    """Two sides that do not exist."""
    return Targets(tuple(side(Path(), has_series=has) for has in (False, True)))


def confirmed(judge: CostJudge, programs: Numbered) -> Sequence[tuple[int, Regression]]:
    """What costs more each time the programs run."""
    runs = sides().run(programs)
    return answer(sides(), judge.confirm(programs, judge.judge(programs, runs), runs))


def investigate(
    judge: CostJudge, programs: Sequence[Program], output: Path
) -> list[Finding[Regression]]:
    """Hunt with these programs."""
    hunt = Hunt(sides(), [judge], output)
    hunt.run(Programs(given=dict(enumerate(programs))), 9, Progress(quiet=True))
    return judge.tally.findings


@pytest.fixture(autouse=True)
def a_kernel(monkeypatch: Patch) -> None:
    monkeypatch.setattr(runner, "run", Kernel().run)


@pytest.mark.parametrize("noise", [0, 7])
def test_an_operation_that_costs_more_is_shrunk(
    tmp_path: Path, monkeypatch: Patch, noise: int
) -> None:
    monkeypatch.setattr(runner, "run", Kernel(noise).run)
    judge = CostJudge(WATCH)
    (found,) = investigate(judge, (PLAIN, MOVES, MOVES, PLAIN), tmp_path / "out")
    assert [op.verb for op in found.program] == ["advise", "move"]
    assert found.program[0].range
    assert found.program[0].range.count == 1
    # The move keeps as many pages as exceed the margin.
    assert found.fault.kind == ("move move", "walk", INSNS)
    assert (found.number, found.fault.step) == (1, "o 1")
    assert found.fault.functions[0].startswith("walk +")
    # The other program has a fault of the same kind. Noise may hide it.
    assert list(judge.tally.kinds.values()) in ([2], [1] if noise else [2])


def test_shrinking_keeps_the_operation_and_most_of_its_growth(tmp_path: Path) -> None:
    judge = CostJudge(WATCH)
    ((_, fault),) = confirmed(judge, {4: MOVES})

    def again(*grown: Growth, ops: Program = fault.program) -> list[int]:
        before = replace(fault, grown=grown, program=ops)
        return [*answer(sides(), judge.repeat({7: MOVES}, before))[0]]

    assert fault.grown[0].excess == 0.5
    assert again(*fault.grown) == [7]
    assert not again(*fault.grown, ops=tuple(replace(op, word="keep") for op in MOVES))
    assert not again(Growth(INSNS, 100, 180))
    assert again(Growth(INSNS, 100, 170))
    assert not again(Growth("flushes", 0, 1))


def test_an_operation_that_was_not_alike_each_time_says_nothing(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    kernel = Kernel()

    def once_unlike(target: Target, programs: Numbered, *rest: object) -> Records:
        records = kernel.run(target, programs, *rest)
        if len(kernel.boots) == 6:
            records[1].lines[0] = "o 0 EAGAIN"
        return records

    monkeypatch.setattr(runner, "run", once_unlike)
    judge = CostJudge(WATCH)
    assert investigate(judge, [MOVES], tmp_path / "out") == []
    assert (judge.tally.suspects, judge.repeated) == (1, 0)


def test_suspects_run_in_other_orders(tmp_path: Path, monkeypatch: Patch) -> None:
    orders: list[list[str]] = []
    kernel = Kernel()

    def seen(target: Target, programs: Numbered, *rest: object) -> Records:
        orders.append([ops[0].text() for ops in programs.values()])
        return kernel.run(target, programs, *rest)

    monkeypatch.setattr(runner, "run", seen)
    programs = {n: (Op("folio", number=kib), *MOVES[1:]) for n, kib in enumerate((4, 16, 64, 256))}
    confirmed(CostJudge(WATCH), programs)
    first, _, *later = orders
    assert later[::2] == later[1::2]
    runs = [tuple(boot[at : at + 4]) for boot in later[::2] for at in range(0, len(boot), 4)]
    assert len(runs) == 15
    # Few orders are there twice.
    assert len({tuple(first), *runs}) >= 9


def test_other_programs_run_in_between(tmp_path: Path, monkeypatch: Patch) -> None:
    boots: list[list[Program]] = []
    kernel = Kernel()

    def seen(target: Target, programs: Numbered, *rest: object) -> Records:
        boots.append(list(programs.values()))
        records = kernel.run(target, programs, *rest)
        if 4 in programs and len(boots) == 2:
            records[4].lines.append("x memory 1")
        return records

    monkeypatch.setattr(runner, "run", seen)
    others = [(Op("folio", number=kib), *PLAIN) for kib in (4, 16, 64)]
    judge = CostJudge(WATCH)
    investigate(judge, (*others, MOVES, (Op("folio", number=2048), *PLAIN)), tmp_path / "out")
    # Not the one in trouble.
    assert judge.fillers == others
    before = [boot[at - 1] for boot in boots[2:8] for at in range(1, len(boot), 2)]
    assert set(before) == {*others}
    assert len(boots[6]) == 8
    assert len(boots[-1]) == 12


def test_noise_alone_is_no_finding(tmp_path: Path, monkeypatch: Patch) -> None:
    kernel = Kernel(25)
    monkeypatch.setattr(runner, "run", kernel.run)
    judge = CostJudge(WATCH)
    assert investigate(judge, [PLAIN] * 40, tmp_path / "out") == []
    assert judge.tally.suspects > 5
    assert judge.repeated == 0
    # It took a few boots, with ever fewer programs.
    assert len(kernel.boots) <= 8


def test_what_the_series_means_is_no_finding(tmp_path: Path) -> None:
    meant = Allowance("a", "t", "why", ("move",), ("walk",), insns=50, per="page")
    judge = CostJudge(WATCH, (meant, replace(meant, name="dead", operations=("lock",))))
    assert investigate(judge, [MOVES], tmp_path / "out") == []
    assert (judge.repeated, dict(judge.tally.excused)) == (1, {"a": 1})
    # Half of it is too much.
    judge = CostJudge(WATCH, (replace(meant, insns=25),))
    (found,) = investigate(judge, [MOVES], tmp_path / "out")
    assert found.fault.grown[0].b < found.fault.b.kernel


def test_programs_that_make_allocations_fail_say_nothing(tmp_path: Path) -> None:
    judge = CostJudge(WATCH)
    assert investigate(judge, [(Op("fail", 0, number=1), *MOVES)], tmp_path / "out") == []
    assert judge.operations == 0


def test_a_program_in_trouble_says_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    kernel = Kernel()
    monkeypatch.setattr(runner, "run", kernel.run)
    judge = CostJudge(WATCH)
    a, b = sides().run({4: MOVES})
    b[4].lines.append("x memory 1")
    assert judge.judge({4: MOVES}, (a, b)) == []
    assert judge.operations == 0


def test_a_finding_is_written_and_reported(tmp_path: Path, capsys: Capture) -> None:
    meant = Allowance("unused", "t", "why", ("lock",), ("walk",), insns=50)
    judge = CostJudge(WATCH, (meant,))
    (found,) = investigate(judge, [MOVES], tmp_path / "out")
    where = tmp_path / "out/regression-0"
    assert program.parse((where / "program.fuzz").read_text()) == found.program
    text = (where / "costs").read_text()
    assert "instructions" in text.splitlines()[0]
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["function", "walk"]
    assert (where / "a.log").read_text().startswith("# side a: stock")
    (line,) = (tmp_path / "out/regressions").read_text().splitlines()
    assert line.startswith("0, operation o 6: 0 move A 0 32 C 0 move: instructions 3200 | 4800")
    assert line.endswith("(walk +1600)")
    hunt = Hunt(sides(), [judge], tmp_path / "out")
    assert hunt.problems == [f"arm64: {where / 'program.fuzz'}: {found.fault.text}"]
    show.show(hunt, as_json=False)
    said = capsys.readouterr().out
    assert "no operation needed the entry: unused" in said
    assert "1 findings" in said
    assert "walk +" in said
    show.show(hunt, as_json=True)
    row = json.loads(capsys.readouterr().out)
    assert row["allowed"] == {"unused": 0}
    assert row["findings"][0]["operation"] == "move move"
    show.show_costs(sides(), judge, {0: MOVES})
    said = capsys.readouterr().out
    assert "+1600" in said
    assert "walk +1600" in said


def test_seeded_regressions_are_found_or_missed(tmp_path: Path, capsys: Capture) -> None:
    a = side(tmp_path, has_series=False)
    dear, other, cheap = (
        Bug(name, "", ("arm64",), operations=(verb,))
        for name, verb in (("dear", "move"), ("dearly", "lock"), ("hidden", "move"))
    )
    targets, make = Targets((a, replace(a))), partial(CostJudge, WATCH)
    search = Search(make, targets, Programs(120), Cache(tmp_path / "build"))
    bugs, out = [dear, other, cheap], tmp_path / "out"
    results = detect.look_for_all(search, bugs, out, Progress())
    found = results[0].finding
    assert found
    assert len(found.program) == 2
    assert found.sides == ("stock", "stock quire_bug=dear")
    assert results[0].programs == found.number + 1 <= 120
    # Something grew, but in no operation that the table names.
    assert [result.missed for result in results] == [False, True, True]
    assert (tmp_path / f"out/dear/regression-{found.number}/program.fuzz").exists()
    assert "hidden: missed in 120 programs" in capsys.readouterr().err
    show.show_bugs(a.kernel.arch, make(), results, as_json=True)
    rows = json.loads(capsys.readouterr().out)["regressions"]
    assert [row["operations"] for row in rows] == [2, None, None]
    show.show_bugs(a.kernel.arch, make(), results, as_json=False)
    assert "missed" in capsys.readouterr().out
