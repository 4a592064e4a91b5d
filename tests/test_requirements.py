# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Quire, said

from quire.arch import ARCHITECTURES, requirements
from quire.boot import counter
from quire.host.errors import UserError


@pytest.mark.parametrize(
    ("version", "api"),
    [((7, 2, 22), 1), ((8, 2, 0), 1), ((9, 1, 0), 3), ((10, 0, 3), 4), ((11, 0, 0), 4)],
)
def test_the_plugin_interface_of_a_version(version: tuple[int, int, int], api: int) -> None:
    assert counter.plugin_api(version) == api
    with pytest.raises(UserError, match=r"9\.0"):
        counter.plugin_api((9, 0, 1))


def test_packages_are_named_once() -> None:
    names = requirements.packages(requirements.needs(ARCHITECTURES.values()))
    assert len(names) == len(set(names))
    assert {"qemu-system-arm", "qemu-system-x86", "libelf-dev", "flex"} <= set(names)


def test_the_doctor_names_packages(without: Callable[..., Quire]) -> None:
    quire = without("flex", "qemu-system-x86_64")
    done = quire("doctor")
    assert done.returncode == 2
    assert "apt-get install --no-install-recommends flex qemu-system-x86" in done.stderr
    assert "MISSING flex" in done.stdout
    assert done.stdout.count("MISSING qemu-system-x86_64") >= 1


def test_the_doctor_names_what_no_command_needs(without: Callable[..., Quire], tree: Path) -> None:
    names = ("ccache", "chromium-headless-shell", "clang-tidy", "shellcheck")
    quire = without(*names)
    done = quire("doctor", "ARCH=arm64")
    assert done.returncode == 2
    assert f"apt-get install --no-install-recommends {' '.join(names)}" in done.stderr
    words = ("bench", "mremap", "--size", "64", "--source", str(tree), "ARCH=arm64")
    quire.passes(*words)


def test_the_doctor_is_content(quire: Quire) -> None:
    done = quire.passes("doctor", "--json")
    assert all(row["ok"] for row in json.loads(done.stdout))
    assert "series for 6.12.100-: 3 patches" in done.stdout


def fake_apt(directory: Path, provides: str) -> None:
    """An apt-get that "installs" by creating a program, and records its arguments."""
    script = f'#!/bin/sh\necho "$@" >> {directory}/asked\n'
    script += f'case "$*" in *install*) ln -s /bin/true {directory}/{provides};; esac\n'
    for path in (directory / "apt-get", directory / "apt-cache"):
        path.unlink(missing_ok=True)
        path.write_text(script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install")
def test_root_gets_it_installed(without: Callable[..., Quire]) -> None:
    quire = without("flex", "id")
    fake_apt(quire.bin, "flex")
    done = quire.passes("doctor", "--install")
    assert "installing Debian packages: flex" in done.stderr
    asked = (quire.bin / "asked").read_text()
    assert "install -y --no-install-recommends flex" in asked
    (quire.bin / "asked").unlink()
    quire.passes("doctor", "--install")
    assert not (quire.bin / "asked").exists()


def test_without_apt_the_names_are_given(without: Callable[..., Quire], tree: Path) -> None:
    quire = without("flex", "apt-get")
    said(quire("demo", "--source", str(tree)), 2, "install your distribution's packages for: flex")


def test_others_than_root_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    need = requirements.Requirement("no-such-program", ("no-such-package",), "tests")
    with pytest.raises(UserError) as caught:
        requirements.bring([need])
    assert "as root: apt-get install" in caught.value.remedy
    assert "no-such-package" in caught.value.remedy
    assert "no-such-program" in caught.value.where
