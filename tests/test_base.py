# SPDX-License-Identifier: GPL-2.0
"""Bases from a fake apt and from directories."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest
from conftest import Quire, make_tree, said, snapshot
from test_checkout import git

PACKAGE = "linux-source-6.12"
VERSION = "6.12.117-1~deb12u1"


@pytest.fixture
def archive(quire: Quire, tmp_path: Path) -> Path:
    """A fake mirror: one package, and an apt that offers it from a configurable `suite`.

    `apt-get` and `apt-cache` depend on their options: the system's configuration sees the suite
    named by SYSTEM, an isolated one the suite named by ISOLATED.
    """
    folder = tmp_path / "archive"
    folder.mkdir()
    make_tree(tmp_path / "linux-source-6.12")
    with tarfile.open(folder / "linux-source-6.12.tar.xz", "w:xz") as source:
        source.add(tmp_path / "linux-source-6.12", "linux-source-6.12")
    with tarfile.open(folder / "data.tar", "w") as data:
        name = "./usr/src/linux-source-6.12.tar.xz"
        data.add(folder / "linux-source-6.12.tar.xz", name)
    (folder / "package.deb").write_bytes(b"deb" + (folder / "data.tar").read_bytes())
    total = hashlib.sha256((folder / "package.deb").read_bytes()).hexdigest()
    (folder / "sha256").write_text(total)
    where = "http://mirror.example/debian bookworm-security/main amd64 Packages"
    row = f"{PACKAGE} | {VERSION} | {where}"
    apt = f"""#!/bin/sh
case "$*" in
*sourcelist=*) rows=${{ISOLATED-1}};; *) rows=${{SYSTEM-1}};;
esac
case "$*" in
*madison*) [ "$rows" ] && echo "{row}";;
*"show "*) echo "SHA256: $(cat {folder}/sha256)";;
*download*) echo "$@" >> {folder}/downloads
    cp {folder}/package.deb "./{PACKAGE}_6.12.117-1~deb12u1_all.deb";;
*update*) mkdir {folder}/lock || exit 100
    sleep 0.3
    rmdir {folder}/lock;;
*indextargets*) echo "http://mirror.example/debian/ bookworm main"
    echo "http://mirror.example/security/ bookworm-security main";;
