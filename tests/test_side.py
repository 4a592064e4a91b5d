# SPDX-License-Identifier: GPL-2.0
"""A user's own two sides: revisions, directories, mailboxes, quilt; and invalid sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Quire, line_patch, make_line, make_tree
from test_checkout import git

WHERE = ("ARCH=arm64", "mremap", "--size", "64")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a tag v6.12.117 and a branch `topic` on top of it."""
    directory = make_tree(tmp_path / "clone")
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "-A", "-f")
    git(directory, "commit", "-q", "-m", "Linux 6.12.117")
    git(directory, "tag", "v6.12.117")
    git(directory, "checkout", "-q", "-b", "topic")
    path = directory / "mm/mremap.c"
    path.write_text(path.read_text().replace("line 8\n", "run 8\n"))
    (directory / "mm/new.sh").write_text("#!/bin/sh\n")
    (directory / "mm/new.sh").chmod(0o755)
    git(directory, "add", "-A", "-f")
    git(directory, "commit", "-q", "-m", "mm: move runs")
    return directory


def report(quire: Quire, *words: str) -> dict[str, object]:
    """The JSON of a bench, which must succeed."""
    done = quire.passes("bench", *WHERE, "--json", *words)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_two_revisions_of_a_repository(quire: Quire, clone: Path) -> None:
    sides = report(quire, "--git", str(clone), "--a", "v6.12.117", "--b", "topic")["sides"]
    assert isinstance(sides, dict)
    assert (sides["a"]["label"], sides["b"]["label"]) == ("v6.12.117", "topic")
    assert sides["b"]["hash"] == f"git:{git(clone, 'rev-parse', 'topic')}"
    (tree,) = quire.build.glob("tree/*/linux")
    assert (tree / "mm/mremap.c").read_text() == (clone / "mm/mremap.c").read_text()
    assert (tree / "mm/new.sh").stat().st_mode & 0o111


def test_the_table_is_headed_by_the_sides(quire: Quire, clone: Path) -> None:
    done = quire("bench", *WHERE, "--git", str(clone), "--a", "v6.12.117", "--b", "topic")
    commit = git(clone, "rev-parse", "topic")[:16]
    assert f"topic: Linux 6.12.117, git {clone} topic, git {commit}" in " ".join(
        done.stdout.split()
    )
    assert "posted" not in done.stdout


def test_two_directories_one_with_changes(quire: Quire, clone: Path, tmp_path: Path) -> None:
    plain = make_tree(tmp_path / "plain")
    path = clone / "mm/mremap.c"
    path.write_text(path.read_text().replace("line 20\n", "run 20\n"))
    (clone / "mm/untracked.c").write_text("int new;\n")
    sides = report(quire, "--a", str(plain), "--b", str(clone))["sides"]
    assert isinstance(sides, dict)
    assert "2 uncommitted files" in sides["b"]["about"]
    (tree,) = quire.build.glob("tree/*/linux")
    assert "run 20" in (tree / "mm/mremap.c").read_text()
    assert (tree / "mm/untracked.c").exists()


def test_directories_of_one_name_are_told_apart(quire: Quire, tmp_path: Path) -> None:
    one, other = (make_tree(tmp_path / name / "linux") for name in ("x", "y"))
    sides = report(quire, "--a", str(one), "--b", str(other))["sides"]
    assert isinstance(sides, dict)
    assert (sides["a"]["label"], sides["b"]["label"]) == ("a-linux", "b-linux")


def test_sides_of_different_lines(quire: Quire, tree: Path, tmp_path: Path) -> None:
    make_line(quire.project, "7.3")
    newer = make_tree(tmp_path / "newer", "7.3.4")
    sides = report(quire, "--a", str(tree), "--b", str(newer))["sides"]
    assert isinstance(sides, dict)
    assert [sides[name]["version"] for name in "ab"] == ["6.12.117", "7.3.4"]


def test_a_line_without_a_series_is_compared_with_itself(quire: Quire, tmp_path: Path) -> None:
    make_line(quire.project, "7.3")
    newer = make_tree(tmp_path / "newer", "7.3.4")
    found = report(quire, "--source", str(newer))
    assert isinstance(found["architectures"], list)
    assert found["architectures"][0]["rows"][0]["ratio"] == 1


def test_a_version_without_a_line(quire: Quire, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "vendor", "6.18.3")
    done = quire.passes("bench", *WHERE, "--source", str(tree))
    assert "Linux 6.18.3" in done.stdout


