# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, line_patch

from quire.host.errors import UserError
from quire.source import series
from quire.source.patch import Patch
from quire.source.version import Version, parse


def names(one: series.Series) -> list[str]:
    return [patch.name for patch in one.patches]


def test_quilt_order_and_comments(project: Path) -> None:
    found = series.select(project / "patches/linux-6.12.y", parse("6.12.117"))
    assert names(found) == [
        "mremap/0001-mm-move-runs.patch",
        "mremap/0002-mm-move-more.patch",
        "ksm/0001-ksm-look-less.patch",
    ]
    assert found.topics == ["mremap", "ksm"]


def test_a_variant_is_chosen_by_version(project: Path) -> None:
    folder = project / "patches/linux-6.12.y"
    (folder / "series.old").write_text(
        "# versions: 6.12.50-6.12.99\nksm/0001-ksm-look-less.patch\n"
    )
    assert len(names(series.select(project / "patches/linux-6.12.y", parse("6.12.100")))) == 3
    assert len(names(series.select(project / "patches/linux-6.12.y", parse("6.12.99")))) == 1
    with pytest.raises(UserError, match=r"no series is for Linux 6\.12\.49"):
        series.select(project / "patches/linux-6.12.y", parse("6.12.49"))
    (folder / "series.older").write_text("# versions: -6.12.50\n")
    with pytest.raises(UserError, match="more than one series"):
        series.select(project / "patches/linux-6.12.y", parse("6.12.50"))


def test_one_topic_brings_what_it_needs(project: Path) -> None:
    file = project / "patches/linux-6.12.y/series"
    assert names(series.read(file).only(["ksm"])) == ["ksm/0001-ksm-look-less.patch"]
    file.write_text(file.read_text() + "# needs: ksm mremap\n")
    assert len(names(series.read(file).only(["ksm"]))) == 3
    with pytest.raises(UserError, match="no topic nothing"):
        series.read(file).only(["nothing"])


def test_a_need_names_a_patch_and_says_why(project: Path) -> None:
    file = project / "patches/linux-6.12.y/series"
    file.write_text("# needs: ksm mremap/mm-move-more: 4 of 16 pages: lost\n" + file.read_text())
    found = series.read(file)
    need = series.Need("ksm", "mremap/mm-move-more", "4 of 16 pages: lost")
    assert found.needs == (need,)
    first, second = found.reasons(["ksm"]).items()
    assert (first[0].name, first[1]) == ("mremap/0002-mm-move-more.patch", (need,))
    assert (second[0].name, second[1]) == ("ksm/0001-ksm-look-less.patch", ())
    # Without mremap, what ksm needs of it stays.
    assert [names(rest) for rest in found.without().values()] == [
        ["mremap/0002-mm-move-more.patch", "ksm/0001-ksm-look-less.patch"],
        ["mremap/0001-mm-move-runs.patch", "mremap/0002-mm-move-more.patch"],
    ]
    # Of mremap, there is only what ksm needs.
    part = found.only(["ksm"])
    assert [*part.alone()] == ["ksm"]
    assert part.alone()["ksm"].patches == part.patches
    assert [len(each.patches) for each in found.alone().values()] == [2, 2]


def test_needs_of_what_is_needed(project: Path) -> None:
    """A topic brings what it needs, a single patch what that patch needs."""
    folder = project / "patches/linux-6.12.y"
    folders = {"base": "abc", "mid": "de", "top": "f"}
    files = [f"{t}/{n:04d}-{s}" for t, letters in folders.items() for n, s in enumerate(letters, 1)]
    for name in files:
        (folder / f"{name}.patch").parent.mkdir(exist_ok=True)
        (folder / f"{name}.patch").write_text(line_patch(name, 8, "new"))
    needs = ["mid base/b: x", "mid/e base/a: y", "base/c base/b: z"]

    def chosen(*more: str) -> list[str]:
        lines = [f"# needs: {need}" for need in (*needs, *more)]
        lines += [f"{name}.patch" for name in files]
        (folder / "series").write_text("\n".join(lines))
        found = series.read(folder / "series").only(["top"])
        return [name.removesuffix(".patch") for name in names(found)]

    assert chosen() == ["top/0001-f"]
    assert chosen("top mid/d: w") == ["mid/0001-d", "top/0001-f"]
    assert chosen("top mid/e: w") == ["base/0001-a", "mid/0002-e", "top/0001-f"]
    assert chosen("top mid") == [*files[:2], *files[3:]]
    assert chosen("top base/c: w") == [*files[1:3], "top/0001-f"]


