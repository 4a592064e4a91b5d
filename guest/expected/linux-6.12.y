# SPDX-License-Identifier: GPL-2.0
# What a kernel is known to fail, by name: shown as `expected`, never hidden.
# tree | architectures | cases | why
stock | arm64 x86_64 | ksm.moved_in_swap_cache_unscanned* ksm.child_moved_unscanned* | stock looks for a merged page only at the address where ksmd saw it
stock | arm64 x86_64 | ksm.poison_told_moved_unscanned* | memory failure tells processes that address too
stock | arm64 x86_64 | ksm.poison_spares_unmapped* | memory failure tells every process that shares the anon_vma
stock | arm64 x86_64 | lazyfree.held_stays_lazyfree-* | stock makes a clean lazyfree folio swap-backed when somebody holds it
stock | arm64 x86_64 | lazyfree.not_split_deferred-* lazyfree.kept_not_split_deferred-* | stock unmaps a large folio page by page, which puts it on the deferred split list
stock | arm64 x86_64 | lazyfree.pmd_redirtied_not_split | stock splits the PMD of a redirtied folio
