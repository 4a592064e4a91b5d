# SPDX-License-Identifier: GPL-2.0
"""The filesystem in the guest of a kernel that has XFS."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from known import ARM64

from quire.arch.requirements import Requirement
from quire.build import guest
from quire.build.guest import Guest
from quire.build.kernel import Kernel, Toolchain
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source.tree import Tree


def add(tmp_path: Path, config: str) -> Guest:
    """The guest of a kernel with that configuration."""
    initrd = tmp_path / "guest.cpio"
    initrd.write_bytes(b"plain")
    (tmp_path / ".config").write_text(config)
    kernel = Kernel(ARM64, Tree.__new__(Tree), "key", Toolchain("", "gcc 12"), tmp_path, "sha256")
    plain = Guest(ARM64, initrd, "plain")
    return guest.with_filesystem(Cache(tmp_path / "build"), plain, kernel)


def test_other_guests_stay_as_they_are(tmp_path: Path) -> None:
    assert add(tmp_path, "CONFIG_ZONEFS_FS=y\n").sha256 == "plain"


@pytest.mark.skipif(not guest.MKFS.present(), reason="needs xfsprogs")
def test_the_image_begins_with_a_super_block_and_ends_before_the_zeroes(tmp_path: Path) -> None:
    data = add(tmp_path, "CONFIG_XFS_FS=y\n").initrd.read_bytes()
    assert data.startswith(b"plain")
    assert b"xfs.img" in data
    assert b"XFSB" in data
    assert len(data) < 16 << 20


def test_without_mkfs_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need: Requirement = replace(guest.MKFS, name="/nowhere/mkfs.xfs")
    monkeypatch.setattr(guest, "MKFS", need)
    with pytest.raises(UserError) as error:
        add(tmp_path, "CONFIG_XFS_FS=y\n")
    assert "xfsprogs" in error.value.remedy
