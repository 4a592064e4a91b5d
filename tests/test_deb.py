# SPDX-License-Identifier: GPL-2.0
"""Debian packages: the configuration, the proof that they boot, and what is left when they fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Quire, said

from quire.kernels import kconfig
from quire.package import deb


@pytest.fixture
def packager(quire: Quire) -> Quire:
    """With our fragments in the fake project."""
    for name in (deb.ALWAYS, deb.DISTRIBUTION):
        (quire.project / "configs" / name).write_text((ROOT / "configs" / name).read_text())
    return quire


def words(tree: Path, tmp_path: Path) -> tuple[str, ...]:
    output = ("--output", str(tmp_path / "out"))
    return ("deb", "--source", str(tree), "ARCH=arm64", *output)


def test_a_trimmed_package_boots_before_it_is_done(
    packager: Quire, tree: Path, tmp_path: Path
) -> None:
    done = packager.passes(*words(tree, tmp_path), "--trimmed", FAKE_RELEASE="6.12.117-quire")
    assert "arm64 patched: 6.12.117-quire boots" in done.stdout
    names = sorted(path.name for path in (tmp_path / "out/patched").iterdir())
    image, libc, info = (
        "linux-image-6.12.117-quire_6.12.117-1_arm64.deb",
        "linux-libc-dev_6.12.117-1_arm64.deb",
        "linux-upstream_6.12.117-1_arm64.buildinfo",
    )
    assert names == [image, libc]
    # Nothing is left where kbuild writes them.
    (objdir,) = packager.build.glob("tree/*/linux/o-arm64-*")
    assert not list(objdir.parent.glob("*.deb"))
    assert not (objdir.parent / info).exists()
    assert 'CONFIG_LOCALVERSION="-quire"' in (objdir / ".config").read_text()


def test_a_package_that_does_not_boot_is_not_done(
    packager: Quire, tree: Path, tmp_path: Path
) -> None:
    said(packager(*words(tree, tmp_path), "--trimmed"), 4, "expected 6.12.117-quire")
    said(packager(*words(tree, tmp_path), "--trimmed", FAKE_QEMU="panic"), 4, "whole log: ")


def test_a_disk_that_fills_while_packaging(packager: Quire, tree: Path, tmp_path: Path) -> None:
    said(
        packager(*words(tree, tmp_path), "--trimmed", FAKE_MAKE="fulldeb"),
        3,
        "no space left on the device",
        "remedy: ",
    )
    assert not list(packager.build.rglob("*.deb"))
    assert not (tmp_path / "out").exists()


def test_your_own_configuration(packager: Quire, tree: Path, tmp_path: Path) -> None:
    mine = tmp_path / "my.config"
    mine.write_text('CONFIG_MINE=y\nCONFIG_SYSTEM_TRUSTED_KEYS="debian/certs/x.pem"\n')
    command = (*words(tree, tmp_path), "--stock", "--config", str(mine))
    packager.passes(*command, FAKE_RELEASE="6.12.117-quire")
    (objdir,) = packager.build.glob("base/*/linux/o-arm64-*")
    found = kconfig.parse((objdir / ".config").read_text())
    assert found["CONFIG_MINE"] == "y"
    assert found["CONFIG_SYSTEM_TRUSTED_KEYS"] == '""'
    assert "CONFIG_FAKE" not in found
    assert (tmp_path / "out/stock").is_dir()
    said(
        packager(*words(tree, tmp_path), "--config", str(tmp_path / "none.config")),
        2,
        "none.config is missing",
    )


def test_another_of_debians_flavours(
    packager: Quire, tree: Path, tmp_path: Path, archive: Path
) -> None:
    command = (*words(tree, tmp_path), "--stock", "--flavour")
    packager.passes(*command, "cloud-arm64", FAKE_RELEASE="6.12.117-quire")
    (objdir,) = packager.build.glob("base/*/linux/o-arm64-*")
    found = kconfig.parse((objdir / ".config").read_text())
    assert found["CONFIG_CLOUD"] == "y"
    assert "CONFIG_DAMON" not in found
    said(
        packager(*command, "rt-arm64"),
        2,
        "Debian has no flavour rt-arm64",
        "it has: arm64, cloud-arm64",
    )
    said(packager(*command, "cloud-arm64", "--trimmed"), 2, "leave out --trimmed")


def test_tools_that_are_missing(without: Callable[..., Quire], tree: Path, tmp_path: Path) -> None:
    quire = without("flex")
    (quire.bin / "dh").unlink()
    done = quire(*words(tree, tmp_path), "--trimmed")
    if "debhelper" not in done.stderr:
        pytest.skip("this host has debhelper itself")
    assert done.returncode == 2
