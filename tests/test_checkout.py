# SPDX-License-Identifier: GPL-2.0
"""tree and export: a series becomes commits, and the export reproduces it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import Quire, make_tree, said, snapshot


def git(directory: Path, *words: str) -> str:
    """Run git as a developer with an identity."""
    names = {
        f"GIT_{role}_{what}": "dev@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", *words],
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **names, "GIT_EDITOR": "true"},
    )
    return done.stdout.strip()


@pytest.fixture
def work(quire: Quire, tree: Path, tmp_path: Path) -> Path:
    """A checkout of the fake series, whose patches have the form that export writes."""
    directory = tmp_path / "work"
    quire.passes("tree", "6.12", str(directory), "--source", str(tree))
    quire.passes("export", str(directory))
    return directory


def patches(quire: Quire) -> Path:
    return quire.project / "patches/linux-6.12.y"


def need(quire: Quire, *lines: str) -> None:
    """Add needs to the series file."""
    file = patches(quire) / "series"
    file.write_text("".join(f"# needs: {line}\n" for line in lines) + file.read_text())


def test_the_base_first_then_a_commit_for_each_patch(work: Path) -> None:
    subjects = git(work, "log", "--reverse", "--format=%s").splitlines()
    assert subjects == ["Linux 6.12.117", "mm: move runs", "mm: move more", "ksm: look less"]


def test_an_unchanged_series_does_not_change(
    quire: Quire, tree: Path, work: Path, tmp_path: Path
) -> None:
    before = snapshot(patches(quire))
    again = tmp_path / "again"
    quire.passes("tree", "6.12", str(again), "--source", str(tree))
    assert git(again, "rev-parse", "HEAD") == git(work, "rev-parse", "HEAD")
    done = quire("export", str(again))
    assert "0 files changed" in done.stdout
    assert snapshot(patches(quire)) == before
    text = before["mremap/0001-mm-move-runs.patch"].decode()
    assert text.startswith("From 0000000000000000000000000000000000000000 ")
    assert "\nindex " not in text
    assert "\n-- \n" not in text


def test_an_amended_patch_changes_alone(quire: Quire, work: Path) -> None:
    before = snapshot(patches(quire))
    (work / "mm/mremap.c").write_text(
        (work / "mm/mremap.c").read_text().replace("ksm 30", "ksm thirty")
    )
    git(work, "commit", "-a", "--amend", "--no-edit")
    quire.passes("export", str(work))
    after = snapshot(patches(quire))
    assert {name for name in after if before.get(name) != after[name]} == {
        "ksm/0001-ksm-look-less.patch"
    }


def test_a_new_commit_follows_its_neighbour(quire: Quire, work: Path) -> None:
    (work / "mm/new.c").write_text("int x;\n")
    git(work, "add", "mm/new.c")
    git(work, "commit", "-m", "ksm: and more")
    quire.passes("export", str(work))
    names = (patches(quire) / "series").read_text().splitlines()
    assert names[-1] == "ksm/0002-ksm-and-more.patch"


def test_a_trailer_names_the_topic(quire: Quire, work: Path) -> None:
    (work / "mm/new.c").write_text("int x;\n")
    git(work, "add", "mm/new.c")
    git(work, "commit", "-m", "mm: swap out runs\n\nBecause.\n\nQuire-topic: swapout")
    quire.passes("export", str(work))
    text = (patches(quire) / "swapout/0001-mm-swap-out-runs.patch").read_text()
    assert "Quire-topic" not in text
    assert "\n\nBecause.\n---\n" in text


def test_a_variants_patch_keeps_its_number(quire: Quire, tree: Path, tmp_path: Path) -> None:
    """The variant's folder has only some of the topic's patches."""
    folder = patches(quire)
    (folder / "mremap@new").mkdir()
    (folder / "mremap/0002-mm-move-more.patch").rename(
        folder / "mremap@new/0002-mm-move-more.patch"
    )
    text = (folder / "series").read_text()
    (folder / "series").write_text(text.replace("mremap/0002", "mremap@new/0002"))
    directory = tmp_path / "work"
    quire.passes("tree", "6.12", str(directory), "--source", str(tree))
    quire.passes("export", str(directory))
    assert [p.name for p in (folder / "mremap@new").iterdir()] == ["0002-mm-move-more.patch"]
    assert "[PATCH 2/2]" in (folder / "mremap@new/0002-mm-move-more.patch").read_text()


def test_a_list_without_some_patches_keeps_numbers(quire: Quire, tmp_path: Path) -> None:
    """Its files are those of the main list, whose numbers they have."""
    folder = patches(quire)
    (folder / "series.old").write_text(
        "# versions: 6.12.50-6.12.99\nmremap/0002-mm-move-more.patch\n"
    )
    before = snapshot(folder)
    tree = make_tree(tmp_path / "old", "6.12.60")
    directory = tmp_path / "work"
    quire.passes("tree", "6.12", str(directory), "--source", str(tree))
    quire.passes("export", str(directory))
    after = snapshot(folder)
    assert before.keys() == after.keys()
    assert before["series.old"] == after["series.old"]
    assert b"[PATCH] mm: move more" in after["mremap/0002-mm-move-more.patch"]


def test_a_dropped_patch_goes(quire: Quire, work: Path) -> None:
    git(work, "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
    quire.passes("export", str(work))
    assert [p.name for p in (patches(quire) / "mremap").iterdir()] == ["0001-mm-move-runs.patch"]
    series = (patches(quire) / "series").read_text()
    assert "0002" not in series
    # Comments keep their place.
    assert series.splitlines()[:2] == [
        "# SPDX-License-Identifier: GPL-2.0",
        "# versions: 6.12.100-",
    ]
    assert series.index("# the other one") < series.index("ksm/0001")


def test_a_need_keeps_its_patch_under_another_number_and_subject(quire: Quire, work: Path) -> None:
    need(quire, "ksm mremap/mm-move-more: text")
    git(work, "checkout", "-q", "HEAD~1")
    git(work, "commit", "-q", "--amend", "-m", "mm: move even more")
    git(work, "cherry-pick", "quire")
    git(work, "rebase", "-q", "--onto", "HEAD~3", "HEAD~2")
    quire.passes("export", str(work))
    lines = (patches(quire) / "series").read_text().splitlines()
    assert lines[0] == "# needs: ksm mremap/mm-move-even-more: text"
    assert "mremap/0001-mm-move-even-more.patch" in lines


def test_a_need_of_a_patch_that_is_gone(quire: Quire, work: Path) -> None:
    need(quire, "ksm mremap/mm-move-more: text")
    before = snapshot(patches(quire))
    git(work, "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
    done = quire("export", str(work))
    said(done, 2, "names mremap/mm-move-more", "series:1: # needs: ksm mremap/mm-move-more: text")
    assert snapshot(patches(quire)) == before


def test_a_part_of_the_series_is_not_exported(quire: Quire, tree: Path, tmp_path: Path) -> None:
    part, before = tmp_path / "part", snapshot(patches(quire))
    quire.passes("tree", "6.12", str(part), "--source", str(tree), "--only", "ksm")
    said(quire("export", str(part)), 2, "has only ksm")
    assert snapshot(patches(quire)) == before


def test_a_cover_letter_lists_the_commits_that_are_there(quire: Quire, work: Path) -> None:
    cover = patches(quire) / "mremap/0000-cover-letter.patch"
    head = "Subject: [PATCH 0/{}] mremap\n\nMoves (3): runs.\n\n"
    listed = "dev (7):\n  mm: gone\n\n mm/gone.c | 2 +-\n 1 file changed\n"
    cover.write_text(head.format(7) + listed)
    git(work, "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
    quire.passes("export", str(work))
    text = cover.read_text()
    assert text.startswith(head.format(1))
    assert "(1):\n  mm: move runs\n\n mm/mremap.c | 2 +-\n 1 file changed" in text
    assert "gone" not in text


def test_a_cover_letter_without_a_list_keeps_its_text(quire: Quire, work: Path) -> None:
    cover = patches(quire) / "mremap/0000-cover-letter.patch"
    cover.write_text("Subject: [PATCH 0/2] mremap\n\nMoves (2):\n")
    quire.passes("export", str(work))
    assert cover.read_text() == "Subject: [PATCH 0/2] mremap\n\nMoves (2):\n"


def test_checkouts_that_are_refused(quire: Quire, tree: Path, work: Path, tmp_path: Path) -> None:
    before, other = snapshot(patches(quire)), tmp_path / "other"
    (work / "Kbuild").write_text("changed\n")
    said(quire("export", str(work)), 2, "has uncommitted changes")
    other.mkdir()
    git(other, "init", "-q")
    said(quire("export", str(other)), 2, "quire tree did not create")
    assert snapshot(patches(quire)) == before
    said(quire("tree", "6.12", str(work), "--source", str(tree)), 2, "is not empty")
    assert (work / ".git").is_dir()


def test_a_patch_that_is_no_mail_is_refused_and_nothing_stays(
    quire: Quire, tree: Path, tmp_path: Path
) -> None:
    path = patches(quire) / "ksm/0001-ksm-look-less.patch"
    text = path.read_text()
    path.write_text(text[text.index("diff --git") :])
    said(
        quire("tree", "6.12", str(tmp_path / "work"), "--source", str(tree)),
        2,
        "ksm/0001-ksm-look-less.patch does not apply as mail",
    )
    assert not (tmp_path / "work").exists()
