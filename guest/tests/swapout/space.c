// SPDX-License-Identifier: GPL-2.0
/* Swap space that is too small for all pages, or is removed. */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "proc/proc.h"
#include "swapout.h"

/* Room for one and a half of the largest folios. */
static unsigned long small_swap_mib(unsigned long kib)
{
	unsigned long mib = kib * 3 / 2048;

	return mib > 3 * PAGE_SCALE ? mib : 3 * PAGE_SCALE;
}

/* Room for only half of the pages: the others stay, and no byte is lost. */
static void check_full(unsigned long kib, enum how how)
{
	size_t out, round, room = small_swap_mib(kib) * MIB / PAGE_SIZE;
	size_t pages = 2 * room;
	char *at = range_filled(SRC_BASE, pages, kib);

	if (munlock(at, pages * PAGE_SIZE))
		die_errno("munlock of the range");
	for (round = 0; round < 3; round++) {
		pattern_write(at, pages * PAGE_SIZE, SEED + round);
		reclaim(at, pages, how);
		out = pagemap_swapped(at, pages);
		/* The header takes a page; each CPU may have slots in reserve. */
		EXPECT(out > room * 3 / 4 && out < room,
		       "%zu pages are in swap", out);
		EXPECT_EQ(pagemap_present(at, pages), pages - out);
		EXPECT_EQ(smaps_kib(at, "Swap"), out * PAGE_SIZE / KIB);
		expect_content(at, pages, SEED + round, 0);
	}
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(swapout, swap_full, ALL_SIZES)
{
	enum how how;

	swapout_start(small_swap_mib(kib));
	for (how = 0; how < NR_HOW; how++)
		check_full(kib, how);
	swapout_end();
}

/* swapoff swaps in all pages of the folios, or the part that is in swap. */
static void check_swapoff(unsigned long kib, const struct mask *alone,
			  const struct mask *back)
{
	size_t n, pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct snapshot *before;
	struct peer peer;

	if (!fork_without(&peer, at, pages, kib, alone))
		sharer_writes(&peer, at, pages, kib, alone);
	before = snapshot(at, pages);
	reclaim_shared(peer.pid);
	for (n = 0; n < pages; n++) {
		if (masked(back, n, kib))
			expect_content(page_at(at, n), 1, SEED, n);
	}
	swap_off();
	EXPECT_EQ(pagemap_present(at, pages), pages);
	EXPECT_EQ(smaps_kib(at, "Swap"), 0);
	expect_back(before, at);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	peer_turn(&peer);
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child of what swapoff brought back");
	range_drop(at, pages);
	swap_on(SWAP_MIB);
	free(before);
}

SWAPOUT_CASE(swapoff, ALL_SIZES)
{
	for_each_mask(mask)
		check_swapoff(kib, mask, mask_opposite(mask));
}
