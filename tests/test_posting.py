# SPDX-License-Identifier: GPL-2.0
"""export --post: the topics of a checkout as mails for the list."""

from __future__ import annotations

import email
import email.policy
from pathlib import Path

import pytest
from conftest import Quire, said
from test_checkout import git, need, patches

MAINTAINERS = """\
#!/usr/bin/perl
my $all = !grep { $_ eq '--nol' } @ARGV;
print "Jos\\xc3\\xa9 Example <jose\\@example.org>\\n";
print "Second Example <second\\@example.org>\\n" if $ARGV[-1] =~ /0002/;
print "linux-mm\\@example.org\\n" if $all;
"""
CHECKPATCH = """\
#!/usr/bin/perl
open my $mail, '<', $ARGV[-1];
while (<$mail>) {
	if (/too long/) { print "$ARGV[-1]:$.: WARNING:LONG: long\\n"; exit 1; }
}
"""
AUTHOR = ("--author", "Some Body <some@example.org>")


@pytest.fixture
def work(quire: Quire, tree: Path, tmp_path: Path) -> Path:
    """A checkout of the fake series with a cover letter, in a tree with the two scripts."""
    (tree / "scripts").mkdir(exist_ok=True)
    (tree / "scripts/get_maintainer.pl").write_text(MAINTAINERS)
    (tree / "scripts/checkpatch.pl").write_text(CHECKPATCH)
    (patches(quire) / "mremap/0000-cover-letter.patch").write_text(
        "From 0 Mon Sep 17 00:00:00 2001\nFrom: Quire <quire@invalid>\n"
        "Subject: [PATCH 0/2] mm: move runs\n\nWhy.\n"
    )
    directory = tmp_path / "work"
    quire.passes("tree", "6.12", str(directory), "--source", str(tree))
    return directory


def mail(path: Path) -> email.message.EmailMessage:
    """One of the files as a mail program reads it."""
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    assert isinstance(message, email.message.EmailMessage)
    return message


