# SPDX-License-Identifier: GPL-2.0
"""The plugin's instruction decoders against GNU as and objdump."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from decoder import REP_ACCESS, REP_COPY, REP_NONE, Decoder, x86_candidates


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
