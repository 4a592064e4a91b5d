# SPDX-License-Identifier: GPL-2.0
"""A series that applies to no base exactly, merged by the blobs of its index lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SOURCE, Quire, line_patch, make_tree, said
from test_checkout import git
from test_flow import keep_workloads

# What the base has in place of a line beside the one that the series changes.
OTHER = "another\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the file that the series was written for."""
    path = make_tree(tmp_path / "theirs", "6.12.90")
    git(path, "init", "-q")
    git(path, "add", "-f", ".")
    git(path, "commit", "-q", "-m", "theirs")
    return path


@pytest.fixture
def words(quire: Quire, tree: Path, repository: Path, tmp_path: Path) -> tuple[str, ...]:
    """A report of a patch whose context the base lacks."""
    keep_workloads(quire.project, "mremap")
    concerns = '[[concern]]\nfiles = ["mm/mremap.c"]\nrows = ["mremap"]\nprograms = false\n'
    (quire.project / "guest/workloads/concerns.toml").write_text(concerns)
    (tree / "mm/mremap.c").write_text(SOURCE.replace("line 10\n", OTHER))
    blob = git(repository, "rev-parse", "HEAD:mm/mremap.c")
    text = line_patch("mm: move runs", 8, "run 8")
    series = tmp_path / "topic.mbox"
    index = f"index {blob[:12]}..{'1' * 12} 100644\n--- a/"
    series.write_text(text.replace("--- a/", index))
    return ("report", str(series), "--source", str(tree), "ARCH=arm64")


def test_merged(quire: Quire, words: tuple[str, ...], repository: Path) -> None:
    said(quire(*words), 2, "does not apply", "hunk 1")
    text = quire.passes(*words, "--git", str(repository)).stdout
    assert "\nSeries: mm: move runs\n" in text
    assert "\nMerged by git apply -3: mm: move runs\n" in text
    assert text.endswith("--source linux ARCH=arm64 --git theirs\n")
    (merged,) = quire.build.glob("tree/*/linux/mm/mremap.c")
    assert merged.read_text() == SOURCE.replace("line 10\n", OTHER).replace("line 8\n", "run 8\n")
    assert not list(quire.build.glob("merged/*/work"))


def test_a_patch_that_applies_is_not_merged(
    quire: Quire, words: tuple[str, ...], repository: Path, tree: Path
) -> None:
    (tree / "mm/mremap.c").write_text(SOURCE)
    text = quire.passes(*words, "--git", str(repository)).stdout
    assert "Merged" not in text
    assert not (quire.build / "merged").exists()


def test_a_conflict_is_named(
    quire: Quire, words: tuple[str, ...], repository: Path, tree: Path
) -> None:
    (tree / "mm/mremap.c").write_text(SOURCE.replace("line 8\n", OTHER))
    done = quire(*words, "--git", str(repository))
    said(done, 2, "cannot be merged", "mm: move runs", "conflict in mm/mremap.c")


def test_a_repository_without_the_blobs(
    quire: Quire, words: tuple[str, ...], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    said(quire(*words, "--git", str(empty)), 2, "cannot be merged", "lacks blobs that its index")
