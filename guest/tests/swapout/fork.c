// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that parent and child share, as a whole or in part. Both get all
 * contents back from swap, and neither sees what the other writes.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/share.h"
#include "swapout.h"

/* Three turns: check; check again and write; check what was written. */
static void child(struct peer *peer, char *at, size_t pages, unsigned long kib,
		  const struct mask *alone)
{
	sharer_looks(peer, at, pages, kib, alone);
	sharer_writes(peer, at, pages, kib, alone);
}

/*
 * If a shared page is taken for exclusive, a read maps it writable, and the
 * other process finds this page in the swap cache.
 */
static void check_shared(unsigned long kib, const struct mask *alone,
			 bool parent_first, bool read_only)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, alone))
		child(&peer, at, pages, kib, alone);
	if (read_only)
		range_protect(at, pages, PROT_READ);
	reclaim_shared(peer.pid);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	if (parent_first)
		expect_content(at, pages, SEED, 0);
	peer_turn(&peer);	/* the child checks */
	expect_content(at, pages, SEED, 0);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	if (parent_first)
		expect_writable(at, pages);
	peer_turn(&peer);	/* the child checks and writes */
	expect_content(at, pages, parent_first ? SEED_NEW : SEED, 0);
	expect_writable(at, pages);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, pages);
}

SWAPOUT_CASE(shared_parent_first, ALL_SIZES)
{
	for_each_mask(mask)
		check_shared(kib, mask, true, false);
}

SWAPOUT_CASE(shared_child_first, ALL_SIZES)
{
	for_each_mask(mask)
		check_shared(kib, mask, false, false);
}

/* As above, but no page is writable when it is swapped out. */
SWAPOUT_CASE(shared_read_only, ALL_SIZES)
{
	for_each_mask(mask)
		check_shared(kib, mask, true, true);
}

/* Forked while in swap; only the parent has the pages in the mask. */
SWAPOUT_CASE(forked_in_swap, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = swapout_range(kib, true);
		struct peer peer;

		reclaim(at, pages, BY_PAGEOUT);
		if (!fork_without(&peer, at, pages, kib, mask))
			child(&peer, at, pages, kib, mask);
		expect_content(at, pages, SEED, 0);
		peer_turn(&peer);
		expect_writable(at, pages);
		peer_turn(&peer);
		peer_turn(&peer);
		peer_join(&peer, "the child of a range in swap");
		expect_content(at, pages, SEED_NEW, 0);
		range_drop(at, pages);
	}
}

/* The child has exited. Some pages are exclusive, none is shared. */
SWAPOUT_CASE(child_gone, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = swapout_range(kib, true);
		struct snapshot *before;
		struct peer peer;

		if (!fork_without(&peer, at, pages, kib, mask))
			exit(STATUS_OK);
		peer_join(&peer, "a child that only ends");
		before = snapshot(at, pages);
		reclaim(at, pages, BY_PAGEOUT);
		expect_in_swap(before, at, kib);
		expect_content(at, pages, SEED, 0);
		expect_writable(at, pages);
		range_drop(at, pages);
		free(before);
	}
}

/*
 * Forked while the folio is only in the swap cache: no page may count as
 * exclusive any more.
 */
static void check_forked_in_cache(unsigned long kib, const struct mask *alone)
{
	size_t kept, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct hold hold;
	struct peer peer;

	reclaim_to_swap_cache(at, pages, kib);
	hold = hold_folios(at, pages, kib, 0);
	kept = hold.held * folio_pages(kib);
	reclaim(at, pages, BY_MEMCG);
	EXPECT_EQ(pagemap_swapped(at, kept), kept);
	if (!fork_without(&peer, at, pages, kib, alone))
		child(&peer, at, pages, kib, alone);
	expect_content(at, pages, SEED, 0);
	peer_turn(&peer);	/* the child checks: both have the same pages */
	expect_writable(at, pages);
	peer_turn(&peer);	/* the child checks and writes */
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child of what is in the swap cache");
	hold_end(&hold);
	range_drop(at, pages);
}

SWAPOUT_CASE(forked_in_swap_cache, LARGE_SIZES)
{
	for_each_mask(mask)
		check_forked_in_cache(kib, mask);
}
