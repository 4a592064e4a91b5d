# SPDX-License-Identifier: GPL-2.0
"""The table of seeded bugs: parsing, selection, completeness."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from conftest import Quire

from quire.arch import ARCHITECTURES
from quire.fuzz.language import program
from quire.host import project
from quire.host.errors import UserError
from quire.source import series
from quire.source.side import Sides
from quire.test import seeded

TABLE = """\
# name | what is wrong | trap | architectures | cases
lost-dirty | a block's dirty bit is dropped | 13 | arm64 | mremap.dirty* mremap.written*

no-flush | the TLB is not flushed | 15 | arm64 x86_64 | mremap.stale*
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "bugs"
    file.write_text(text)
    return file


def test_a_table_is_read(tmp_path: Path) -> None:
    first, second = seeded.read(write(tmp_path, TABLE))
    assert first.name == "lost-dirty"
    assert first.cases == ("mremap.dirty*", "mremap.written*")
    assert second.architectures == ("arm64", "x86_64")


@pytest.mark.parametrize("line", ["name only", "a | b | c | | x.y", "a | b | c | arm64 |"])
def test_a_line_that_says_too_little_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(UserError) as error:
        seeded.read(write(tmp_path, f"{TABLE}{line}\n"))
    assert line in error.value.where


def test_bugs_are_chosen_by_name(tmp_path: Path) -> None:
    bugs = seeded.read(write(tmp_path, TABLE))
    assert [bug.name for bug in seeded.select(bugs, ["no-flush"])] == ["no-flush"]
    assert [bug.name for bug in seeded.select(bugs, ["no-f*"])] == ["no-flush"]
    assert seeded.select(bugs, []) == bugs
    with pytest.raises(UserError, match="no such seeded bug: nonsense"):
        seeded.select(bugs, ["nonsense"])


def test_a_bug_may_need_a_further_fragment(tmp_path: Path) -> None:
    line = "no-page | an allocation fails | 6 | arm64/debug | swapout.count*\n"
    plain, _, needy = seeded.read(write(tmp_path, TABLE + line))
    debug = [Path("configs/debug.config")]
    assert plain.seen_on("arm64") and plain.seen_on("arm64", debug)
    assert needy.seen_on("arm64", debug)
    assert not needy.seen_on("arm64")
    assert not needy.seen_on("x86_64", debug)


def test_every_table_of_the_project_is_sound() -> None:
    tables = sorted(project.find().root.glob("lines/*/seeded/bugs"))
    assert tables
    for table in tables:
        bugs = seeded.read(table)
        names = [bug.name for bug in bugs]
        assert len(names) == len(set(names))
        if (table.parent / "few").is_file():
            assert set(seeded.few(table.parent)) <= set(names)
        patches = "".join(patch.read_text() for patch in table.parent.glob("*.patch"))
        for bug in bugs:
            kernels = {name.removesuffix("/debug") for name in bug.architectures}
            assert kernels <= set(ARCHITECTURES)
            assert f'"{bug.name}"' in patches, f"no patch knows {bug.name}"


def test_every_table_of_costs_is_sound() -> None:
    root = project.find().root
    tables = sorted(root.glob("lines/*/seeded/cost/bugs"))
    assert tables
    for table in tables:
        bugs = seeded.read_costs(table.parent)
        patches = "".join(
            patch.path.read_text() for patch in series.read(table.parent / "series").patches
        )
        selected = set(re.findall(r'^\+\t\{ "([a-z-]+)", &quire_cost_', patches, re.M))
        assert sorted(selected) == sorted(bug.name for bug in bugs)
        for bug in bugs:
            assert bug.about
            assert set(bug.architectures) <= set(ARCHITECTURES)
            assert set(bug.cases) <= set(program.VERBS)
            # The key is defined, declared, and tested somewhere.
            assert f"quire_cost({bug.name.replace('-', '_')})" in patches


def test_costs_are_not_among_the_bugs() -> None:
    """A regression changes no result: no test and no comparison of records can see it."""
    for table in project.find().root.glob("lines/*/seeded/cost/bugs"):
        bugs = {bug.name for bug in seeded.read(table.parent.parent / "bugs")}
        assert not bugs & {bug.name for bug in seeded.read_costs(table.parent)}
        beside = {patch.name for patch in series.read(table.parent.parent / "series").patches}
        assert not any(name.startswith(f"{seeded.COST}/") for name in beside)


def test_a_line_without_costs_says_so(tmp_path: Path) -> None:
    line, base = SimpleNamespace(seeded=tmp_path), SimpleNamespace(version="7.3.4")
    sides = cast(Sides, SimpleNamespace(line=line, base=base))
    with pytest.raises(UserError, match="no seeded regressions of cost"):
        seeded.costs_folder(sides)
    (tmp_path / "cost").mkdir()
    write(tmp_path / "cost", "slow | dearer | 28 | arm64 | hold pin\n")
    assert seeded.costs_folder(sides) == tmp_path / "cost"
    (bug,) = seeded.read_costs(tmp_path / "cost")
    assert bug.cases == ("hold", "pin")


@pytest.mark.parametrize("suites", [True, False])
def test_the_kernel_has_the_lines_kunit_suites(quire: Quire, tree: Path, *, suites: bool) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "series").write_text("")
    if suites:
        (folder / "kunit").write_text("")
    write(folder, "lose | a page is lost | 1 | arm64 | fake.good\n")
    (quire.project / "configs/kunit.config").write_text("CONFIG_KUNIT=y\n")
    done = quire("seeded", "--source", str(tree), "ARCH=arm64")
    # The fake guest catches no bug.
    assert done.returncode == 1, done.stderr
    assert "MISSED arm64 lose" in done.stdout
    (config,) = quire.build.glob("tree/*/linux/o-arm64-*/.config")
    assert ("CONFIG_KUNIT=y" in config.read_text()) is suites


@pytest.mark.parametrize("known", [True, False])
def test_what_fails_without_a_bug_catches_none(quire: Quire, tree: Path, *, known: bool) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "series").write_text("")
    write(folder, "lose | a page is lost | 1 | arm64 | fake.*\n")
    if known:
        line = "patched | arm64 | fake.bad | known\n"
        (quire.project / "lines/6.12/expected").write_text(line)
    done = quire("seeded", "--source", str(tree), "ARCH=arm64", FAKE_QEMU="wrong")
    assert done.returncode == 1
    assert ("MISSED arm64 lose" in done.stdout) is known
    assert ("tests failed" in done.stderr) is not known
