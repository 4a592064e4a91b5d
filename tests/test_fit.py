# SPDX-License-Identifier: GPL-2.0
"""What fits a tree: by topic, by list, and why not."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, Quire, line_patch, make_tree, said, snapshot

from quire.source import fit, line, series
from quire.source.version import parse

FOLDER = "patches/linux-6.12.y"


@pytest.fixture
def vendor(quire: Quire) -> Quire:
    """A project that has a list for older versions, one for a vendor, and swapout as a topic."""
    folder = quire.project / FOLDER
    (folder / "swapout").mkdir()
    (folder / "swapout/0001-mm-swap.patch").write_text(line_patch("mm: swap", 14, "swap 14"))
    (folder / "series").write_text((folder / "series").read_text() + "swapout/0001-mm-swap.patch\n")
    old = folder / "mremap@6.12.50"
    old.mkdir()
    text = line_patch("mm: move more", 20, "run 20").replace(" line 18\n", " old 18\n")
    (old / "0002-mm-move-more.patch").write_text(text)
    names = "mremap/0001-mm-move-runs.patch\nmremap@6.12.50/0002-mm-move-more.patch\n"
    names += "ksm/0001-ksm-look-less.patch\nswapout/0001-mm-swap.patch\n"
    (folder / "zap").mkdir()
    (folder / "zap/0001-zap.patch").write_text(line_patch("zap", 36, "zap 36"))
    (folder / "series").write_text((folder / "series").read_text() + "zap/0001-zap.patch\n")
    (folder / "series.old").write_text(f"# versions: 6.12.50-6.12.90\n{names}")
    (folder / "series.vendor").write_text(
        f"# versions: 6.12.50-\n# trees: include/hook.h\n{names}".replace("@6.12.50", "")
    )
    return quire


def older(directory: Path, version: str = "6.12.60") -> Path:
    """A tree in which line 18 is another one."""
    tree = make_tree(directory, version)
    source = tree / "mm/mremap.c"
    source.write_text(source.read_text().replace("line 18\n", "old 18\n"))
    return tree


def test_all_fits(quire: Quire, tree: Path) -> None:
    before = snapshot(tree)
    done = quire.passes("fit", str(tree))
    assert f"Linux 6.12.117 in {tree}: series (for 6.12.100-)" in done.stdout
    assert "fits          mremap: 2 patches\nfits          ksm: 1 patch\n" in done.stdout
    assert snapshot(tree) == before


def test_what_a_tree_has_instead(quire: Quire, tree: Path) -> None:
    (quire.project / "lines/6.12/moved.toml").write_text(
        '[[moved]]\nfile = "mm/mremap.c"\nline = "line eighteen"\nsince = "6.13"\n'
        'title = "mm: write numbers"\n'
    )
    source = tree / "mm/mremap.c"
    source.write_text(source.read_text().replace("line 18\n", "line eighteen\n"))
    done = quire("fit", str(tree))
    assert done.returncode == 1
    assert "fits          ksm" in done.stdout
    lines = done.stdout.splitlines()
    at = lines.index("does not fit  mremap: mremap/0002-mm-move-more.patch")
    assert lines[at + 1].strip().startswith("mm/mremap.c, hunk 1 (line 17)")
    assert [line.strip() for line in lines[at + 2 : at + 5]] == [
        "-line 18",
        "+line eighteen",
        "upstream: mm: write numbers (6.13)",
    ]


def test_a_topic_that_is_not_one_of_the_four(quire: Quire, tree: Path) -> None:
    file = quire.project / FOLDER / "series"
    folder = quire.project / FOLDER
    (folder / "zap").mkdir()
    (folder / "zap/0001-zap.patch").write_text(line_patch("zap", 38, "x").replace("line 37", "y"))
    file.write_text(file.read_text() + "zap/0001-zap.patch\n")
    done = quire.passes("fit", str(tree))
    assert "does not fit  zap: zap/0001-zap.patch" in done.stdout


def test_the_list_of_a_version(vendor: Quire, tmp_path: Path) -> None:
    done = vendor.passes("fit", "--json", str(older(tmp_path / "old")))
    (told,) = json.loads(done.stdout)["trees"]
    assert (told["list"], told["listed"], told["missing"]) == ("series.old", True, [])
    (mremap,) = [each for each in told["topics"] if each["name"] == "mremap"]
    assert mremap["variants"] == ["6.12.50"]
    # The list has no zap, which fits from another one.
    (zap,) = [each for each in told["topics"] if each["name"] == "zap"]
    assert (zap["fits"], zap["listed"], "misfit" in zap) == (False, False, False)


def test_json_is_as_described(vendor: Quire, tmp_path: Path) -> None:
    tree = older(tmp_path / "old", "6.12.117")
    done = vendor("fit", "--json", str(tree))
    assert done.returncode == 1
    described = json.loads((ROOT / "docs/schema/fit.json").read_text())
    jsonschema.validate(json.loads(done.stdout), described)


def test_a_version_between(vendor: Quire, tmp_path: Path) -> None:
    """No list is for 6.12.95: that of which most fits is told and applied."""
    tree = older(tmp_path / "between", "6.12.95")
    done = vendor.passes("fit", str(tree))
    assert "not tried here; most fits of series.old" in done.stdout
    done = vendor.passes("apply", str(tree))
    assert "not tried here" in done.stdout
    assert "run 20" in (tree / "mm/mremap.c").read_text()


def test_a_vendors_tree(vendor: Quire, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "vendor", "6.12.60")
    (tree / "include/hook.h").write_text("")
    done = vendor.passes("fit", str(tree))
    assert "series.vendor" in done.stdout
    # Nobody else gets this list.
    found = series.select(vendor.project / FOLDER, parse("6.12.60"))
    assert found.file.name == "series.old"


def test_apply_leaves_out_what_does_not_fit(quire: Quire, tree: Path) -> None:
    source = tree / "mm/mremap.c"
    source.write_text(source.read_text().replace("line 19\n", "line nineteen\n"))
    done = quire("apply", str(tree))
    assert done.returncode == 1
    assert "left out mremap: mremap/0002-mm-move-more.patch: mm/mremap.c, hunk 1" in done.stdout
    assert "quire test --kernel DIR" in done.stdout
    text = source.read_text()
    assert ("ksm 30" in text, "run 8" in text) == (True, False)
    after = snapshot(tree)
    assert quire("apply", str(tree)).returncode == 1
    assert snapshot(tree) == after


def test_apply_refuses_a_topic_that_is_named(quire: Quire, tree: Path) -> None:
    source = tree / "mm/mremap.c"
    source.write_text(source.read_text().replace("line 19\n", "line nineteen\n"))
    before = snapshot(tree)
    done = quire("apply", "--only", "mremap", str(tree))
    said(done, 2, "mremap/0002-mm-move-more.patch does not apply", "the tree is unchanged")
    assert snapshot(tree) == before


def test_corrections_are_tried_one_by_one(quire: Quire, tree: Path) -> None:
    file = quire.project / FOLDER / "series"
    file.write_text("# fixes: mremap\n" + file.read_text())
    source = tree / "mm/mremap.c"
    source.write_text(source.read_text().replace("line 19\n", "line nineteen\n"))
    done = quire("fit", str(tree))
    assert "does not fit  mremap/mm-move-more" in done.stdout
    assert "fits          corrections: 1 of 2" in done.stdout


def test_a_correction_on_top_of_another(project: Path, tree: Path) -> None:
    """They are independent of topics; one may have another one's lines as context."""
    folder = project / FOLDER
    second = line_patch("mm: move more", 10, "run 10").replace(" line 8\n", " run 8\n")
    (folder / "mremap/0002-mm-move-more.patch").write_text(second)
    file = folder / "series"
    file.write_text("# fixes: mremap\n" + file.read_text())
    found = fit.of_tree(tree, parse("6.12.117"), line.named(project, "6.12"))
    assert [part.fits for part in found.parts] == [True, True, True]
    assert len(found.union().patches) == 3


