# SPDX-License-Identifier: GPL-2.0
"""A user's own workload and test: what the guest accepts as a program."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from conftest import Quire
from known import ARM64, X86_64

from quire.arch import Architecture
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.kernels import user
from quire.kernels.guest import Guest
from quire.kernels.kernel import Toolchain
from quire.measure import workloads

TOOLS = Toolchain("", "gcc 12")


def elf(arch: Architecture, *kinds: int) -> bytes:
    """A 64-bit ELF file that contains only these program headers."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack(
        "<HHIQQQIHHHHHH", 2, arch.elf_machine, 1, 0, 64, 0, 0, 64, 56, len(kinds), 0, 0, 0
    )
    return head + b"".join(struct.pack("<I", kind) + bytes(52) for kind in kinds)


def add(tmp_path: Path, name: str, data: bytes) -> Guest:
    """An arm64 guest with that program."""
    initrd = tmp_path / "guest.cpio"
    initrd.write_bytes(b"")
    source = tmp_path / name
    source.write_bytes(data)
    plain = Guest(ARM64, initrd, "plain")
    return user.added(Cache(tmp_path / "build"), plain, TOOLS, tmp_path, [source])


def test_a_static_binary_is_taken_as_it_is(tmp_path: Path) -> None:
    found = add(tmp_path, "mine", elf(ARM64, 1))
    assert elf(ARM64, 1) in found.initrd.read_bytes()
    assert b"user/mine" in found.initrd.read_bytes()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"#!/bin/sh\n" + bytes(64), "is not an ELF binary"),
        (b"\x7fELF", "is not an ELF binary"),
        (elf(X86_64, 1), "is not for arm64"),
        (elf(ARM64, 1, 3), "dynamically linked"),
    ],
)
def test_what_is_no_program_for_the_guest(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        add(tmp_path, "mine", data)


def test_a_program_that_is_not_there(quire: Quire, tree: Path) -> None:
    done = quire("bench", "--workload", "nowhere.c", "--source", str(tree), "ARCH=arm64")
    assert done.returncode == 2
    assert "the program does not exist" in done.stderr


def test_without_data_it_has_one_row_and_with_data_its_sizes(tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    (benchmark,) = workloads.expand([workloads.of_program(source)])
    assert benchmark.words() == ("program", "bench", "/user/mine")
    (tmp_path / "mine.toml").write_text('unit = "call"\nsizes = [4, 64]\n')
    benchmarks = workloads.expand([workloads.of_program(source)])
    assert [one.words()[3:] for one in benchmarks] == [("size=4",), ("size=64",)]
    assert benchmarks[0].workload.unit == "call"


def test_bad_data_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("size = 4\n")
    with pytest.raises(UserError, match=r"mine\.toml is invalid"):
        workloads.of_program(tmp_path / "mine.c")


def test_the_whole_flow(quire: Quire, tree: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(elf(ARM64, 1))
    words = ("--source", str(tree), "ARCH=arm64")
    done = quire.passes("bench", "--workload", str(mine), "--json", *words)
    (row,) = json.loads(done.stdout)["architectures"][0]["rows"]
    assert row["workload"] == "mine"
    lost = quire("bench", "--workload", str(mine), "--fresh", *words, FAKE_QEMU="mute")
    assert lost.returncode == 4
    tested = quire.passes("test", "--program", str(mine), *words)
    assert "fake.good" in tested.stdout
    assert quire("test", "--program", str(mine), *words, FAKE_QEMU="wrong").returncode == 1
