# SPDX-License-Identifier: GPL-2.0
"""The kernel's own contpte.c under the model of lines/tlbcheck: which calls are hazards.

Needs a base that quire has unpacked; docs/dev/tlb.md has what it shows."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from test_tlb_hazard import HERE, PATCH, ROOT, SOURCE, added, harness

from quire.source import series
from quire.timing import leaf

CONTPTE = "arch/arm64/mm/contpte.c"
BUILD = Path(os.environ.get("O", ROOT / "build"))
LINES = sorted(path.name for path in ROOT.glob("lines/[0-9]*"))
FUNCTIONS = (
    "mm_is_user",
    "contpte_align_down",
    "pte_gather_add",
    "pte_gather_apply",
    "contpte_try_unfold_partial",
    "contpte_set_block",
    "contpte_convert",
    "__contpte_try_fold",
    "__contpte_try_unfold",
    "contpte_set_ptes",
    "contpte_get_and_clear_full_ptes",
    "contpte_wrprotect_ptes",
)
# How often each is reported: in the order of stock's calls, and with what the series adds.
NEVER = ("unfold and fold", "fork")
EXPECTED = {
    "mprotect, a block in turn": (16, 0),
    "mprotect, single entries become a block": (1, 0),
    "a fault after hints on a block": (5, 0),
    "reclaim puts a block back": (0, 0),
    "reclaim puts single entries back as a block": (1, 0),
    "a fault after reclaim of a block": (1, 0),
    "a fault after reclaim of a page": (0, 0),
    # The series does not flush here.
    "a fault maps a block after zapping single pages": (1, 0),
    "a fault maps a page after zapping a block": (1, 0),
}


def functions(source: str) -> str:
    """What this test calls of contpte.c, and what differs between the lines."""
    text = ""
    if "TLBF_NOWALKCACHE" not in source:
        text += (
            "#define __flush_tlb_range(vma, start, end, stride, last, level) "
            "flush_range(vma, start, end, stride, level, TLBF_NOWALKCACHE)\n"
        )
    arguments = "mm, ptep, pte, nr" if "_set(mm, ptep, pte" in source else "mm, addr, ptep, pte, nr"
    text += (
        f"#define page_table_check_ptes_set({arguments}) tlb_hazard_set(mm, "
        "AT + ((uintptr_t)(ptep) % PAGE_SIZE) * 512, ptep, pte_val(pte), nr, PAGE_SIZE)\n"
    )
    gather = re.search(r"^struct pte_gather \{.*?^\};\n", source, re.M | re.S)
    text += gather[0] if gather else ""
    for name in FUNCTIONS:
        text += leaf.definition(source, name)
    return text


def contpte(line: str, patched: bool, directory: Path) -> str:
    """The file of the newest base of that line, with what the series changes of it."""
    bases = sorted(BUILD.glob(f"base/{line}.*/linux/{CONTPTE}"))
    if not bases:
        pytest.skip(f"no base of {line} in {BUILD}")
    file = directory / CONTPTE
    file.parent.mkdir(parents=True)
    file.write_text(bases[-1].read_text())
    if patched:
        for patch in series.read(ROOT / f"patches/linux-{line}.y/series").patches:
            words = ["git", "apply", f"--include={CONTPTE}", "--whitespace=nowarn", str(patch.path)]
            env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(directory.parent)}
            subprocess.run(words, check=True, cwd=directory, env=env)
    return file.read_text()


@pytest.mark.parametrize("patched", [False, True], ids=["stock", "series"])
@pytest.mark.parametrize("line", LINES)
def test_the_paths(line: str, patched: bool, tmp_path: Path) -> None:
    source = contpte(line, patched, tmp_path / "tree")
    work = tmp_path / "work"
    work.mkdir()
    (work / "contpte.c").write_text(functions(source))
    harness(PATCH, work, added(PATCH, SOURCE))
    words = ["cc", "-w", "-I", str(work), "-I", str(HERE), str(HERE / "paths.c")]
    subprocess.run([*words, "-o", str(work / "paths")], check=True)
    told = subprocess.run([work / "paths"], check=True, stdout=subprocess.PIPE, text=True).stdout
    counts = re.findall(r"^(.*): (\d+)$", told, re.M)
    stock = [(name, seen) for name, (seen, _) in EXPECTED.items()]
    ours = [(name, seen) for name, (_, seen) in EXPECTED.items()]
    expected = [*((name, 0) for name in NEVER), *stock, *ours]
    assert [(name, int(seen)) for name, seen in counts] == expected