esac
"""
    for name in ("apt-get", "apt-cache"):
        (quire.bin / name).write_text(apt)
        (quire.bin / name).chmod(0o755)
    (quire.bin / "dpkg-deb").write_text('#!/bin/sh\ntail -c +4 "$2"\n')
    (quire.bin / "dpkg-deb").chmod(0o755)
    return folder


def test_the_systems_apt_comes_first(quire: Quire, archive: Path) -> None:
    quire.passes("build", "ARCH=arm64", "--stock")
    (record,) = quire.build.glob("base/*/base.json")
    assert json.loads(record.read_text()) == {
        "version": "6.12.117",
        "origin": f"Debian {PACKAGE} {VERSION}",
        "hash": f"sha256:{(archive / 'sha256').read_text()}",
    }
    assert "sourcelist" not in (archive / "downloads").read_text()
    # Cached: no query and no download.
    assert quire("build", "ARCH=arm64", "--stock", SYSTEM="", ISOLATED="").returncode == 0
    assert len((archive / "downloads").read_text().splitlines()) == 1


def test_another_suite_through_an_isolated_apt(quire: Quire, archive: Path) -> None:
    quire.passes("build", "ARCH=arm64", "--stock", SYSTEM="")
    assert f"Dir::State::lists={quire.build}/apt-6.12/lists" in (archive / "downloads").read_text()
    sources = (quire.build / "apt-6.12/sources.list").read_text()
    assert "http://mirror.example/debian/ trixie main" in sources
    assert "http://mirror.example/security/ trixie-security main" in sources
    assert all("signed-by=/usr/share/keyrings/debian-archive" in s for s in sources.splitlines())


def test_two_processes_that_need_the_same_index(quire: Quire, archive: Path) -> None:
    """apt fails if another apt uses its lists: the second process waits, and finds the base."""
    words = ("build", "ARCH=arm64", "--stock")
    both = [quire.start(*words, SYSTEM="") for _ in range(2)]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert len((archive / "downloads").read_text().splitlines()) == 1


def test_a_download_that_is_not_what_the_index_says(quire: Quire, archive: Path) -> None:
    (archive / "package.deb").write_bytes((archive / "package.deb").read_bytes() + b"more")
    said(
        quire("build", "ARCH=arm64"),
        2,
        "does not match Debian's signed index",
        "SHA-256 of the file",
    )
    assert not list(quire.build.glob("base/*"))


def test_a_version_nobody_offers(quire: Quire, archive: Path) -> None:
    done = quire("build", "--base", "6.12.5")
    assert done.returncode == 2
    assert "Debian offers no linux-source-6.12 6.12.5" in done.stderr
    assert VERSION in done.stderr


def test_all_bases_are_checked(quire: Quire, archive: Path) -> None:
    done = quire("check", "--quick", "--all-bases", "--json")
    rows = [row for row in json.loads(done.stdout) if row["check"] == "applies to"]
    assert [(row["trouble"], PACKAGE in row["subject"]) for row in rows] == [("", True)]
    series = quire.project / "patches/linux-6.12.y/series"
    series.write_text(series.read_text().replace("6.12.100-", "6.12.118-"))
    said(
        quire("check", "--quick", "--all-bases", "--json", "--only", "ksm"),
        2,
        "no series is for Linux 6.12.117",
    )


def test_a_git_tree_gives_what_git_does_not_ignore(quire: Quire, tree: Path) -> None:
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    (tree / ".gitignore").write_text("*.o\n.config\n")
    (tree / "mm/mremap.o").write_text("object")
    (tree / "mm/new.c").write_text("int new;\n")
    (tree / ".config").write_text("built in place")
    assert quire("build", "--source", str(tree), "ARCH=arm64", "--stock").returncode == 0
    (base,) = quire.build.glob("base/*/linux")
    assert (base / "mm/mremap.c").exists()
    assert (base / "mm/new.c").exists()
    assert not (base / "mm/mremap.o").exists()


def test_build_directories_in_the_source_stay_out(quire: Quire, tree: Path) -> None:
    (tree / "o-arm64/include/config").mkdir(parents=True)
    (tree / "o-arm64/include/config/auto.conf").write_text("")
    assert quire("build", "--source", str(tree), "ARCH=arm64", "--stock").returncode == 0
    (base,) = quire.build.glob("base/*/linux")
    assert not (base / "o-arm64").exists()


def test_an_edited_source_is_another_base(quire: Quire, tree: Path) -> None:
    words = ("build", "--source", str(tree), "ARCH=arm64", "--stock")
    assert quire(*words).returncode == 0
    (tree / "Kbuild").write_text("obj-y += mm/ fs/\n")
    assert quire(*words).returncode == 0
    records = [json.loads(p.read_text()) for p in quire.build.glob("base/*/base.json")]
    assert len({record["hash"] for record in records}) == 2


def test_a_base_of_ours_is_not_copied(quire: Quire, tree: Path) -> None:
    words = ("ARCH=arm64", "--stock")
    assert quire("build", "--source", str(tree), *words).returncode == 0
    (base,) = quire.build.glob("base/*/linux")
    assert quire("build", "--source", str(base), *words).returncode == 0
    assert list(quire.build.glob("base/*/linux")) == [base]


def test_links_are_copied_as_links(quire: Quire, tree: Path) -> None:
    (tree / "arch/link").symlink_to("arm64")
    (tree / "mm/link.c").symlink_to("mremap.c")
    assert quire("build", "--source", str(tree), "ARCH=arm64", "--stock").returncode == 0
    (base,) = quire.build.glob("base/*/linux")
    assert (base / "arch/link").is_symlink()
    assert (base / "mm/link.c").is_symlink()
    assert set(snapshot(tree)) - set(snapshot(base)) == set()
