# SPDX-License-Identifier: GPL-2.0
"""The model of lines/tlbcheck: its self-test passes on this host, and sees each rule that is
left out. A kernel of tlbcheck.config runs the same self-test when it boots, or a part of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from quire.host import project

ROOT = project.find().root
HERE = ROOT / "tests/tlb"
PATCH = ROOT / "lines/tlbcheck/tlb-hazard.patch"
SOURCE = "arch/arm64/mm/tlb_hazard.c"
X86_PATCH = ROOT / "lines/tlbcheck/tlb-hazard-x86.patch"
X86_SOURCE = "arch/x86/mm/tlb_hazard.c"
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

# The same of x86-64's.
X86_LEFT_OUT = (
    ("(entry & _PAGE_RW) && ", ""),
    (" && (entry & _PAGE_DIRTY);", ";"),
    ("& ~(pages - 1);", ";"),
    ("r->mm == mm && r->addr == addr &&", "r->mm == mm &&"),
    ("r->writes = writes(entry);", "r->writes = true;"),
    ("r->writes = writes(entry);", "r->writes = false;"),
    (" && r->writes == writing)", ")"),
    ("r->since = ++now;", "r->since = now;"),
    ("r->batches = 0;", ""),
    ("r->batches |= bit_of(batch);", "r->batches = bit_of(batch);"),
    ("r->task = current;", ""),
    ("came_back(mm, addr, pfn_of(new, pages), pages, false);", ""),
    ("if (writes(new))", "if (true)"),
    ("if (writes(new))", "if (false)"),
    ("if (!(old & _PAGE_PRESENT))\n\t\treturn;", ""),
    ("!(new & _PAGE_PRESENT) || pfn_of", "pfn_of"),
    ("pfn_of(old, pages) != pfn_of(new, pages)", "false"),
    ("(writes(old) && !writes(new))", "false"),
    ("(writes(old) && !writes(new))", "!writes(new)"),
    ("if (walk(mm, addr) == entry)", "if (false)"),
    ("if (pages > 1 && is_table(__pmd(old)))", "if (false)"),
    ("val += pages * PAGE_SIZE;", ";"),
    ("if (is_table(READ_ONCE(*pmdp)))", "if (true)"),
    ("else if (old & _PAGE_PSE)\n", "else\n"),
    ("else if (old & _PAGE_PSE)\n", "else if (false)\n"),
    ("hold_table(mm, addr, __pmd(old));\n\t\traw", "raw"),
    ("start += round_up(r->addr - start, 1UL << shift);", "return start < end;"),
    ("if (r->addr > start)", "if (false)"),
    ("return start < min(last, end);", "return start < last;"),
    ("return start < min(last, end);", "return start < end;"),
    ("(!mm || r->mm == mm)", "true"),
    ("(!mm || r->mm == mm)", "r->mm == mm"),
    ("r->since <= begun &&\n\t\t    (end", "(end"),
    ("r->since <= begun &&\n\t\t    (end", "r->since < begun &&\n\t\t    (end"),
    ("r->since <= begun &&\n\t\t    covers", "covers"),
    ("end == TLB_FLUSH_ALL || covers(r, start, end, shift)", "true"),
    ("covers(r, start, end, PAGE_SHIFT))", "true)"),
    ("if (r->batches & bit_of(batch))", "if (true)"),
    ("if (r->batches & bit_of(batch))", "if (r->batches == bit_of(batch))"),
    ("r->task == task && r->pid == task->pid :", "true :"),
    ("r->task == task && r->pid == task->pid :", "r->task == task :"),
    ("if (is_zero_pfn(pfn))\n\t\treturn;", ""),
    ("r->pfn < pfn + nr &&", ""),
    ("r->pfn + r->pages > pfn)", "r->pfn >= pfn)"),
    ("r->pfn + r->pages > pfn)", "true)"),
    ("pfn < r->pfn + r->pages &&", ""),
    ("pfn & ~(PTRS_PER_PMD - 1UL)", "pfn"),
    ("return what == HELD || (r->writes &&", "return (true &&"),
    ("return what == HELD ||", "return"),
    ("!(what == KEPT && r->given_up)", "true"),
    ("!(what == KEPT && r->given_up)", "!r->given_up"),
    ("r->given_up = false;", ""),
    # Reset for a new record alone.
    (
        "\t}\n\tr->entry = entry;\n\tr->since = ++now;\n\tr->given_up = false;",
        "\tr->given_up = false; }\n\tr->entry = entry;\n\tr->since = ++now;",
    ),
    ("nr--, pfn++, addr += PAGE_SIZE) {", "nr--, pfn++) {"),
    ("nr--, pfn++, addr += PAGE_SIZE) {", "nr = 0) {"),
    ("find(mm, addr, pfn, 1, true);", "find(mm, addr, pfn, 1, false);"),
)


def added(patch: Path, name: str) -> str:
    """The contents of a file that a patch adds."""
    (part,) = re.findall(
        rf"^\+\+\+ b/{name}\n(.*?)(?=^diff --git|\Z)", patch.read_text(), re.M | re.S
    )
    return "".join(line[1:] + "\n" for line in part.splitlines() if line.startswith("+"))


def harness(patch: Path, directory: Path, source: str, arch: str = "arm64") -> None:
    """Write the model and what it includes."""
    for name in (*HEADERS, *re.findall(r"^#include <(.*)>", source, re.M)):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    header = added(patch, f"arch/{arch}/include/asm/tlb_hazard.h")
    (directory / "asm/tlb_hazard.h").write_text(header)
    (directory / "tlb_hazard.c").write_text(source)


def complaints(patch: Path, directory: Path, source: str, arch: str = "arm64") -> str:
    """Build the self-test with this source and run it; what it complains of."""
    harness(patch, directory, source, arch)
    main = HERE / ("main.c" if arch == "arm64" else f"{arch}.c")
    words = ["cc", "-w", "-I", str(directory), str(main), "-o", str(directory / "test")]
    subprocess.run(words, check=True)
    done = subprocess.run([directory / "test"], check=False, stdout=subprocess.PIPE, text=True)
    assert "self-test done" in done.stdout
    return "\n".join(line for line in done.stdout.splitlines() if "found" in line)


def test_the_model(tmp_path: Path) -> None:
    source = added(PATCH, SOURCE)
    assert not complaints(PATCH, tmp_path, source)
    for part, instead in LEFT_OUT:
        assert source.count(part) == 1, part
        assert complaints(PATCH, tmp_path, source.replace(part, instead)), f"not missed: {part}"


def test_the_model_of_x86(tmp_path: Path) -> None:
    source = added(X86_PATCH, X86_SOURCE)
    assert not complaints(X86_PATCH, tmp_path, source, "x86")
    for part, instead in X86_LEFT_OUT:
        assert source.count(part) == 1, part
        found = complaints(X86_PATCH, tmp_path, source.replace(part, instead), "x86")
        assert found, f"not missed: {part}"
