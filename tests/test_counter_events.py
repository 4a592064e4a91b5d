# SPDX-License-Identifier: GPL-2.0
"""Atomics, barriers and calls in the plugin's instruction decoders, against GNU as and objdump."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from decoder import Decoder, x86_candidates

# objdump's mnemonics for what counts as atomic.
ATOMIC_A64 = re.compile(
    r"(st|ld)(add|clr|eor|set|[su]max|[su]min)a?l?[bh]?|swpa?l?[bh]?|cas(a|l|al)?[bh]?"
    r"|casp(a|l|al)?|stl?xr[bh]?|stl?xp"
)
BARRIERS_A64 = {"dmb": "dmb", "dsb": "dsb", "isb": "isb"}


def a64_kind(text: str) -> str:
    """The kind of event of an instruction, by objdump's mnemonic."""
    mnemonic, *operands = text.split()
    if mnemonic == "dsb" and operands[0].endswith("st"):
        return "dsb_st"
    return "atomic" if ATOMIC_A64.fullmatch(mnemonic) else BARRIERS_A64.get(mnemonic, "none")


def test_a64_events_are_what_objdump_says(aarch64: Decoder, tmp_path: Path) -> None:
    """Random instructions of the groups that loads, stores and barriers are in."""
    numbers = random.Random(2)
    groups = [(0x3F000000, 0x08000000), (0x3F200C00, 0x38200000), (0xFFFFF000, 0xD5033000)]
    words = [
        (numbers.getrandbits(32) & ~mask | bits).to_bytes(4, "little")
        for mask, bits in groups
        for _ in range(20_000)
    ]
    seen: set[str] = set()
    spin_locks = 0
    for code, text in aarch64.disassemble(tmp_path, b"".join(words)):
        # objdump decodes exclusives only with the unused register fields all ones; QEMU always.
        if ".inst" not in text and "undefined" not in text:
            assert aarch64.event(code) == a64_kind(text), text
            spin_lock = re.match(r"casa\tw", text) is not None
            assert aarch64(code).spin_lock == spin_lock, text
            spin_locks += spin_lock
            seen.add(text.split(maxsplit=1)[0])
    assert spin_locks > 10
    assert {"dmb", "dsb", "isb", "ssbb", "casp", "stlxp", "swpal", "ldaxr", "ldaprb"} <= seen
    assert len([each for each in seen if ATOMIC_A64.fullmatch(each)]) > 100


def test_dc_zva_clears_a_line(aarch64: Decoder, tmp_path: Path) -> None:
    expected = {"dc zva, x7": True, "dc zva, x0": True, "dc civac, x7": False, "dc cvau, x7": False}
    for code, line in aarch64.assemble(tmp_path, list(expected)):
        assert (line, aarch64(code).clears_line) == (line, expected[line])


def test_a_tlbi_for_this_cpu_alone_is_local(aarch64: Decoder, tmp_path: Path) -> None:
    lines = [f"tlbi {what}1{where}" for what in ("vale", "vmalle") for where in ("", "is", "os")]
    lines = [f"{line}, x5" if "vale" in line else line for line in lines]
    for code, line in aarch64.assemble(tmp_path, lines, "-march=armv8.4-a"):
        local = re.match(r"tlbi \w+1(,|$)", line)
        assert (line, aarch64.event(code)) == (line, "tlbi_local" if local else "none")


def test_a_dsb_nxs_is_a_dsb(aarch64: Decoder) -> None:
    """binutils 2.40 does not support its name."""
    assert aarch64.event(0xD503323F.to_bytes(4, "little")) == "dsb"
    assert aarch64.event(0xD5033E3F.to_bytes(4, "little")) == "dsb"


# A hint among the fences, which not every objdump knows.
PAUSE = 0x0100000F.to_bytes(4, "little")


def rv_kind(text: str) -> str:
    """The kind of event of an instruction, by objdump's mnemonic."""
    mnemonic = text.split(maxsplit=1)[0]
    if re.match(r"amo|sc[.]", mnemonic):
        return "atomic"
    return {"fence": "fence", "fence.tso": "fence", "fence.i": "fence_i"}.get(mnemonic, "none")


def test_riscv_events_are_what_objdump_says(riscv64: Decoder, tmp_path: Path) -> None:
    """Random instructions of the opcodes that atomics and fences have, and of loads."""
    numbers = random.Random(3)
    amo, lr, fence, fence_i, load = 0x202F, 0x1000202F, 0x0F, 0x100F, 0x03
    groups = [(0x607F, amo), (0xF9F0607F, lr), (0x7F, fence), (0xF00FFFFF, fence), (0x7F, load)]
    groups += [(0xFFFFFFFF, fence_i)]
    words = [
        (numbers.getrandbits(32) & ~mask | bits).to_bytes(4, "little")
        for mask, bits in groups
        for _ in range(5_000)
    ]
    seen: set[str] = set()
    for code, text in riscv64.disassemble(tmp_path, b"".join(words)):
        if code == PAUSE:
            assert riscv64.event(code) == "none"
        elif not text.startswith("."):
            assert riscv64.event(code) == rv_kind(text), text
            seen.add(text.split(maxsplit=1)[0])
    assert {"fence", "fence.i", "lr.d.aq", "sc.w.rl", "amoadd.w", "amomaxu.d.aqrl", "ld"} <= seen


