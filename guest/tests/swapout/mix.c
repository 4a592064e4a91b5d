// SPDX-License-Identifier: GPL-2.0
/*
 * Folios whose pages have different PTE bits. Each page keeps its own bits
 * through swap, not those of its neighbour. The cgroup reclaims: MADV_PAGEOUT
 * would first split a folio with some pages that are write-protected by
 * userfaultfd.
 */
#include <sys/mman.h>

#include "kernel/wp.h"
#include "memory/share.h"
#include "swapout.h"

/* A write to a page in swap is stopped, as one to a mapped page is. */
TRIAL_CASE(swapout, wp_stops_in_swap, swapping, MASKS, ALL_SIZES)
{
	t->uffd = wp_protect(t->at, t->pages, t->kib, t->mask);

	reclaim(t->at, t->pages, BY_MEMCG);
	EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
	expect_wp_stopped(t->uffd, t->at, t->pages, t->kib, t->mask);
}

/*
 * A write to an exclusive page does not copy it, also after it was unmapped for
 * swap and mapped again from the swap cache, where a reference kept the folio.
 * A page that may be shared is copied.
 */
static void check_exclusive(struct trial *t, bool read_only)
{
	size_t kept;

	reclaim_to_swap_cache(t->at, t->pages, t->kib);
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask)) {
		peer_wait(&t->peer);
		peer_end(&t->peer);
	}
	kept = trial_holds(t, 0);
	if (read_only)
		range_protect(t->at, t->pages, PROT_READ);
	t->before = snapshot(t->at, kept);
	reclaim_shared(t->peer.pid);
	EXPECT_EQ(pagemap_present(t->at, kept), 0);
	expect_back(t->before, t->at);
	range_protect(t->at, t->pages, PROT_READ | PROT_WRITE);
	EXPECT_EQ(snapshot_moved(t->before, t->at, t->kib, MASK_ALL), 0);
	expect_writable(t->at, t->pages);
	EXPECT(!snapshot_moved(t->before, t->at, t->kib, t->mask),
	       "exclusive pages (%s) were copied", t->mask->name);
	hold_end(&t->hold);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that shares some pages");
}

CALL_TRIAL_CASE(swapout, exclusive_kept, swapping, MASKS,
		check_exclusive(t, false), LARGE_SIZES)

/* No page is writable, so only the exclusive bit tells the pages apart. */
CALL_TRIAL_CASE(swapout, exclusive_kept_read_only, swapping, MASKS,
		check_exclusive(t, true), LARGE_SIZES)
