# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import ROOT

from quire.boot import launch
from quire.host.cache import Cache, digest, sha256


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    made = []

    def build(directory: Path) -> None:
        made.append(directory)
        (directory / "file").write_text("x")

    first = cache.make("kind", "key", build)
    assert cache.make("kind", "key", build) == first
    assert (first / "file").read_text() == "x"
    assert len(made) == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_builder_that_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    cache = Cache(tmp_path)

    def build(directory: Path) -> None:
        (directory / "half").write_text("x")
        raise error

    with pytest.raises(error):
        cache.make("kind", "key", build)
    assert list((tmp_path / "kind").iterdir()) == []


def test_what_a_killed_process_left_is_cleared(tmp_path: Path) -> None:
    stale = tmp_path / "kind/.key.new"
    stale.mkdir(parents=True)
    (stale / "half").write_text("x")
    made = Cache(tmp_path).make("kind", "key", lambda d: (d / "whole").touch())
    assert [path.name for path in made.iterdir()] == ["whole"]
    assert not stale.exists()


def test_the_lock_makes_others_wait(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    entered = threading.Event()
    order: list[str] = []

    def slow(directory: Path) -> None:
        entered.set()
        threading.Event().wait(0.3)
        order.append("first")

    thread = threading.Thread(target=cache.make, args=("kind", "key", slow))
    thread.start()
    entered.wait()
    cache.make("kind", "key", lambda _: order.append("second"))
    thread.join()
    assert order == ["first"]


def test_what_a_process_reserves_another_does_not_get(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from quire.host.cache import Cache\n"
        f"print(Cache(Path({str(tmp_path)!r})).reserve('kind', '1'), flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT / "src",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout
    assert other.stdout.readline() == "True\n"
    cache = Cache(tmp_path)
    assert not cache.reserve("kind", "1")
    assert cache.reserve("kind", "2")
    assert cache.reserve("kind", "2")
    other.communicate("\n")
    assert cache.reserve("kind", "1")
    assert launch.workdir(cache, "a b").name == "a-b"


def test_a_second_process_boots_elsewhere(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    (tmp_path / "lock").mkdir()
    with (tmp_path / "lock/boots-1").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert launch.workdir(cache, "x").name == "x-2"
        assert launch.workdir(cache, "y").name == "y-2"


def test_keys_tell_parts_apart(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    assert digest("ab", "c") != digest("a", "bc")
    assert digest(tmp_path / "file") == digest(b"text") != digest("text")
    assert digest([1, "x"]) == digest([1, "x"])


def test_sha256_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert sha256(tmp_path / "empty").startswith("e3b0c44298fc1c14")