EVENTS_X86 = {
    "lock incl (%rsi)": "atomic",
    "lock cmpxchg16b (%r8)": "atomic",
    "lock btsq $5, %gs:0x10": "atomic",
    "lock addl $0, -4(%rsp)": "atomic",
    "xchg %al, (%rsi)": "atomic",
    "xchg %r9, 0x12345678(%r11,%rcx,4)": "atomic",
    "xchg %al, %dl": "none",
    "xchg %rax, %r9": "none",
    "cmpxchg %edx, (%rsi)": "none",
    "mfence": "mfence",
    "lfence": "lfence",
    "sfence": "sfence",
    "clflush (%rsi)": "none",
    "clflushopt (%rsi)": "none",
    "xrstor (%rsi)": "none",
    "tpause %eax": "none",
    "umonitor %rax": "none",
    "incsspq %rax": "none",
    "jbe .+0x1234": "none",
    "ja .+0x1234": "none",
}


def test_x86_events(x86_64: Decoder, tmp_path: Path) -> None:
    for code, line in x86_64.assemble(tmp_path, list(EVENTS_X86)):
        assert (line, x86_64.event(code)) == (line, EVENTS_X86[line])


# Instructions that may have a lock prefix, with a memory operand as destination. All others raise
# an exception.
LOCKABLE = re.compile(
    r"lock (add|adc|and|btc|btr|bts|cmpxchg|cmpxchg8b|cmpxchg16b|dec|inc|neg|not|or|sbb|sub|xor"
    r"|xadd|xchg)[bwlq]? .*([)]|%[c-g]s:0x\w+|[,\s]0x\w+)$"
)


def x86_kind(text: str) -> str:
    """The kind of event of an instruction, by objdump's text."""
    text = re.sub(r"^((data16|addr32|[c-g]s|ss|rex\S*|xacquire|xrelease|repz|repnz) )+", "", text)
    if text.startswith("lock ") or re.match(r"xchg[bwlq]? .*[(]", text):
        return "atomic"
    return text if text in ("mfence", "lfence", "sfence") else "none"


@pytest.mark.slow
def test_x86_events_are_what_objdump_says(x86_64: Decoder, tmp_path: Path) -> None:
    padded = [code.ljust(32, b"\x90") for code in x86_candidates()]
    found, at, seen = x86_64.disassemble(tmp_path, b"".join(padded)), 0, Counter[str]()
    for code, text in found:
        if at % 32 == 0 and "(bad)" not in text and ("lock " not in text or LOCKABLE.search(text)):
            assert x86_64.event(code) == x86_kind(text), text
            seen[x86_kind(text)] += 1
        at += len(code)
    assert seen["atomic"] > 50 and seen["none"] > 10_000


BRANCHES = {
    "riscv64": (
        "jal .+0xffffe",
        "j .-0x100000",
        "c.j .-0x2a",
        "c.j .+0x7fe",
        "c.j .-0x800",
        "jal .",
    ),
    "aarch64": ("bl .+0x7fffffc", "b .-0x8000000", "bl .", "b .+4"),
    "x86_64": ("call .+0x7fffffff", "jmp .-0x7ffffff0", "jmp .-0x7e", "jmp .+0x81", "call ."),
}
NO_BRANCHES = {
    "riscv64": ("bnez a0, .+8", "beqz s0, .+8", "jr a0", "jalr a0", "ret", "ecall"),
    "aarch64": ("b.ne .+8", "cbz x0, .+8", "tbz x0, #1, .+8", "br x1", "blr x1", "ret", "svc #1"),
    "x86_64": (
        "jne .+0x1234",
        "jrcxz .+5",
        "call *%rax",
        "jmp *(%rax)",
        "ret",
        "loop .+5",
        "jo .+9",
    ),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_direct_branches(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    decoder: Decoder = request.getfixturevalue(name)
    flags = ("-march=rv64gc",) if name == "riscv64" else ()
    for code, line in decoder.assemble(tmp_path, list(BRANCHES[name]), *flags):
        info = decoder(code)
        assert (line, info.branch) == (line, True)
        assert (line, info.distance) == (line, int(line.rpartition(".")[2] or "0", 16))
    for code, line in decoder.assemble(tmp_path, list(NO_BRANCHES[name]), *flags):
        assert (line, decoder(code).branch) == (line, False)
