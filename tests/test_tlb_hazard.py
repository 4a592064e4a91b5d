# SPDX-License-Identifier: GPL-2.0
"""The model of lines/*/tlbcheck: its self-test passes on this host, and sees each rule that is
left out. A kernel of tlbcheck.config runs the same self-test when it boots."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from quire.host import project

ROOT = project.find().root
HERE = ROOT / "tests/tlb"
PATCHES = sorted(ROOT.glob("lines/*/tlbcheck/tlb-hazard.patch"))
SOURCE = "arch/arm64/mm/tlb_hazard.c"
HEADERS = ("linux/types.h", "asm/tlbflush.h")

# Each is a part of the model; without it, some hazard is not seen or a correct change is reported.
LEFT_OUT = (
    ("kind == BLOCK ? 0xffff : BIT(i)", "BIT(i)"),
    ("r->sent[kind] &= ~bits;", ""),
    ("level == 2 || level > 3", "1"),
    ("(addr - start) % stride", "0"),
    ("addr >= end", "addr > end"),
    ("READ_ONCE(per_cpu(waits, cpu)) != dsb", "true"),
    ("READ_ONCE(per_cpu(waits, cpu)) != dsb", "false"),
    ("all->sent = ++now", "all->sent = now++"),
    ("memory_type(old) != memory_type(new)", "false"),
    ("type ^= PTE_ATTRINDX(MT_NORMAL_TAGGED) ^ PTE_ATTRINDX(MT_NORMAL);", ";"),
    ("pte_pfn(__pte(old)) != pte_pfn(__pte(new))", "false"),
    ("r->sent[kind] & BIT(i) || mm_tlb_flush_pending(h->mm)", "false"),
    ("held(h, r, BLOCK, i, new, kind != BLOCK, 0);", ""),
    ("held(h, r, SINGLE, i, new, kind != SINGLE, 0);", ""),
    ("held(h, r, SINGLE, i, of, true, 0);", ""),
    ("held(h, r, BLOCK, i, of, true, 0);", ""),
    ("held(&h, r, SINGLE, 0, 0, true, 0);", ""),
    ("members == CONT_PTES && !differs", "!differs"),
    ("pte_pfn(block) % CONT_PTES == 0", "true"),
    ("still_set(&h, old, val);", ""),
    ("flushed(&everything, since)", "false"),
    ("if (old & ~new & PTE_NG)", "if (false)"),
    ("if (old & ~new & PTE_NG)", "if ((old ^ new) & PTE_NG)"),
    ("flush_agrees(mm, start);", ""),
    ("flush_agrees(mm, end);", ""),
    ("other_size && !system_supports_bbml3()", "other_size"),
    ("system_supports_bbml3() || object_is_on_stack(entry)", "false"),
    ("!level && (", "false && ("),
    ("!level && (", "!level || ("),
    ("!lpa2_is_enabled() ||", ""),
    ("system_supports_tlb_range() &&", ""),
    ("system_supports_tlb_range() &&", "false &&"),
    ("end - start > PAGE_SIZE)", "true)"),
    ("(pte_val(pte) & PTE_TYPE_MASK) != PTE_TYPE_PAGE", "!pte_valid(pte)"),
)


def added(patch: Path, name: str) -> str:
    """The contents of a file that a patch adds."""
    (part,) = re.findall(
        rf"^\+\+\+ b/{name}\n(.*?)(?=^diff --git|\Z)", patch.read_text(), re.M | re.S
    )
    return "".join(line[1:] + "\n" for line in part.splitlines() if line.startswith("+"))


def harness(patch: Path, directory: Path, source: str) -> None:
    """Write the model and what it includes."""
    for name in (*HEADERS, *re.findall(r"^#include <(.*)>", source, re.M)):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    header = added(patch, "arch/arm64/include/asm/tlb_hazard.h")
    (directory / "asm/tlb_hazard.h").write_text(header)
    (directory / "tlb_hazard.c").write_text(source)


def complaints(patch: Path, directory: Path, source: str) -> str:
    """Build the self-test with this source and run it; what it complains of."""
    harness(patch, directory, source)
    words = ["cc", "-w", "-I", str(directory), str(HERE / "main.c"), "-o", str(directory / "test")]
    subprocess.run(words, check=True)
    done = subprocess.run([directory / "test"], check=False, stdout=subprocess.PIPE, text=True)
    assert "self-test done" in done.stdout
    return "\n".join(line for line in done.stdout.splitlines() if "found" in line)


def test_the_lines_have_one_model() -> None:
    assert len({added(patch, SOURCE) for patch in PATCHES}) == 1


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.parent.parent.name)
def test_the_model(patch: Path, tmp_path: Path) -> None:
    source = added(patch, SOURCE)
    assert not complaints(patch, tmp_path, source)
    for part, instead in LEFT_OUT:
        assert source.count(part) == 1, part
        assert complaints(patch, tmp_path, source.replace(part, instead)), f"not missed: {part}"