def test_mails_with_recipients_author_and_base(quire: Quire, work: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = quire.passes("export", str(work), "--post", str(out), *AUTHOR)
    assert "3 mails, 2 in To, 1 in Cc" in done.stdout
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*.patch"))
    assert names == [
        "ksm/0001-ksm-look-less.patch",
        "mremap/0000-cover-letter.patch",
        "mremap/0001-mm-move-runs.patch",
        "mremap/0002-mm-move-more.patch",
    ]
    first = mail(out / names[2])
    assert first["Subject"] == "[PATCH 1/2] mm: move runs"
    assert first["From"] == "Some Body <some@example.org>"
    # As b4 does, all mails go to all.
    assert first["To"] == "José Example <jose@example.org>, Second Example <second@example.org>"
    assert first["Cc"] == "linux-mm@example.org"
    text = (out / names[2]).read_text()
    assert text.count("Signed-off-by: Some Body <some@example.org>\n---\n") == 1
    base = git(work, "config", "quire.base")
    assert f"base-commit: {base}" in text
    cover = mail(out / names[1])
    assert (cover["To"], cover["From"]) == (first["To"], first["From"])
    assert "Signed-off-by" not in cover.get_content()


def test_a_topic_stands_on_the_base(quire: Quire, work: Path, tmp_path: Path) -> None:
    done = quire.passes("export", str(work), "--post", str(tmp_path / "out"), "--only", "ksm")
    assert "or use --author" in done.stdout
    assert not (tmp_path / "out/mremap").exists()
    text = (tmp_path / "out/ksm/0001-ksm-look-less.patch").read_text()
    assert "prerequisite-patch-id: " not in text
    assert "Signed-off-by: Some Body" not in text


def test_a_topic_is_posted_with_what_it_needs(quire: Quire, work: Path, tmp_path: Path) -> None:
    need(quire, "ksm mremap/mm-move-more: 4 of 16 pages are lost")
    (patches(quire) / "ksm/0000-cover-letter.patch").write_text(
        "Subject: [PATCH 0/1] ksm\n\nWhy.\n\nA (1):\n  ksm: look less\n\n mm/x | 2 +-\n"
    )
    quire.passes("export", str(work), "--post", str(tmp_path / "out"), "--only", "ksm")
    first, last = sorted((tmp_path / "out/ksm").glob("000[1-9]*"))
    assert (first.name, last.name) == ("0001-mm-move-more.patch", "0002-ksm-look-less.patch")
    assert mail(first)["Subject"] == "[PATCH 1/2] mm: move more"
    assert "A Developer" in mail(first)["From"]
    cover = (tmp_path / "out/ksm/0000-cover-letter.patch").read_text()
    assert "[PATCH 0/2] ksm" in cover
    assert "of other topics:\n\n  1: 4 of 16 pages are lost\n\nA Developer (2):\n" in cover
    before = git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", git(work, "config", "quire.base"))
    git(work, "am", "-q", str(first), str(last))
    text = (work / "mm/mremap.c").read_text()
    assert [new in text for new in ("run 8", "run 20", "ksm 30")] == [False, True, True]
    git(work, "checkout", "-q", before)
    git(work, "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
    done = quire("export", str(work), "--post", str(tmp_path / "new"), "--only", "ksm")
    said(done, 2, "no patch mremap/mm-move-more, which ksm needs")


GROUPS = """\
[[group]]
name = "runs"
subject = "mm: runs"
patches = ["mm-move-more", "mm-move-runs"]
cover = "Two of them."
"""


def test_a_topic_is_posted_in_groups(quire: Quire, work: Path, tmp_path: Path) -> None:
    file = patches(quire) / "mremap/groups.toml"
    file.write_text(GROUPS)
    done = quire.passes("export", str(work), "--post", str(tmp_path / "out"), "--only", "mremap")
    assert "mremap-runs: 3 mails" in done.stdout
    cover = (tmp_path / "out/mremap-runs/0000-cover-letter.patch").read_text()
    assert "[PATCH 0/2] mm: runs" in cover
    assert "\n\nTwo of them.\nA Developer (2):\n  mm: move" in cover
    for text, trouble in (
        (GROUPS.replace('"mm-move-more", ', ""), "mremap/mm-move-more is in no group"),
        (GROUPS.replace("move-more", "more"), "names mm-more but there is no such patch"),
        (GROUPS.replace("more", "runs"), "names mm-move-runs twice"),
    ):
        file.write_text(text)
        out = str(tmp_path / "new")
        said(quire("export", str(work), "--post", out, "--only", "mremap"), 2, trouble)


def test_what_git_wrote_can_be_applied(quire: Quire, work: Path, tmp_path: Path) -> None:
    assert quire("export", str(work), "--post", str(tmp_path / "out"), *AUTHOR).returncode == 0
    before = git(work, "rev-parse", "HEAD^{tree}")
    git(work, "checkout", "-q", git(work, "config", "quire.base"))
    for topic in ("mremap", "ksm"):
        git(work, "am", "-q", *map(str, sorted((tmp_path / "out" / topic).glob("000[1-9]*"))))
    assert git(work, "rev-parse", "HEAD^{tree}") == before


def test_a_complaint_of_checkpatch(quire: Quire, work: Path, tmp_path: Path) -> None:
    git(work, "commit", "--allow-empty", "--amend", "-m", "ksm: look less\n\ntoo long\n")
    said(
        quire("export", str(work), "--post", str(tmp_path / "out")),
        1,
        "ksm/0001-ksm-look-less.patch",
        "LONG",
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--only", "swapout"), "the checkout has no topic swapout"),
        (("--author", "nobody"), "invalid author: nobody"),
    ],
)
def test_bad_input(
    quire: Quire, work: Path, tmp_path: Path, words: tuple[str, ...], error: str
) -> None:
    done = quire("export", str(work), "--post", str(tmp_path / "out"), *words)
    assert done.returncode == 2
    assert error in done.stderr


def test_what_cannot_be_posted(quire: Quire, work: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "mremap").mkdir(parents=True)
    (out / "mremap/mine").write_text("")
    said(quire("export", str(work), "--post", str(out)), 2, "is not empty")
    (work / "mm/mremap.c").write_text((work / "mm/mremap.c").read_text().replace("run 8", "run 9"))
    git(work, "commit", "-a", "-m", "ksm: and more")
    done = quire("export", str(work), "--post", str(out), "--only", "ksm")
    said(done, 2, "ksm-and-more does not apply without the patches before it", "`# needs:`")
