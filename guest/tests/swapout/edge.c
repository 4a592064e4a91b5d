// SPDX-License-Identifier: GPL-2.0
/* Swap-out as an operation of the matrix; and batches end with their page table. */
#include "kernel/tables.h"
#include "swapout.h"
#include "tests/matrix/operations.h"

/*
 * By the cgroup: MADV_PAGEOUT would first split a folio of which some pages are
 * write-protected by userfaultfd.
 */
static void act(struct trial *t)
{
	if (t->peer.pid)
		reclaim_shared(t->peer.pid);
	else
		reclaim(t->at, t->pages, BY_MEMCG);
	if (t->part)
		EXPECT(!pagemap_present(t->at, t->pages),
		       "%s of %s pages: %zu stay mapped", t->part->name,
		       t->mask->name, pagemap_present(t->at, t->pages));
}

const struct operation swapping_out = {
	.ground = &swapping, .act = act, .swaps = true,
};

static void unlock(char *addr, size_t pages)
{
	range_unlock(addr, pages);
}

static void all_in_swap(char *addr, size_t pages, size_t first)
{
	EXPECT_EQ(pagemap_swapped(addr, pages), pages);
	expect_content(addr, pages, SEED, first);
}

QUIRE_CASE_SIZES(swapout, ends_with_table, 16, 64, 256, 1024)
{
	swapout_start(64 * PAGE_SCALE);
	tables_as_neighbours(kib, unlock, all_in_swap);
	swapout_end();
}
