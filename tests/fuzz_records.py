# SPDX-License-Identifier: GPL-2.0
"""Records for tests of the fuzzer: short programs, possible states of a kernel, and fake sides."""

from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT
from known import ARM64

from quire.fuzz.difference import differences as difference
from quire.fuzz.difference import excuses
from quire.fuzz.difference.differences import Judgement
from quire.fuzz.difference.excuses import Excuses
from quire.fuzz.language import program, record
from quire.fuzz.language.program import Numbered, Program
from quire.fuzz.language.record import Record
from quire.fuzz.runner import Target, Watch
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel, Toolchain
from quire.source import series
from quire.source.base import Base
from quire.source.series import Series
from quire.source.tree import Tree
from quire.source.version import parse

# What tests ask pytest for.
Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
REDIRTIED = program.parse(
    "folio 64\n0 map A 0 16 anon\n0 write A 0 16\n0 advise A 0 16 free\n0 write A 5 1\n"
    "0 advise A 0 16 pageout\n"
)
MERGED = program.parse(
    "0 map A 0 2 anon\n0 same A 0 2 1\n0 advise A 0 2 mergeable\nksm 4\n0 same A 0 2 1\n"
    "ksm 2\nksm 5\n"
)


@cache
def whole() -> Series:
    """Our series for the newest base."""
    return series.select(ROOT / "patches/linux-6.12.y", parse("6.12.117"))


@cache
def newer() -> Series:
    """Our series for 7.3."""
    return series.select(ROOT / "patches/linux-7.3.y", parse("7.3.4"))


@cache
def applying(*topics: str) -> Excuses:
    """The excuses of our series, narrowed to these topics if any are named."""
    return excuses.applying(whole().only(topics) if topics else whole())


def compare(ops: Program, a: Record, b: Record) -> Judgement:
    """The verdict with the excuses of our whole series."""
    return difference.compare(ops, a, b, applying())


def read(text: str) -> Record:
    """A record of these lines."""
    (found,) = record.read(["p 0", *text.strip().splitlines(), "q 0"]).values()
    return found


def run(last: str) -> Record:
    """REDIRTIED, with the state of the pages after its last operation."""
    return read(
        "o 0 ok\no 1 ok\no 2 ok=16 segv=0 bus=0\nm 0 A 0 16*px:t2@A0\no 3 ok\n"
        f"m 0 A 0 16*pxz:t2@A0\no 4 ok=1 segv=0 bus=0\no 5 ok\n{last}"
    )


def differ(a: str, b: str) -> Judgement:
    """The verdict on REDIRTIED with these final states."""
    return compare(REDIRTIED, run(a), run(b))


def done(count: int) -> str:
    """The lines of `count` successful operations."""
    return "".join(f"o {n} ok\n" for n in range(count))


def merged(*last: str) -> Record:
    """MERGED, with the state of both pages after the last operations."""
    head = (
        "o 0 ok\no 1 ok\nm 0 A 0 2*px:k1\no 2 ok\no 3 ok\nm 0 A 0 2*p:k1\no 4 ok\nm 0 A 0 2*px:k1\n"
    )
    return read(head + "".join(f"o {5 + n} ok\n{state}\n" for n, state in enumerate(last)))


def side(directory: Path, *, has_series: bool) -> Target:
    """A kernel that does not exist: stock, or with our series."""
    base = Base("test", parse("6.12.117"), "test", "0", directory)
    label = "patched" if has_series else "stock"
    tree = Tree("test", base, whole() if has_series else None, directory, label)
    kernel = Kernel(ARM64, tree, "", Toolchain("", ""), directory, str(has_series))
    return Target(kernel, Guest(ARM64, directory / "initrd", "guest"), directory)


def fake_run(
    target: Target, programs: Numbered, losses: int | None = None, watch: Watch | None = None
) -> dict[int, Record]:
    """Replaces runner.run(): every write succeeds; with the bug `lose`, a move loses the page."""
    records: dict[int, Record] = {}
    loses = any(word.endswith("=lose") for word in target.parameters)
    for number, ops in programs.items():
        lines = []
        for at, op in enumerate(ops):
            gone = loses and op.verb == "move"
            lines += [f"o {at} ok", f"m 0 A 0 {'1*-' if gone else f'1*px:t{at}@A0'}"]
        records[number] = Record(lines)
        if watch and watch(number, records[number]):
            break
    return records
