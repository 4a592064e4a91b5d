# SPDX-License-Identifier: GPL-2.0
"""The table of seeded bugs: parsing, selection, completeness."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from conftest import Quire
from known import X86_64, bug, toml

from quire.arch import ARCHITECTURES
from quire.fuzz.language.verbs import VERBS
from quire.host import project
from quire.host.errors import UserError
from quire.kernels.kernel import Kernel
from quire.source import series
from quire.source.side import Sides
from quire.suites import seeded

TABLE = bug("lost-dirty", "mremap.dirty*", "mremap.written*", trap="13") + bug(
    "no-flush", "mremap.stale*", architectures=["arm64", "x86_64"]
)


def write(folder: Path, text: str) -> Path:
    (folder / seeded.BUGS).write_text(text)
    return folder


def test_a_table_is_read(tmp_path: Path) -> None:
    first, second = seeded.read(write(tmp_path, TABLE))
    assert first.name == "lost-dirty"
    assert first.cases == ("mremap.dirty*", "mremap.written*")
    assert second.architectures == ("arm64", "x86_64")


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (toml("bug", name="a", about="b"), "bugs.toml:13: lacks 'architectures'"),
        (bug("a", architectures=[]), "bugs.toml:13"),
        (bug("a", fuzzed=True, no_program="why"), "bugs.toml:13"),
        (bug("a", topic="b"), "bugs.toml:18: has no key topic"),
    ],
)
def test_an_entry_that_says_too_little_is_named(tmp_path: Path, entry: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        seeded.read(write(tmp_path, f"{TABLE}\n{entry}"))
    assert says in error.value.where


def test_bugs_are_chosen_by_name(tmp_path: Path) -> None:
    bugs = seeded.read(write(tmp_path, TABLE))
    assert [bug.name for bug in seeded.select(bugs, ["no-flush"])] == ["no-flush"]
    assert [bug.name for bug in seeded.select(bugs, ["no-f*"])] == ["no-flush"]
    assert seeded.select(bugs, []) == bugs
    with pytest.raises(UserError, match="no such seeded bug: nonsense"):
        seeded.select(bugs, ["nonsense"])


def test_a_bug_may_need_a_further_fragment(tmp_path: Path) -> None:
    entry = bug("no-page", "swapout.count*", architectures=["arm64/debug"])
    plain, _, needy = seeded.read(write(tmp_path, TABLE + entry))
    debug = [Path("configs/debug.config")]
    assert plain.seen_on("arm64") and plain.seen_on("arm64", debug)
    assert needy.seen_on("arm64", debug)
    assert not needy.seen_on("arm64")
    assert not needy.seen_on("x86_64", debug)


def test_a_bug_may_need_an_option_of_the_kernel(tmp_path: Path) -> None:
    config = tmp_path / ".config"
    config.write_text("CONFIG_SOFT=y\n")
    kernel = Kernel(X86_64, None, "key", None, tmp_path, "")  # type: ignore[arg-type]
    entries = (
        bug("a", "x.y"),
        bug("b", "x.y", needs="CONFIG_SOFT"),
        bug("c", "x.y", needs="CONFIG_B"),
    )
    bugs = seeded.read(write(tmp_path, "".join(entries).replace("arm64", "x86_64")))
    assert [bug.name for bug in bugs if bug.shown_by(kernel)] == ["a", "b"]


def test_every_table_of_the_project_is_sound() -> None:
    tables = sorted(project.find().root.glob("lines/*/seeded/bugs.toml"))
    configs = project.find().configs
    assert tables
    for table in tables:
        bugs = seeded.read(table.parent)
        names = [bug.name for bug in bugs]
        assert seeded.LATE not in names
        assert len(names) == len(set(names))
        patches = "".join(patch.read_text() for patch in table.parent.glob("*.patch"))
        for entry in bugs:
            for arch, _, fragment in (name.partition("/") for name in entry.architectures):
                assert arch in ARCHITECTURES
                assert not fragment or (configs / f"{fragment}.config").is_file()
            assert f'"{entry.name}"' in patches, f"no patch knows {entry.name}"


def test_every_table_of_costs_is_sound() -> None:
    root = project.find().root
    tables = sorted(root.glob("lines/*/seeded/cost/bugs.toml"))
    assert tables
    for table in tables:
        bugs = seeded.read(table.parent)
        patches = "".join(
            patch.path.read_text() for patch in series.read(table.parent / "series").patches
        )
        selected = set(re.findall(r'^\+\t\{ "([a-z-]+)", &quire_cost_', patches, re.M))
        assert sorted(selected) == sorted(bug.name for bug in bugs)
        for entry in bugs:
            assert entry.about
            assert set(entry.architectures) <= set(ARCHITECTURES)
            assert set(entry.operations) <= set(VERBS)
            # The key is defined, declared, and tested somewhere.
            assert f"quire_cost({entry.name.replace('-', '_')})" in patches


def test_costs_are_not_among_the_bugs() -> None:
    """A regression changes no result: no test and no comparison of records can see it."""
    for table in project.find().root.glob("lines/*/seeded/cost/bugs.toml"):
        bugs = {bug.name for bug in seeded.read(table.parent.parent)}
        assert not bugs & {bug.name for bug in seeded.read(table.parent)}
        beside = {patch.name for patch in series.read(table.parent.parent / "series").patches}
        assert not any(name.startswith(f"{seeded.COST}/") for name in beside)


def test_a_line_without_costs_says_so(tmp_path: Path) -> None:
    line, base = SimpleNamespace(seeded=tmp_path), SimpleNamespace(version="7.3.4")
    sides = cast(Sides, SimpleNamespace(line=line, base=base))
    with pytest.raises(UserError, match="no seeded cost regressions"):
        seeded.costs_folder(sides)
    (tmp_path / "cost").mkdir()
    write(tmp_path / "cost", bug("slow", operations=["hold", "pin"]))
    assert seeded.costs_folder(sides) == tmp_path / "cost"
    (slow,) = seeded.read(tmp_path / "cost")
    assert slow.operations == ("hold", "pin")


@pytest.mark.parametrize("suites", [True, False])
def test_the_kernel_has_the_lines_kunit_suites(quire: Quire, tree: Path, *, suites: bool) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "series").write_text("")
    if suites:
        (folder / "kunit.toml").write_text("")
    write(folder, bug("lose", "fake.good"))
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
    write(folder, bug("lose", "fake.*"))
    if known:
        words = {"architectures": ["arm64"], "cases": ["fake.bad"], "why": "known"}
        entry = toml("expected", tree="patched", **words)
        (quire.project / "lines/6.12/expected.toml").write_text(entry)
    done = quire("seeded", "--source", str(tree), "ARCH=arm64", FAKE_QEMU="wrong")
    assert done.returncode == 1
    assert ("MISSED arm64 lose" in done.stdout) is known
    assert ("tests failed" in done.stderr) is not known


def test_each_case_of_a_proof_must_fail(quire: Quire, tree: Path) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "series").write_text("")
    write(folder, bug("lose", "fake.*") + bug("other", "fake.*"))
    proof = toml("proof", bug="lose", architecture="arm64", cases=["fake.good", "fake.bad"])
    (folder / seeded.PROOFS).write_text(proof)
    done = quire("seeded", "--proofs", "--source", str(tree), "ARCH=arm64")
    assert done.returncode == 1, done.stderr
    # The fake guest passes all, whatever the bug; the other bug has no proof.
    assert "2 cases pass with their bug" in done.stderr
    assert "arm64: lose: fake.bad" in done.stderr
    assert "other" not in done.stdout
    (folder / seeded.PROOFS).write_text(toml("proof", bug="lose", cases=["fake.good"]))
    done = quire("seeded", "--proofs", "--source", str(tree), "ARCH=arm64")
    assert done.returncode == 2
    assert "lacks 'architecture'" in done.stderr


def test_races_run_on_several_cpus_with_no_bug_selected(quire: Quire, tree: Path) -> None:
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir(parents=True)
    (folder / "series").write_text("")
    write(folder, bug("lose", "fake.good"))
    done = quire("seeded", "--smp", "2", "--source", str(tree), "ARCH=arm64")
    assert "MISSED arm64 lose" in done.stdout
    (boot,) = quire.build.glob("boot/test-arm64-patched-smp2-*")
    command = (boot / "command").read_text()
    assert "*.race*-64k" in command
    assert f"{seeded.PARAMETER}={seeded.LATE} " in command