def test_topics_that_do_not_fit_together(project: Path, tree: Path) -> None:
    folder = project / FOLDER
    (folder / "ksm/0001-ksm-look-less.patch").write_text(line_patch("ksm: look less", 9, "ksm 9"))
    found = fit.of_tree(tree, parse("6.12.117"), line.named(project, "6.12"))
    assert found.topics == ["mremap"]
    assert found.main == ["ksm"]


def test_a_hunk_that_would_change_another_function(quire: Quire, tree: Path) -> None:
    """The lines that it is for have moved, and others like them are nearer."""
    source = tree / "mm/mremap.c"
    lines = source.read_text().splitlines(True)
    other = ["static int other(void)\n", *lines[25:35]]
    source.write_text("".join(["static int move(void)\n", *lines, "\n" * 10, *other]))
    quire.passes("fit", str(tree))
    source.write_text("".join([*["\n"] * 8, *other, "static int move(void)\n", "\n" * 90, *lines]))
    done = quire("fit", str(tree))
    assert "would change static int other(void)" in done.stdout
    assert done.returncode == 1


def test_a_file_that_is_missing(quire: Quire, tree: Path) -> None:
    (tree / "mm/mremap.c").unlink()
    done = quire("fit", str(tree))
    assert done.returncode == 1
    assert "No such file or directory; no similar lines here" in done.stdout
    said(quire("apply", str(tree)), 2, "0001-mm-move-runs.patch does not apply", "No such file")


def test_revisions_of_a_repository(vendor: Quire, tmp_path: Path) -> None:
    tree = older(tmp_path / "repository", "6.12.60")

    def git(*words: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *words], cwd=tree, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "6.12.60")
    shutil.rmtree(tree / "mm")
    newer = make_tree(tmp_path / "newer", "6.12.117")
    shutil.copytree(newer, tree, dirs_exist_ok=True)
    git("add", "-A")
    git("commit", "-q", "-m", "6.12.117")
    git("commit", "-q", "--allow-empty", "-m", "more")
    done = vendor.passes("fit", "--git", str(tree), "--versions", "--json")
    told = json.loads(done.stdout)["trees"]
    assert [each["version"] for each in told] == ["6.12.60", "6.12.117"]
    assert len(told[0]["commit"]) == 40
    done = vendor.passes("fit", "--git", str(tree), "HEAD")
    assert "Linux 6.12.117 in repository HEAD" in done.stdout
    said(vendor("fit", "--git", str(tree), "gone"), 2, "has no commit gone")


def test_nothing_is_named(quire: Quire) -> None:
    said(quire("fit"), 2, "no tree is named")


def test_our_own_upstream_commits() -> None:
    for each in line.known(ROOT):
        fit.read_moved(each.file("moved"))
