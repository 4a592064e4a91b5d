# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from conftest import Quire, line_patch, patch_text, snapshot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.host.errors import UserError
from quire.source import series
from quire.source.apply import apply_series, write


def test_twice_is_harmless(project: Path, tree: Path) -> None:
    chosen = series.read(project / "patches/linux-6.12.y/series")
    first = apply_series(tree, chosen)
    after = snapshot(tree)
    second = apply_series(tree, chosen)
    assert first.written == ("mm/mremap.c",)
    assert first.already == ()
    assert second.written == ()
    assert len(second.already) == 3
    assert snapshot(tree) == after


def test_twice_is_harmless_where_a_variant_shares_patches(project: Path, tree: Path) -> None:
    """The variant's own patch is between two shared patches."""
    folder = project / "patches/linux-6.12.y"
    context = ["line 7", "run 8", "line 9", "line 11", "line 12", "line 13"]
    mails = {
        "shared/0001-a.patch": line_patch("mm: a", 30, "run 30"),
        "shared@old/0002-b.patch": line_patch("mm: b", 8, "run 8"),
        "shared/0003-c.patch": patch_text("mm: c", "line 10", "run 10", 10, context),
    }
    for name, mail in mails.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(mail)
    (folder / "series.old").write_text("\n".join(mails) + "\n")
    chosen = series.read(folder / "series.old")
    apply_series(tree, chosen)
    after = snapshot(tree)
    assert len(apply_series(tree, chosen).already) == 3
    assert snapshot(tree) == after


@pytest.mark.parametrize("first", [("mremap",), ("ksm",), ("ksm", "mremap")])
def test_any_order_of_topics_gives_one_tree(
    project: Path, tree: Path, first: tuple[str, ...]
) -> None:
    chosen = series.read(project / "patches/linux-6.12.y/series")
    for name in first:
        apply_series(tree, chosen.only([name]))
    apply_series(tree, chosen)
    text = (tree / "mm/mremap.c").read_text()
    assert [text.count(new) for new in ("run 8", "run 20", "ksm 30")] == [1, 1, 1]


def test_a_part_of_a_topic_and_then_the_topic(project: Path, tree: Path) -> None:
    """What ksm needs of mremap is under mremap's other patch in the end, in any order."""
    file = project / "patches/linux-6.12.y/series"
    file.write_text("# needs: ksm mremap/mm-move-runs: text\n" + file.read_text())
    whole = series.read(file)
    apply_series(tree, whole.only(["ksm"]), whole)
    done = apply_series(tree, whole.only(["mremap"]), whole)
    assert done.already == ("mremap/0001-mm-move-runs.patch",)
    after = snapshot(tree)
    assert apply_series(tree, whole.only(["ksm"]), whole).written == ()
    assert len(apply_series(tree, whole).already) == 3
    assert snapshot(tree) == after


def test_a_dry_run_says_why(quire: Quire, tree: Path) -> None:
    file = quire.project / "patches/linux-6.12.y/series"
    file.write_text("# needs: ksm mremap/mm-move-runs: pages are lost\n" + file.read_text())
    done = quire.passes("apply", "--only", "ksm", "--dry-run", str(tree))
    lines = done.stdout.splitlines()
    assert lines[::2] == [
        "# needed by ksm: pages are lost",
        "# own",
        "# 2 patches: 1 of ksm, 1 needed",
    ]
    assert lines[1].endswith("mremap/0001-mm-move-runs.patch")


def test_a_tree_inside_another_repository(project: Path, tree: Path) -> None:
    """git would resolve paths from the outer repository's root, and silently do nothing."""
    (tree.parent / ".git").mkdir()
    (tree.parent / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (tree.parent / ".git" / name).mkdir()
    chosen = series.read(project / "patches/linux-6.12.y/series")
    assert apply_series(tree, chosen).written == ("mm/mremap.c",)


def test_a_write_that_fails_writes_nothing(tree: Path) -> None:
    before = snapshot(tree)
    (tree / "blocked").write_text("a file where a directory is needed")
    with pytest.raises(OSError, match="blocked"):
        write(tree, {"mm/mremap.c": b"new", "Kbuild": None, "blocked/x.c": b"new"})
    (tree / "blocked").unlink()
    assert snapshot(tree) == before


def test_modes_stay(tree: Path) -> None:
    script = tree / "scripts/kconfig/merge_config.sh"
    write(tree, {"scripts/kconfig/merge_config.sh": b"#!/bin/sh\n"})
    assert script.stat().st_mode & 0o111


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.integers(1, 40), min_size=1, max_size=4, unique=True))
def test_all_or_nothing(
    project: Path, tmp_path_factory: pytest.TempPathFactory, edits: list[int]
) -> None:
    """For any differing lines: either all patches apply, or the tree is unchanged."""
    tree = tmp_path_factory.mktemp("any")
    (tree / "mm").mkdir()
    lines = [f"line {n}\n" if n not in edits else f"edited {n}\n" for n in range(1, 41)]
    (tree / "mm/mremap.c").write_text("".join(lines))
    before = snapshot(tree)
    chosen = series.read(project / "patches/linux-6.12.y/series")
    near = {n for at in (8, 20, 30) for n in range(at - 3, at + 4)}
    if near.isdisjoint(edits):
        apply_series(tree, chosen)
        text = (tree / "mm/mremap.c").read_text()
        assert all(new in text for new in ("run 8", "run 20", "ksm 30"))
    else:
        with pytest.raises(UserError, match="does not apply") as caught:
            apply_series(tree, chosen)
        assert "hunk 1" in caught.value.where
        assert snapshot(tree) == before
    assert not list(itertools.chain(tree.rglob(".*.quire")))
