// SPDX-License-Identifier: GPL-2.0
/*
 * Folios whose pages have different PTE bits. Each page keeps its own bits
 * through swap, not those of its neighbour. The cgroup reclaims: MADV_PAGEOUT
 * would first split a folio with some pages that are write-protected by
 * userfaultfd.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/swap.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "swapout.h"

static void check_wp(unsigned long kib, const struct mask *mask, bool alike)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct snapshot *before;
	int uffd;

	if (alike)
		fork_and_forget();
	uffd = wp_protect(at, pages, kib, mask);
	before = snapshot(at, pages);
	reclaim(at, pages, BY_MEMCG);
	expect_in_swap(before, at, kib);
	expect_content(at, pages, SEED, 0);
	expect_back(before, at);
	expect_wp_stopped(uffd, at, pages, kib, mask);
	close(uffd);
	range_drop(at, pages);
	free(before);
}

SWAPOUT_CASE(wp_kept, ALL_SIZES)
{
	for_each_mask(mask)
		check_wp(kib, mask, false);
}

/* All PTEs are read-only: only the protection tells them apart. */
SWAPOUT_CASE(wp_kept_read_only, ALL_SIZES)
{
	for_each_mask(mask)
		check_wp(kib, mask, true);
}

/* A write to a page in swap is stopped, as one to a mapped page is. */
SWAPOUT_CASE(wp_stops_in_swap, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = swapout_range(kib, true);
		int uffd = wp_protect(at, pages, kib, mask);

		reclaim(at, pages, BY_MEMCG);
		EXPECT_EQ(pagemap_swapped(at, pages), pages);
		expect_wp_stopped(uffd, at, pages, kib, mask);
		close(uffd);
		range_drop(at, pages);
	}
}

/* The pages in the mask are soft-dirty. Dirty are all or (clean) only these. */
static void check_soft_dirty(unsigned long kib, const struct mask *mask,
			     bool alike)
{
	size_t n, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct snapshot *before;

	soft_dirty_where(at, pages, kib, mask);
	if (alike)
		fork_and_forget();
	before = snapshot(at, pages);
	for (n = 0; n < pages; n++)
		EXPECT_EQ(before->page[n].soft_dirty, masked(mask, n, kib));
	swap_out(at, pages);
	expect_in_swap(before, at, kib);
	expect_content(at, pages, SEED, 0);
	expect_back(before, at);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(swapout, soft_dirty_kept, ALL_SIZES)
{
	needs_soft_dirty();
	swapout_start(SWAP_MIB);
	for_each_mask(mask) {
		check_soft_dirty(kib, mask, false);
		check_soft_dirty(kib, mask, true);
	}
	swapout_end();
}

/*
 * A write to an exclusive page does not copy it, also after it was unmapped for
 * swap and mapped again from the swap cache, where a reference kept the folio.
 * A page that may be shared is copied.
 */
static void check_exclusive(unsigned long kib, const struct mask *alone,
			    bool read_only)
{
	size_t kept, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct snapshot *before;
	struct hold hold;
	struct peer peer;

	reclaim_to_swap_cache(at, pages, kib);
	if (!fork_without(&peer, at, pages, kib, alone)) {
		peer_wait(&peer);
		peer_end(&peer);
	}
	hold = hold_folios(at, pages, kib, 0);
	kept = hold.held * folio_pages(kib);
	if (read_only)
		range_protect(at, pages, PROT_READ);
	before = snapshot(at, kept);
	reclaim_shared(peer.pid);
	EXPECT_EQ(pagemap_present(at, kept), 0);
	expect_back(before, at);
	range_protect(at, pages, PROT_READ | PROT_WRITE);
	EXPECT_EQ(snapshot_moved(before, at, kib, MASK_ALL), 0);
	expect_writable(at, pages);
	EXPECT(!snapshot_moved(before, at, kib, alone),
	       "%zu exclusive pages (%s) were copied",
	       snapshot_moved(before, at, kib, alone), alone->name);
	hold_end(&hold);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares some pages");
	range_drop(at, pages);
	free(before);
}

SWAPOUT_CASE(exclusive_kept, LARGE_SIZES)
{
	for_each_mask(mask)
		check_exclusive(kib, mask, false);
}

/* No page is writable, so only the exclusive bit tells the pages apart. */
SWAPOUT_CASE(exclusive_kept_read_only, LARGE_SIZES)
{
	for_each_mask(mask)
		check_exclusive(kib, mask, true);
}
