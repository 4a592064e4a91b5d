# SPDX-License-Identifier: GPL-2.0
"""The plugin's instruction decoders against GNU as and objdump."""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
from collections import Counter
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
    )


DECODE = ctypes.CFUNCTYPE(Info, ctypes.c_char_p, ctypes.c_size_t)


class Target(ctypes.Structure):
    """struct target of counter/decode.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("tlb_class", ctypes.c_char_p * 4),
        ("event", ctypes.c_char_p * 4),
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
def x86_64(library: ctypes.CDLL) -> Decoder:
    return Decoder(library, "x86_64", "x86_64-linux-gnu-", "i386:x86-64")


def tlbi_lines() -> dict[str, str]:
    """Every TLBI of EL1, with its class."""
    lines = {}
    for scope in ("", "is", "os"):
        for kind in ("va", "vaa", "val", "vaal"):
            lines[f"tlbi {kind}e1{scope}, x7"] = "tlbi_va"
            lines[f"tlbi r{kind}e1{scope}, x7"] = "tlbi_range"
        lines[f"tlbi aside1{scope}, x7"] = "tlbi_asid"
        lines[f"tlbi vmalle1{scope}"] = "tlbi_all"
    return lines


OTHER_A64 = (
    "tlbi vae2, x7",
    "tlbi alle2",
    "tlbi ipas2e1, x7",
    "tlbi vmalls12e1",
    "dc civac, x1",
    "dc zva, x1",
    "ic ivau, x1",
    "at s1e1r, x1",
    "dsb ish",
    "isb",
    "msr ttbr0_el1, x1",
    "mrs x1, ttbr0_el1",
    "nop",
    "add x1, x2, x3",
    "ldr x1, [x2]",
)


def test_every_tlbi_has_its_class(aarch64: Decoder, tmp_path: Path) -> None:
    expected = tlbi_lines() | dict.fromkeys(OTHER_A64, "none")
    for code, line in aarch64.assemble(tmp_path, list(expected), "-march=armv8.7-a"):
        assert (line, aarch64.tlb_class(code)) == (line, expected[line])
        if expected[line] != "none":
            # The nXS form has CRn 9 instead of 8. binutils 2.40 does not support its names.
            nxs = (int.from_bytes(code, "little") | 1 << 12).to_bytes(4, "little")
            assert (line, aarch64.tlb_class(nxs)) == (line, expected[line])


TLB_X86 = {
    "invlpg (%rax)": "invlpg",
    "invlpg 0x12345678(%r11,%rcx,4)": "invlpg",
    "invlpg %gs:0x10": "invlpg",
    "invpcid (%rsp), %rax": "invpcid",
    "invpcid 0x40(%r8), %r9": "invpcid",
    "mov %rax, %cr3": "cr3",
    "mov %r15, %cr3": "cr3",
    "mov %cr3, %rax": "none",
    "mov %rax, %cr4": "none",
    "mov %rax, %cr0": "none",
    "mov %rax, %cr8": "none",
    "swapgs": "none",
    "rdtscp": "none",
    "lidt (%rax)": "none",
    "invept (%rax), %rcx": "none",
    "movbe (%rax), %ax": "none",
    "mov (%rax), %rax": "none",
}


def test_x86_tlb_classes(x86_64: Decoder, tmp_path: Path) -> None:
    for code, line in x86_64.assemble(tmp_path, list(TLB_X86)):
        assert (line, x86_64.tlb_class(code)) == (line, TLB_X86[line])


REP_X86 = {
    "rep movsb": REP_COPY,
    "rep movsq": REP_COPY,
    "rep movsw": REP_COPY,
    "rep stosb": REP_ACCESS,
    "rep stosl": REP_ACCESS,
    "rep lodsq": REP_ACCESS,
    "repe cmpsb": REP_NONE,
    "repne scasb": REP_NONE,
    "rep insb": REP_NONE,
    "rep outsb": REP_NONE,
    "stosb": REP_NONE,
    "movsb": REP_NONE,
    "pause": REP_NONE,
    "repz ret": REP_NONE,
    "popcnt %rax, %rbx": REP_NONE,
    "movss (%rax), %xmm0": REP_NONE,
}


def test_x86_string_instructions(x86_64: Decoder, tmp_path: Path) -> None:
    for code, line in x86_64.assemble(tmp_path, list(REP_X86)):
        assert (line, x86_64(code).rep) == (line, REP_X86[line])


def test_markers(aarch64: Decoder, x86_64: Decoder, tmp_path: Path) -> None:
    lines = ["movz xzr, #0x1fff, lsl #48", "movz xzr, #7, lsl #32", "movz x1, #0x1001, lsl #48"]
    infos = [aarch64(code) for code, _ in aarch64.assemble(tmp_path, lines)]
    assert [info.marker for info in infos] == [True, False, False]
    assert infos[0].payload == 0x1FFF
    lines = ["nopl 0x51552abc(%rax)", "nopl 0x51562abc(%rax)", "nopl 0x51552abc(%rcx)"]
    infos = [x86_64(code) for code, _ in x86_64.assemble(tmp_path, lines)]
    assert [info.marker for info in infos] == [True, False, False]
    assert infos[0].payload == 0x2ABC


# objdump's mnemonics for what counts as atomic.
ATOMIC_A64 = re.compile(
    r"(st|ld)(add|clr|eor|set|[su]max|[su]min)a?l?[bh]?|swpa?l?[bh]?|cas(a|l|al)?[bh]?"
    r"|casp(a|l|al)?|stl?xr[bh]?|stl?xp"
)
BARRIERS_A64 = {"dmb": "dmb", "dsb": "dsb", "isb": "isb"}


def a64_kind(text: str) -> str:
    """The kind of event of an instruction, by objdump's mnemonic."""
    mnemonic = text.split(maxsplit=1)[0]
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
    for code, text in aarch64.disassemble(tmp_path, b"".join(words)):
        # objdump decodes exclusives only with the unused register fields all ones; QEMU always.
        if ".inst" not in text and "undefined" not in text:
            assert aarch64.event(code) == a64_kind(text), text
            seen.add(text.split(maxsplit=1)[0])
    assert {"dmb", "dsb", "isb", "ssbb", "casp", "stlxp", "swpal", "ldaxr", "ldaprb"} <= seen
    assert len([each for each in seen if ATOMIC_A64.fullmatch(each)]) > 100


