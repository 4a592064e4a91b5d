// SPDX-License-Identifier: GPL-2.0
/*
 * MAP_DROPPABLE memory (mmap(2), Linux 6.11): the kernel may drop it at any
 * time, dirty or not, and never swaps it out.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/uapi.h"
#include "kernel/env.h"
#include "kernel/memcg.h"
#include "kernel/swap.h"
#include "lazyfree.h"
#include "memory/folio.h"
#include "memory/pattern.h"
#include "proc/proc.h"
#include "process/map.h"

static char *droppable_range(unsigned long kib, bool by_pte, bool clean)
{
	size_t total, ok, pages = range_pages(kib), len = pages * PAGE_SIZE;
	char *at;

	if (NARROW)
		SKIP("MAP_DROPPABLE is for 64 bits");
	memcg_enter();
	at = range_hole(SRC_BASE, pages);
	folio_want(kib);
	map_or_die(at, len, PROT_READ | PROT_WRITE,
		   MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pattern_write(at, len, SEED);
	folio_want(PAGE_KIB);
	ok = folio_count(at, len, kib, &total);
	ASSERT(ok == total, "only %zu of %zu blocks are folios of %lu KiB", ok,
	       total, kib);
	if (by_pte && kib * KIB == PMD_SIZE)
		range_split_pmds(at, pages);
	if (clean && madvise(at, len, MADV_FREE))
		die_errno("MADV_FREE of droppable memory");
	env_drain_lru();
	EXPECT_EQ(lazy_swapbacked(at, pages), 0);
	return at;
}

static void check_dropped(unsigned long kib, bool by_pte, bool clean,
			  enum how how)
{
	size_t pages = range_pages(kib);
	char *at = droppable_range(kib, by_pte, clean);
	unsigned long out = vmstat("pswpout");

	reclaim(at, pages, how);
	/* Reclaim of the cgroup may swap out other memory of this process. */
	if (how == BY_PAGEOUT)
		EXPECT_EQ(vmstat("pswpout") - out, 0);
	expect_dropped(at, pages);
	expect_writable(at, pages);
	range_drop(at, pages);
}

static void check_all_ways(unsigned long kib, bool clean)
{
	enum how how;

	for (how = 0; how < NR_HOW; how++) {
		for_each_mapping(by_pte, kib)
			check_dropped(kib, by_pte, clean, how);
	}
}

QUIRE_CASE_SIZES(lazyfree, droppable_dirty, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	check_all_ways(kib, false);
}

QUIRE_CASE_SIZES(lazyfree, droppable_clean, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	check_all_ways(kib, true);
}

/*
 * An extra reference keeps the folio for now, but does not make it swap-backed.
 */
static void check_held(unsigned long kib, bool by_pte, enum how how)
{
	size_t kept, pages = range_pages(kib);
	char *at = droppable_range(kib, by_pte, false);
	struct hold hold = hold_folios(at, pages, kib, 0);
	struct snapshot *before;

	kept = hold.held * folio_pages(kib);
	before = snapshot(at, kept);
	reclaim(at, pages, how);
	expect_entries(before, at);
	expect_content(at, kept, SEED, 0);
	EXPECT_EQ(lazy_swapbacked(at, kept), 0);
	hold_end(&hold);
	reclaim(at, pages, how);
	expect_dropped(at, pages);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(lazyfree, droppable_held, ALL_SIZES)
{
	enum how how;

	swap_on(SWAP_MIB);
	for (how = 0; how < NR_HOW; how++) {
		for_each_mapping(by_pte, kib)
			check_held(kib, by_pte, how);
	}
}
