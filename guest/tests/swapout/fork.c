// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that parent and child share, as a whole or in part. Both get all
 * contents back from swap, and neither sees what the other writes.
 */
#include <stdlib.h>

#include "memory/share.h"
#include "swapout.h"

/* Three turns: check; check again and write; check what was written. */
static void child(struct peer *peer, char *at, size_t pages, unsigned long kib,
		  const struct mask *alone)
{
	sharer_looks(peer, at, pages, kib, alone);
	sharer_writes(peer, at, pages, kib, alone);
}

/* Forked while in swap; only the parent has the pages in the mask. */
TRIAL_CASE(swapout, forked_in_swap, swapping, MASKS, ALL_SIZES)
{
	reclaim(t->at, t->pages, BY_PAGEOUT);
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		child(&t->peer, t->at, t->pages, t->kib, t->mask);
	expect_content(t->at, t->pages, SEED, 0);
	peer_turn(&t->peer);
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child of a range in swap");
	expect_content(t->at, t->pages, SEED_NEW, 0);
}

/* The child has exited. Some pages are exclusive, none is shared. */
TRIAL_CASE(swapout, child_gone, swapping, MASKS, ALL_SIZES)
{
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		exit(STATUS_OK);
	peer_join(&t->peer, "a child that only ends");
	t->before = snapshot(t->at, t->pages);
	reclaim(t->at, t->pages, BY_PAGEOUT);
	expect_in_swap(t->before, t->at, t->kib);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}

/*
 * Forked while the folio is only in the swap cache: no page may count as
 * exclusive any more.
 */
TRIAL_CASE(swapout, forked_in_swap_cache, swapping, MASKS, LARGE_SIZES)
{
	size_t kept;

	reclaim_to_swap_cache(t->at, t->pages, t->kib);
	kept = trial_holds(t, 0);
	reclaim(t->at, t->pages, BY_MEMCG);
	EXPECT_EQ(pagemap_swapped(t->at, kept), kept);
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		child(&t->peer, t->at, t->pages, t->kib, t->mask);
	expect_content(t->at, t->pages, SEED, 0);
	peer_turn(&t->peer);	/* the child checks: both have the same pages */
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);	/* the child checks and writes */
	expect_content(t->at, t->pages, SEED_NEW, 0);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child of what is in the swap cache");
	hold_end(&t->hold);
}
