# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from quire.host import process
from quire.host.errors import BuildFailed, UserError
from quire.host.process import Command, OutOfTime, TimedOut


def test_status_and_output() -> None:
    finished = process.run(Command(["sh", "-c", "echo out; echo err >&2; exit 3"]))
    assert (finished.status, finished.output) == (3, "out\nerr\n")


def test_a_log_holds_command_and_output(tmp_path: Path) -> None:
    process.run(Command(["echo", "hello world"], log=tmp_path / "a/log"))
    assert (tmp_path / "a/log").read_text() == "$ echo 'hello world'\nhello world\n"


def test_a_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    script = f"(sleep 0.9; touch {tmp_path}/late) & trap '' INT; sleep 60"
    with pytest.raises(TimedOut):
        process.run(Command(["bash", "-c", script], timeout=0.2))
    process.run(Command(["sleep", "1"]))
    assert not (tmp_path / "late").exists()


def test_check_says_what_failed() -> None:
    with pytest.raises(BuildFailed) as caught:
        process.check(Command(["sh", "-c", "echo reason; exit 1"]))
    assert "reason" in caught.value.where


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(UserError, match="not installed"):
        process.run(Command(["no-such-program"]))


def test_the_environment_cannot_change_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "CFLAGS", "ARCH", "KBUILD_OUTPUT", "CCACHE_HARDLINK"):
        monkeypatch.setenv(name, "bad")
    monkeypatch.setenv("GOOD", "1")
    script = "import os; print(sorted(os.environ))"
    names = process.run(Command([sys.executable, "-c", script])).output
    assert "GOOD" in names
    for name in ("MAKEFLAGS", "CFLAGS", "ARCH", "KBUILD_OUTPUT", "CCACHE_HARDLINK"):
        assert f"'{name}'" not in names


def test_a_command_can_be_pasted() -> None:
    command = Command(["make", "a b"], cwd=Path("/x y"), env={"K": "v w"})
    assert command.text() == "(cd '/x y' && K='v w' make 'a b')"


def test_commands_are_printed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    for verbose in (False, True):
        process.configure(verbose=verbose)
        process.run(Command(["true", "x y"]))
    assert capsys.readouterr() == ("", "+ true 'x y'\n")


def test_children_end_when_the_time_is_over() -> None:
    started = time.monotonic()
    with pytest.raises(OutOfTime), process.until(started + 0.3):
        process.run(Command(["sleep", "60"]))
    assert time.monotonic() - started < 30
    # The outer time ends first; then none starts.
    with pytest.raises(OutOfTime), process.until(started), process.until(started + 3600):
        process.run(Command(["true"]))
    assert process.run(Command(["true"])).status == 0