@pytest.mark.parametrize(
    ("need", "what", "remedy"),
    [
        ("ksm", "a need without a name", "write `# needs:"),
        ("ksm mremap/mm-move-mor: text", "there is no such patch or topic", "mremap/mm-move-more?"),
        ("swapout mremap", "names swapout", "name a patch by its file"),
        ("ksm ksm/ksm-look-less: text", "a part of itself", "remove it"),
        ("mremap/mm-move-runs mremap", "a part of itself", "remove it"),
        ("mremap ksm", "needs ksm, which comes after it", "list ksm before mremap"),
        ("mremap/mm-move-runs mremap/mm-move-more: x", "comes after it", "list mremap/mm-move-m"),
        ("ksm mremap/mm-move-more", "without a reason", "add `: text`"),
    ],
)
def test_a_need_that_is_wrong(project: Path, need: str, what: str, remedy: str) -> None:
    file = project / "patches/linux-6.12.y/series"
    file.write_text(f"# first\n# needs: {need}\n" + file.read_text())
    with pytest.raises(UserError, match=what) as caught:
        series.read(file)
    assert caught.value.where.startswith(f"{file}:2")
    assert remedy in caught.value.remedy


def test_the_topics_that_fix_the_base(project: Path) -> None:
    file = project / "patches/linux-6.12.y/series"
    assert names(series.read(file).fixing()) == []
    file.write_text(file.read_text() + "# fixes: ksm other\n")
    found = series.read(file)
    assert names(found.fixing()) == ["ksm/0001-ksm-look-less.patch"]
    assert names(found.only(["mremap"]).fixing()) == []


def test_the_key_follows_the_diff_not_the_message(project: Path) -> None:
    """A changed comma in a message need not rebuild a kernel."""
    file = project / "patches/linux-6.12.y/series"
    patch = project / "patches/linux-6.12.y/ksm/0001-ksm-look-less.patch"
    before = series.read(file).key()
    patch.write_text(patch.read_text().replace("look less", "look at less", 1))
    assert series.read(file).key() == before
    patch.write_text(patch.read_text().replace("+ksm 30", "+ksm thirty"))
    assert series.read(file).key() != before


def test_the_key_follows_contents_and_order(project: Path) -> None:
    file = project / "patches/linux-6.12.y/series"
    before = series.read(file).key()
    file.write_text(file.read_text() + "# a comment\n")
    assert series.read(file).key() == before
    file.write_text("\n".join(reversed(file.read_text().splitlines())))
    assert series.read(file).key() != before


def test_a_patch_knows_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "0001-x.patch"
    path.write_text(line_patch("mm: a subject that is\n folded", 8, "new"))
    patch = Patch("mremap/0001-x.patch", path)
    assert patch.subject() == "mm: a subject that is folded"
    assert patch.folder == "mremap"
    assert patch.files() == ["mm/mremap.c"]
    hunk = "mm/mremap.c, hunk 1 (line 5): static int move(void)"
    assert patch.hunk_at("mm/mremap.c", 5) == hunk
    assert patch.hunk_at("mm/mremap.c", 6) == "mm/mremap.c, line 6"


def test_new_and_deleted_files_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "x.patch"
    path.write_text(
        "--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+x\n--- a/mm/old.c\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n--- minus a dash\ndiff --git a/mm/a.c b/mm/b.c\nsimilarity index 100%\n"
        "rename from mm/a.c\nrename to mm/b.c\ndiff --git a/mm/x.sh b/mm/x.sh\nold mode 100644\n"
        "new mode 100755\ndiff --git a/mm/e.c b/mm/e.c\nnew file mode 100644\nindex 0000..e69d\n"
        "diff --git a/mm/x.bin b/mm/x.bin\nindex 12..34 100644\nGIT binary patch\nliteral 1\n"
        "Ic${NkU|;|M00aO6\n\n"
    )
    names = ["a.c", "b.c", "e.c", "new.c", "old.c", "x.bin", "x.sh"]
    assert Patch("x.patch", path).files() == [f"mm/{name}" for name in names]
    path.write_text("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-one line\n")
    with pytest.raises(UserError, match=r"patch x\.patch is malformed"):
        Patch("x.patch", path).files()


def test_our_own_series_can_be_read() -> None:
    """Every variant in the project parses, and no two apply to the same version."""
    for folder in sorted((ROOT / "patches").glob("linux-*.y")):
        line = folder.name.removeprefix("linux-").removesuffix(".y")
        variants = series.variants(folder)
        major, minor = map(int, line.split("."))
        for patch in range(400):
            for trees in {variant.trees for variant in variants}:
                these = [v for v in variants if v.trees == trees]
                assert sum(Version(major, minor, patch) in v.versions for v in these) <= 1


@pytest.mark.skipif(not shutil.which("quilt"), reason="quilt is not installed")
def test_quilt_reads_it_alike(project: Path, tree: Path) -> None:
    folder = project / "patches/linux-6.12.y"
    done = subprocess.run(
        ["quilt", "series"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
        env={"QUILT_PATCHES": str(folder), "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout.split() == names(series.read(folder / "series"))


def test_a_variants_folder_belongs_to_its_topic(tmp_path: Path) -> None:
    folder = tmp_path / "lazyfree@6.12.94"
    folder.mkdir()
    (folder / "0001-a.patch").write_text("")
    (tmp_path / "series.old").write_text("lazyfree@6.12.94/0001-a.patch\n")
    found = series.read(tmp_path / "series.old")
    assert found.topics == ["lazyfree"]
    assert len(names(found.only(["lazyfree"]))) == 1
