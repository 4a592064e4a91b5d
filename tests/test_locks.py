# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT

from quire.boot.counts import RegionCounts
from quire.host.errors import UserError
from quire.measure import cost

FILE = ROOT / "guest/workloads/locks.toml"
LOCKS = cost.read_locks(FILE)


@pytest.mark.parametrize(
    ("caller", "function", "name"),
    [
        ("lock_mm_and_find_vma", "down_read_trylock", "mmap_lock read"),
        ("__arm64_sys_mincore", "down_read", "mmap_lock read"),
        ("madvise_lock", "down_read", "mmap_lock read"),
        ("do_madvise", "down_read", "mmap_lock read"),
        ("do_madvise", "down_write_killable", "mmap_lock write"),
        ("vm_mmap_pgoff", "down_write_killable", "mmap_lock write"),
        ("__do_sys_mremap", "down_write_killable", "mmap_lock write"),
        ("do_mremap", "down_write_killable", "mmap_lock write"),
        ("exit_mmap", "down_write", "mmap_lock write"),
        ("lock_vma_under_rcu", "down_read_trylock", "vma"),
        ("folio_lock_anon_vma_read", "down_read_trylock", "anon_vma"),
        ("anon_vma_fork", "down_write", "anon_vma"),
        ("__rmap_walk_file", "down_read", "i_mmap"),
        ("__pte_offset_map_lock", "_raw_spin_lock", "page table"),
        ("pte_offset_map_lock", "_raw_spin_lock", "page table"),
        ("page_vma_mapped_walk", "_raw_spin_lock", "page table"),
        ("folio_lruvec_lock_irqsave", "_raw_spin_lock_irqsave", "lru"),
        ("__swap_duplicate", "_raw_spin_lock", "swap"),
        ("folio_alloc_swap", "_raw_spin_lock", "swap"),
        ("swap_entry_range_free", "_raw_spin_lock", "swap"),
        ("free_pcppages_bulk", "_raw_spin_lock_irqsave", "zone"),
        ("__remove_mapping", "_raw_spin_lock_irq", "page cache"),
        ("zs_malloc", "_raw_spin_lock", "zram"),
        ("list_lru_add", "_raw_spin_lock", "other spin"),
        # Of arm64's 6.12, which inlines spin locks.
        ("page_vma_mapped_walk", "inlined_spin_lock", "page table"),
        ("-", "inlined_spin_lock", "other spin"),
        # With one function it takes the new mm's mmap_lock, VMAs' locks and i_mmap_rwsem.
        ("dup_mmap", "down_write", "other rwsem"),
        ("dup_mmap", "down_write_killable", "mmap_lock write"),
        ("ksm_scan_thread", "mutex_lock", "mutex"),
    ],
)
def test_the_class_of_a_call(caller: str, function: str, name: str) -> None:
    assert LOCKS.class_of(caller, function) == name


def test_every_lock_function_has_a_class() -> None:
    """Whoever calls it."""
    assert {LOCKS.class_of("no_such_function", name) for name in LOCKS.watched} == {
        "other spin",
        "other rwsem",
        "mutex",
    }


def test_locks_are_counted_by_class() -> None:
    calls = {("page_vma_mapped_walk", "_raw_spin_lock"): 3, ("x", "_raw_spin_trylock"): 2}
    counted = LOCKS.count(RegionCounts(1, 9, 0, 9, 0, locks=Counter(calls)))
    assert list(counted) == list(LOCKS.classes)
    assert {name: n for name, n in counted.items() if n} == {"page table": 3, "other spin": 2}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "other spin"', 'name = "other spin"\ncallers = ["a*"]', "have no class"),
        ('functions = "mutex"', 'functions = "none"', "no group of functions"),
        ('name = "lru"', "", "is invalid"),
        ('name = "lru"', "name =", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = FILE.read_text()
    assert text.count(old) == 1
    broken = tmp_path / "locks.toml"
    broken.write_text(text.replace(old, new))
    with pytest.raises(UserError, match=said) as caught:
        cost.read_locks(broken)
    assert str(broken) in caught.value.where
