# SPDX-License-Identifier: GPL-2.0
"""A fake archive of Debian's with one package: linux-config."""

from __future__ import annotations

import hashlib
import io
import lzma
import tarfile
from pathlib import Path

import pytest
from conftest import Quire

DIRECTORY = "./usr/src/linux-config-6.12"


@pytest.fixture
def archive(quire: Quire, tmp_path: Path) -> Path:
    """An apt that offers arm64's linux-config, only from an isolated configuration."""
    texts = {"arm64": "CONFIG_FAKE=y\nCONFIG_DAMON=y\n", "cloud-arm64": "CONFIG_CLOUD=y\n"}
    folder = tmp_path / "archive"
    folder.mkdir()
    with tarfile.open(folder / "package.deb", "w") as data:
        for flavour, text in texts.items():
            packed = lzma.compress(text.encode())
            info = tarfile.TarInfo(f"{DIRECTORY}/config.arm64_none_{flavour}.xz")
            info.size = len(packed)
            data.addfile(info, io.BytesIO(packed))
    total = hashlib.sha256((folder / "package.deb").read_bytes()).hexdigest()
    apt = f"""#!/bin/sh
case "$*" in
*indextargets*) echo "http://mirror.example/debian/ bookworm main"; exit;;
esac
echo "$*" >> {folder}/asked
case "$*" in
*sourcelist=*madison*|*madison*sourcelist=*) echo "linux-config-6.12 | 6.12.117-1 |" \
    "http://mirror.example/debian trixie/main arm64 Packages";;
*"show "*) echo "SHA256: {total}";;
*download*) cp {folder}/package.deb ./linux-config-6.12_6.12.117-1_arm64.deb;;
esac
"""
    for name in ("apt-get", "apt-cache"):
        (quire.bin / name).write_text(apt)
        (quire.bin / name).chmod(0o755)
    # Packages of kernels are still unpacked as before.
    others = (quire.bin / "dpkg-deb").rename(quire.bin / "dpkg-deb-others")
    own = f'#!/bin/sh\ncase "$2" in *linux-config*) exec cat "$2";; esac\nexec {others} "$@"\n'
    (quire.bin / "dpkg-deb").write_text(own)
    (quire.bin / "dpkg-deb").chmod(0o755)
    return folder
