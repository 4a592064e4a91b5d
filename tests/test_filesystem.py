# SPDX-License-Identifier: GPL-2.0
"""The filesystem in the guest of a kernel that has XFS or ext4."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from known import ARM64

from quire.arch.requirements import Requirement
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.kernels import guest
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel, Toolchain
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


XFS, EXT4 = guest.FILESYSTEMS
MAGIC = {XFS: b"XFSB", EXT4: b"\x53\xef"}


@pytest.mark.parametrize("wanted", guest.FILESYSTEMS, ids=lambda one: one.image)
def test_the_image_begins_with_a_super_block_and_ends_before_the_zeroes(
    tmp_path: Path, wanted: guest.Filesystem
) -> None:
    if not wanted.mkfs.present():
        pytest.skip(f"needs {wanted.mkfs.packages[0]}")
    data = add(tmp_path, f"{wanted.option}=y\n").initrd.read_bytes()
    assert data.startswith(b"plain")
    assert wanted.image.encode() in data
    assert MAGIC[wanted] in data
    assert len(data) < 16 << 20


@pytest.mark.skipif(not EXT4.mkfs.present(), reason="needs e2fsprogs")
def test_the_image_of_ext4_has_no_time_and_little_in_it(tmp_path: Path) -> None:
    """The guest's hash is a part of the key of counts."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = add(tmp_path / "a", f"{EXT4.option}=y\n").initrd.read_bytes()
    assert first == add(tmp_path / "b", f"{EXT4.option}=y\n").initrd.read_bytes()
    assert len(first) < 1 << 20


@pytest.mark.parametrize("wanted", guest.FILESYSTEMS, ids=lambda one: one.image)
def test_without_mkfs_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: guest.Filesystem
) -> None:
    mkfs: Requirement = replace(wanted.mkfs, name="/nowhere/mkfs")
    monkeypatch.setattr(guest, "FILESYSTEMS", (replace(wanted, mkfs=mkfs),))
    with pytest.raises(UserError) as error:
        add(tmp_path, f"{wanted.option}=y\n")
    assert wanted.mkfs.packages[0] in error.value.remedy
