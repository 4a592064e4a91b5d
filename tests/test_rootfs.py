# SPDX-License-Identifier: GPL-2.0
"""`quire rootfs` on a fake apt and a fake QEMU, with real packages and a real image."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Quire, said

from quire.host.errors import UserError
from quire.programs import packages, rootfs

pytestmark = pytest.mark.skipif(
    not all(need.present() for need in rootfs.NEEDS), reason="needs e2fsprogs and dpkg"
)
APT = """#!/bin/sh
case "$*" in
*indextargets*)
    [ -e {here}/no-mirror ] || echo "http://mirror.example/debian/ bookworm main"
    exit;;
*install*nosuch*) echo "E: Unable to locate package nosuch"; exit 100;;
*install*)
    echo "$*" >> {here}/asked
    cp {here}/small_1%3a2-3_all.deb "$(echo "$*" | sed 's/.*Dir::Cache::archives=//; s/ .*//')";;
esac
"""


@pytest.fixture
def words(quire: Quire, tree: Path, tmp_path: Path) -> tuple[str, ...]:
    """A mirror with one package."""
    for name in ("rootfs", "rootfs-virtio"):
        (quire.project / f"configs/{name}.config").write_text("CONFIG_ROOTFS_FAKE=y\n")
    (quire.project / "guest/rootfs").mkdir()
    shutil.copy2(ROOT / "guest" / rootfs.SECOND_STAGE, quire.project / "guest/rootfs")
    made = tmp_path / "small"
    (made / "DEBIAN").mkdir(parents=True)
    (made / "DEBIAN/control").write_text(
        "Package: small\nVersion: 1:2-3\nArchitecture: all\nMaintainer: x <x@example.org>\n"
        "Description: small\n"
    )
    (made / "bin").mkdir()
    (made / "bin/small").write_text("small\n")
    dpkg = Path("/usr/bin/dpkg-deb")
    package = tmp_path / "small_1%3a2-3_all.deb"
    subprocess.run([dpkg, "-b", made, package], check=True, stdout=subprocess.DEVNULL)
    (quire.bin / "dpkg-deb").unlink()
    (quire.bin / "dpkg-deb").symlink_to(dpkg)
    (quire.bin / "apt-get").write_text(APT.format(here=tmp_path))
    (quire.bin / "apt-get").chmod(0o755)
    return ("rootfs", "--source", str(tree), "ARCH=arm64")


def left(quire: Quire) -> list[str]:
    """What the cache has of images, also of incomplete ones."""
    return [path.name for path in (quire.build / "rootfs").glob("*")]


def test_an_image_is_built_once(quire: Quire, words: tuple[str, ...], tmp_path: Path) -> None:
    line = quire.passes(*words, "small").stdout
    assert line.startswith("arm64 trixie, 1 packages: ")
    image = Path(line.split()[-1])
    assert image.stat().st_size == rootfs.MIB << 20
    assert image.stat().st_blocks < 100 << 11
    assert '"small": "1:2-3"' in (image.parent / rootfs.RECORD).read_text()
    listed = subprocess.check_output(["/usr/sbin/debugfs", "-R", "cat /usr/bin/small", image])
    assert listed == b"small\n"
    assert quire.passes(*words, "small", "small").stdout == line
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 1
    assert "APT::Architecture=arm64" in asked[0]
    assert quire.passes(*words, "--suite", "bookworm").stdout != line


def test_an_unknown_package_is_named(quire: Quire, words: tuple[str, ...]) -> None:
    said(quire(*words, "nosuch"), 2, "trixie has no package nosuch for arm64", "check the name")
    assert left(quire) == []


def test_a_host_without_a_mirror(quire: Quire, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "no-mirror").touch()
    said(quire(*words), 2, "apt has no Debian mirror", "add a Debian mirror")
    assert left(quire) == []


def test_packages_that_cannot_be_installed(quire: Quire, words: tuple[str, ...]) -> None:
    said(quire(*words, FAKE_QEMU="wrong"), 3, "the packages could not be installed", "whole log: ")
    assert left(quire) == []
    assert quire(*words, FAKE_QEMU="panic").returncode == 4
    assert left(quire) == []


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1 << 30)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(UserError, match="no room for a root file system"):
        rootfs._require_room(tmp_path)


def test_the_disk_of_a_machine(quire: Quire, words: tuple[str, ...]) -> None:
    quire.passes(*words)
    (command,) = quire.build.glob("boot/rootfs-*/command")
    text = command.read_text()
    assert "cache=unsafe" in text
    assert "-device virtio-blk-device,drive=disk" in text
    assert text.index("quire_root=vda") < text.index("-- program run /user/second-stage")


def test_versions_are_read_from_names(tmp_path: Path) -> None:
    (tmp_path / "gcc-14-base_1%3a14.2+dfsg-19_arm64.deb").touch()
    assert packages.versions(tmp_path) == {"gcc-14-base": "1:14.2+dfsg-19"}
