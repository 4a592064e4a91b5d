# SPDX-License-Identifier: GPL-2.0
"""An installed quire: the wheel in an environment of its own, run outside of any checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Build the wheel and install it; run its `quire` in an empty directory."""
    place = tmp_path_factory.mktemp("install")
    environment, elsewhere = place / "venv", place / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", place, ROOT], check=True)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    wheel = next(place.glob("quire-*.whl"))
    pip[0] = str(environment / "bin/python")
    subprocess.run([*pip, "install", "--no-compile", wheel], check=True)

    def run(*words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        ours = ("QUIRE_ROOT", "PYTHONPATH", "XDG_CACHE_HOME")
        env = {name: value for name, value in os.environ.items() if name not in ours}
        env |= {"HOME": str(elsewhere), **extra}
        argv = [str(environment / "bin/quire"), *words]
        return subprocess.run(
            argv, cwd=elsewhere, env=env, capture_output=True, text=True, check=False
        )

    return run


def test_commands_find_their_data(installed: Run) -> None:
    """No command may need a checkout: help, the benchmarks, and the version with both series."""
    for words, text in (
        (("--help",), "judge a change:"),
        (("bench", "--list"), "mremap"),
        (("--version",), "patches for Linux 7.3.4-"),
    ):
        done = installed(*words)
        assert done.returncode == 0, done.stderr
        assert text in done.stdout


def test_apply_finds_the_patches(installed: Run, tmp_path: Path) -> None:
    """A tree of the right version in which no file is as it should be: it names patch and file."""
    for folder in ("mm", "arch"):
        (tmp_path / folder).mkdir()
    (tmp_path / "Kbuild").touch()
    (tmp_path / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n")
    for words in (("--dry-run",), ()):
        done = installed("apply", "--only", "mremap", *words, str(tmp_path))
        assert done.returncode == 2, done.stderr
        assert "mremap/0001" in done.stderr


def test_build_directory_is_in_the_users_cache(installed: Run, tmp_path: Path) -> None:
    """Nothing may be written next to the package."""
    (tmp_path / "quire").mkdir()
    assert f"free in {tmp_path}/quire" in installed("doctor", XDG_CACHE_HOME=str(tmp_path)).stdout


def test_files_of_the_package_stay(installed: Run) -> None:
    """What changes Quire itself needs a checkout."""
    done = installed("export", "x")
    assert done.returncode == 2
    assert "clone Quire" in done.stderr