@pytest.fixture
def mailbox(tmp_path: Path) -> Path:
    """Two patches, the second first, and a reply that quotes one."""
    one = line_patch("mm: move runs", 8, "run 8").replace("[PATCH]", "[PATCH 1/2]")
    two = line_patch("mm: move more", 20, "run 20").replace("[PATCH]", "[PATCH v2 2/2]")
    reply = one.replace("Subject: [PATCH", "Subject: Re: [PATCH")
    path = tmp_path / "topic.mbox"
    path.write_text(two + "\n" + reply + "\n" + one)
    return path


def test_a_mailbox(quire: Quire, tree: Path, mailbox: Path) -> None:
    found = report(quire, "--source", str(tree), "--series", str(mailbox))
    sides, series = found["sides"], found["series"]
    assert isinstance(sides, dict) and isinstance(series, dict)
    assert sides["b"]["label"] == "topic.mbox"
    assert len(series["patches"]) == 2
    (patched,) = quire.build.glob("tree/*/linux")
    text = (patched / "mm/mremap.c").read_text()
    assert "run 8\n" in text and "run 20\n" in text


@pytest.mark.parametrize("kind", ["directory", "quilt", "one patch"])
def test_other_forms_of_a_series(quire: Quire, tree: Path, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.patch").write_text(line_patch("mm: move runs", 8, "run 8").partition("---\n")[2])
    (folder / "b.patch").write_text(line_patch("mm: move more", 20, "run 20"))
    if kind == "quilt":
        (folder / "series").write_text("b.patch\n")
    path = folder / "a.patch" if kind == "one patch" else folder
    found = report(quire, "--source", str(tree), "--series", str(path))["series"]
    assert isinstance(found, dict)
    names = [patch["name"] for patch in found["patches"]]
    assert names == {"directory": ["a.patch", "b.patch"], "quilt": ["b.patch"]}.get(kind, names)


def fails(quire: Quire, *words: str, status: int = 2) -> str:
    """The error of a bench, which must fail."""
    done = quire("bench", *WHERE, *words)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_revision_that_does_not_exist(quire: Quire, clone: Path) -> None:
    said = fails(quire, "--git", str(clone), "--a", "v6.12.117", "--b", "topik")
    assert "no revision 'topik'" in said
    assert not list(quire.build.glob("tree/*"))


def test_a_mailbox_that_is_none(quire: Quire, tree: Path, tmp_path: Path) -> None:
    path = tmp_path / "letter.mbox"
    path.write_text("Dear list,\n\nplease find no patch here.\n")
    assert "contains no patches" in fails(quire, "--source", str(tree), "--series", str(path))


def test_a_series_that_does_not_apply(quire: Quire, tree: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.patch"
    path.write_text(line_patch("mm: move runs", 8, "run 8").replace(" line 7\n", " line seven\n"))
    said = fails(quire, "--source", str(tree), "--series", str(path))
    assert "0001 of bad.patch does not apply" in said
    assert "mm/mremap.c, hunk 1 (line 5)" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--a", "x"), "side B is missing"),
        (("--a", "v7.3", "--b", "topic"), "--git DIR"),
        (("--git", "TREE", "--a", "x", "--b", "y"), "not a git repository"),
        (("--git", "."), "there is no revision"),
        (("--b", "x", "--series", "y"), "give only one of them"),
        (("--b", "x", "--only", "mremap"), "omit it"),
        (("--series", "nowhere.mbox", "--source", "TREE"), "the series does not exist"),
    ],
)
def test_contradictions(quire: Quire, tree: Path, words: tuple[str, ...], said: str) -> None:
    assert said in fails(quire, *(str(tree) if word == "TREE" else word for word in words))


def test_a_foreign_series_must_pass_what_side_a_passes(
    quire: Quire, tree: Path, mailbox: Path
) -> None:
    words = ("test", "ARCH=arm64", "--source", str(tree), "--series", str(mailbox))
    done = quire.passes(*words)
    assert "arm64 stock 6.12.117: 2 pass" in done.stdout
    assert "arm64 topic.mbox 6.12.117: 2 pass" in done.stdout
    same = quire.passes(*words, FAKE_QEMU="wrong")
    assert "also fails on stock" in same.stdout
    worse = quire(*words, FAKE_QEMU="worse")
    assert worse.returncode == 1, worse.stdout
    assert "topic.mbox: fake.bad" in worse.stderr
