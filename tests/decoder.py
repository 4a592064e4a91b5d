# SPDX-License-Identifier: GPL-2.0
"""The plugin's instruction decoders, and the binutils that they are compared with."""

from __future__ import annotations

import ctypes
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

COUNTER = Path(__file__).resolve().parent.parent / "counter"
REP_NONE, REP_ACCESS, REP_COPY = range(3)


class Info(ctypes.Structure):
    """struct insn_info of counter/decode.h."""

    _fields_ = (
        ("plain", ctypes.c_bool),
        ("marker", ctypes.c_bool),
        ("payload", ctypes.c_uint16),
        ("tlb_class", ctypes.c_int),
        ("event", ctypes.c_int),
        ("rep", ctypes.c_int),
        ("branch", ctypes.c_bool),
        ("distance", ctypes.c_int64),
        ("clears_line", ctypes.c_bool),
        ("spin_lock", ctypes.c_bool),
    )


DECODE = ctypes.CFUNCTYPE(Info, ctypes.c_char_p, ctypes.c_size_t)


class Target(ctypes.Structure):
    """struct target of counter/decode.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("tlb_class", ctypes.c_char_p * 4),
        ("event", ctypes.c_char_p * 6),
        ("decode", DECODE),
    )


class Decoder:
    """One target's decoder, and the binutils that support its instructions."""

    def __init__(self, library: ctypes.CDLL, name: str, tools: str, machine: str) -> None:
        find: Callable[[bytes], int] = library.target_find
        library.target_find.restype = ctypes.c_void_p
        self._target = Target.from_address(find(name.encode()))
        self._tools = tools
        self._machine = machine

    def __call__(self, code: bytes) -> Info:
        info: Info = self._target.decode(code, len(code))
        return info

    def tlb_class(self, code: bytes) -> str:
        """The name of the TLB class, or "none"."""
        index: int = self(code).tlb_class
        return "none" if index < 0 else self._target.tlb_class[index].decode()

    def event(self, code: bytes) -> str:
        """The name of the kind of event, or "none"."""
        index: int = self(code).event
        return "none" if index < 0 else self._target.event[index].decode()

    def assemble(self, directory: Path, lines: list[str], *flags: str) -> list[tuple[bytes, str]]:
        """Each line's machine code, and the line."""
        source = directory / "lines.s"
        source.write_text("".join(f"{line}\n" for line in lines))
        subprocess.run(
            [f"{self._tools}as", *flags, "-o", directory / "lines.o", source], check=True
        )
        listing = self._objdump("-d", directory / "lines.o")
        assert len(listing) == len(lines)
        return [(code, line) for (code, _), line in zip(listing, lines, strict=True)]

    def disassemble(self, directory: Path, code: bytes) -> list[tuple[bytes, str]]:
        """objdump's output for `code`: each instruction's bytes and text."""
        (directory / "code").write_bytes(code)
        return self._objdump("-D", "-b", "binary", "-m", self._machine, directory / "code")

    def _objdump(self, *argv: str | Path) -> list[tuple[bytes, str]]:
        done = subprocess.run(
            [f"{self._tools}objdump", "--insn-width=16", "-w", "-z", *argv],
            text=True,
            capture_output=True,
            check=True,
        )
        rows = re.findall(r"^ +[0-9a-f]+:\t([0-9a-f ]+)\t(.*)$", done.stdout, re.M)
        return [(self._bytes(code.split()), text) for code, text in rows]

    @staticmethod
    def _bytes(words: list[str]) -> bytes:
        # objdump prints A64 words as numbers, x86 code as bytes.
        return b"".join(bytes.fromhex(word)[::-1] for word in words)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("decode") / "decode.so"
    sources = sorted(COUNTER.glob("decode*.c"))
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "-o", path, *sources], check=True)
    return ctypes.CDLL(str(path))


@pytest.fixture(scope="module")
def aarch64(library: ctypes.CDLL) -> Decoder:
    return Decoder(library, "aarch64", "aarch64-linux-gnu-", "aarch64")


@pytest.fixture(scope="module")
def riscv64(library: ctypes.CDLL) -> Decoder:
    """The decoder for riscv64."""
    if not shutil.which("riscv64-linux-gnu-as"):
        pytest.skip("apt-get install binutils-riscv64-linux-gnu")
    return Decoder(library, "riscv64", "riscv64-linux-gnu-", "riscv:rv64")


@pytest.fixture(scope="module")
def x86_64(library: ctypes.CDLL) -> Decoder:
    return Decoder(library, "x86_64", "x86_64-linux-gnu-", "i386:x86-64")


def x86_candidates() -> list[bytes]:
    """Random code bytes after every opcode, with and without prefixes."""
    numbers = random.Random(1)
    codes = []
    for opcode in [bytes([b]) for b in range(256)] + [bytes([15, b]) for b in range(256)]:
        for prefix in (b"", b"\x48", b"\x4f", b"\x66", b"\x66\x45", b"\xf0", b"\xf2", b"\xf3"):
            codes += [prefix + opcode + numbers.randbytes(12) for _ in range(12)]
    return codes
