# SPDX-License-Identifier: GPL-2.0
# What a kernel is known to fail, by name: shown as `expected`, never hidden.
# tree | architectures | cases | why
stock | arm64 x86_64 | ksm.stock_fails_moved_in_swap_cache* ksm.stock_fails_child_moved_unscanned* | stock looks for a merged page only at the address where ksmd saw it
stock | arm64 x86_64 | ksm.stock_fails_poison_told_moved_unscanned* | memory failure tells processes that address too
stock | arm64 x86_64 | ksm.stock_fails_poison_spares_unmapped* | memory failure tells every process that shares the anon_vma
stock | arm64 x86_64 | lazyfree.patched_held_stays_lazyfree-* | stock makes a clean lazyfree folio swap-backed when somebody holds it
stock | arm64 x86_64 | lazyfree.patched_not_split_deferred-* lazyfree.patched_kept_not_split_deferred-* | stock unmaps a large folio page by page, which puts it on the deferred split list
stock | arm64 x86_64 | lazyfree.patched_pmd_redirtied_not_split | stock splits the PMD of a redirtied folio
