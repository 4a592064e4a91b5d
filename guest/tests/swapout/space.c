// SPDX-License-Identifier: GPL-2.0
/* Swap space that is too small for all pages, or is removed. */
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

	range_unlock(at, pages);
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
TRIAL_CASE(swapout, swapoff, swapping, MASKS, ALL_SIZES)
{
	if (!fork_without(&t->peer, t->at, t->pages, t->kib, t->mask))
		sharer_writes(&t->peer, t->at, t->pages, t->kib, t->mask);
	t->before = snapshot(t->at, t->pages);
	reclaim_shared(t->peer.pid);
	expect_masked(t->at, t->pages, t->kib, mask_opposite(t->mask), SEED);
	swap_off();
	EXPECT_EQ(pagemap_present(t->at, t->pages), t->pages);
	EXPECT_EQ(smaps_kib(t->at, "Swap"), 0);
	expect_back(t->before, t->at);
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);
	expect_content(t->at, t->pages, SEED_NEW, 0);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child of what swapoff brought back");
	swap_on(SWAP_MIB);
}
