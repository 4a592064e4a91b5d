# SPDX-License-Identifier: GPL-2.0
"""Ctrl-C at any time: no process and no incomplete file remains, and the next run works."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Quire, gone

PATIENCE = 30.0


def wait_for(path: Path) -> list[int]:
    """The process ids that a fake tool writes when it starts."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if path.exists() and path.read_text():
            return [int(pid) for pid in path.read_text().split()]
        time.sleep(0.02)
    raise AssertionError("the tool never started")


def interrupt(
    quire: Quire, started: Path, number: signal.Signals, *words: str, **env: str
) -> subprocess.Popen[str]:
    """Start quire, wait for its tool, send the signal, wait for both."""
    process = quire.start(*words, FAKE_STARTED=str(started), **env)
    pids = wait_for(started)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in errors
    assert "interrupted" in errors
    deadline = time.monotonic() + PATIENCE
    while not all(gone(pid) for pid in pids):
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.05)
    return process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_while_a_guest_runs(
    quire: Quire, tree: Path, tmp_path: Path, number: signal.Signals
) -> None:
    words = ("bench", "mremap", "--source", str(tree), "ARCH=arm64")
    process = interrupt(quire, tmp_path / "started", number, *words, FAKE_QEMU="hang")
    assert process.returncode == 130
    assert not [path for path in quire.build.glob("cell/*/*") if path.name.startswith("run-")]
    assert not list(quire.build.glob("cell/*/.run-*"))
    assert quire(*words).returncode == 0


def test_while_make_runs(quire: Quire, tree: Path, tmp_path: Path) -> None:
    words = ("build", "--source", str(tree), "ARCH=arm64")
    process = interrupt(quire, tmp_path / "started", signal.SIGINT, *words, FAKE_MAKE="sleep")
    assert process.returncode == 130
    (objdir,) = quire.build.glob("base/*/linux/o-*")
    assert not (objdir / ".quire-built").exists()
    assert not (objdir / ".quire-building").exists()
    # make received the signal and removed its incomplete target.
    assert not (objdir / "mm/half.o").exists()
    assert quire(*words).returncode == 0


def test_killed_outright_while_make_runs(quire: Quire, tree: Path, tmp_path: Path) -> None:
    """After SIGKILL there is no cleanup: the next run must not trust the leftovers."""
    words = ("build", "--source", str(tree), "ARCH=arm64")
    started = tmp_path / "started"
    process = quire.start(*words, FAKE_STARTED=str(started), FAKE_MAKE="sleep")
    (pid,) = wait_for(started)
    process.kill()
    process.wait()
    os.kill(pid, signal.SIGKILL)
    (half,) = quire.build.glob("base/*/linux/o-*/mm/half.o")
    assert quire(*words).returncode == 0
    assert not half.exists()


def test_qemu_ends_with_a_killed_quire(quire: Quire, tree: Path, tmp_path: Path) -> None:
    words = ("bench", "mremap", "--source", str(tree), "ARCH=arm64")
    started = tmp_path / "started"
    process = quire.start(*words, FAKE_STARTED=str(started), FAKE_QEMU="hang")
    qemu, child = wait_for(started)
    process.kill()
    process.wait()
    deadline = time.monotonic() + PATIENCE
    while not gone(qemu):
        assert time.monotonic() < deadline, "QEMU was left behind"
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)


@pytest.mark.slow
def test_two_at_once_do_not_collide(quire: Quire, tree: Path) -> None:
    words = ("bench", "mremap", "--source", str(tree), "ARCH=arm64")
    processes = [quire.start(*words) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