def test_a_dsb_nxs_is_a_dsb(aarch64: Decoder) -> None:
    """binutils 2.40 does not support its name."""
    assert aarch64.event(0xD503323F.to_bytes(4, "little")) == "dsb"
    assert aarch64.event(0xD5033E3F.to_bytes(4, "little")) == "dsb"


# An instruction wrongly classified as plain would be counted before it completes.
PLAIN_A64 = re.compile(
    r"(adds?|subs?|adcs?|sbcs?|ngcs?|negs?|cmp|cmn|and|ands|bic|bics|orr|orn|eor|eon|tst|mvn"
    r"|mov|movz|movn|movk|adrp?|[su]?bf\w+|sbfx|ubfx|[su]xt\w|extr|ror|lsl|lsr|asr|cls|clz|rbit"
    r"|rev(16|32|64)?|[su]div|m(add|sub|ul|neg)|[su](madd|msub|mull|mnegl|mulh|maddl|msubl)l?"
    r"|csel|csinc|csinv|csneg|csetm?|cinc|cinv|cneg|ccmp|ccmn|crc32\w*|rmif|setf(8|16)"
    r"|addg|subg|irg|gmi|subps?|cmpp|pacga|bfc|bfi|bfxil|[su](min|max)|abs|cnt|ctz|\.inst)\s.*"
)


def test_plain_a64_instructions_cannot_fault(aarch64: Decoder, tmp_path: Path) -> None:
    numbers = random.Random(1)
    words = [numbers.getrandbits(32).to_bytes(4, "little") for _ in range(60_000)]
    plain = [word for word in words if aarch64(word).plain]
    assert len(plain) > 10_000
    for _, text in aarch64.disassemble(tmp_path, b"".join(plain)):
        assert PLAIN_A64.fullmatch(f"{text} "), text


PLAIN_X86 = re.compile(
    r"(add|or|adc|sbb|and|sub|xor|cmp|test|xchg|mov|movabs|lea|nop|cwtl|cltq|cbtw|cltd|cqto|cwtd"
    r"|imul|mul|not|neg|inc|dec|rol|ror|rcl|rcr|shl|shr|sar|sal|shld|shrd|bts?|btr|btc|bsf|bsr"
    r"|bswap|cmov\w+|set\w+|mov[sz][bwl]\w*|movslq|movsxd)[bwlq]?"
)
MEMORY = re.compile(r"[(]|(?<![$x0-9a-f])0x[0-9a-f]+(,|$)|%[c-g]s:")


def x86_candidates() -> list[bytes]:
    """Random code bytes after every opcode, with and without prefixes."""
    numbers = random.Random(1)
    codes = []
    for opcode in [bytes([b]) for b in range(256)] + [bytes([15, b]) for b in range(256)]:
        for prefix in (b"", b"\x48", b"\x4f", b"\x66", b"\x66\x45", b"\xf0", b"\xf2", b"\xf3"):
            codes += [prefix + opcode + numbers.randbytes(12) for _ in range(12)]
    return codes


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


@pytest.mark.slow
def test_plain_x86_instructions_cannot_fault(x86_64: Decoder, tmp_path: Path) -> None:
    """objdump names each candidate; every plain instruction is in the list above."""
    padded = [code.ljust(32, b"\x90") for code in x86_candidates()]
    found, at, plain = x86_64.disassemble(tmp_path, b"".join(padded)), 0, 0
    for code, text in found:
        if at % 32 == 0 and x86_64(code).plain:
            plain += 1
            words = re.sub(r"^((data16|addr32|[c-g]s|ss|rex\S*) )+", "", text).split(maxsplit=1)
            mnemonic, operands = words[0], words[1] if len(words) > 1 else ""
            assert PLAIN_X86.fullmatch(mnemonic), text
            assert mnemonic.startswith(("lea", "nop")) or not MEMORY.search(operands), text
        at += len(code)
    assert plain > 4_000
