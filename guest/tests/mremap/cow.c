// SPDX-License-Identifier: GPL-2.0
/*
 * Copy-on-write around a move. When parent or child writes to a shared page,
 * the other must not see it, wherever the pages were moved.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/mask.h"
#include "memory/share.h"
#include "mremap.h"
#include "process/peer.h"

#define SWAP_MIB	(64 * PAGE_SCALE)
#define DST		page_at(DST_BASE, BLOCK)

/*
 * Forks a child that gets all pages but those in the mask, which stay writable
 * and exclusive in the parent. In its turns, the child checks, writes and
 * checks again.
 */
static void fork_sharer(struct peer *peer, char *addr, size_t pages,
			const struct mask *alone)
{
	if (fork_without(peer, addr, pages, BLOCK_KIB, alone))
		return;
	sharer_looks(peer, addr, pages, BLOCK_KIB, alone);
	sharer_writes(peer, addr, pages, BLOCK_KIB, alone);
}

enum first { PARENT_WRITES, CHILD_WRITES, PARENT_WRITES_SWAPPED };

static void check_move(unsigned long kib, const struct mask *alone,
		       enum first first, char *to)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	struct peer peer;

	range_hole(to, pages);
	/* Swap entries that the child does not get are exclusive. */
	if (first == PARENT_WRITES_SWAPPED)
		swap_out(from, pages);
	fork_sharer(&peer, from, pages, alone);
	move_and_check(from, pages, to);
	if (first == PARENT_WRITES)
		expect_content(to, pages, SEED, 0);
	if (first != CHILD_WRITES)
		expect_writable(to, pages);
	peer_turn(&peer);	/* the child still sees what it had */
	peer_turn(&peer);	/* the child writes */
	expect_content(to, pages, first == CHILD_WRITES ? SEED : SEED_NEW, 0);
	if (first == CHILD_WRITES)
		expect_writable(to, pages);
	peer_turn(&peer);	/* the child still sees what it wrote */
	peer_join(&peer, "the child that shares some pages");
	range_drop(from, pages);
	range_drop(to, pages);
}

static void check_masks(unsigned long kib, enum first first, char *to)
{
	check_move(kib, &mask_none, first, to);
	for_each_mask(alone)
		check_move(kib, alone, first, to);
}

QUIRE_CASE_SIZES(mremap, cow_parent_writes, ALL_SIZES)
{
	check_masks(kib, PARENT_WRITES, DST);
}

QUIRE_CASE_SIZES(mremap, cow_child_writes, ALL_SIZES)
{
	check_masks(kib, CHILD_WRITES, page_at(DST_BASE, 3));
}

QUIRE_CASE_SIZES(mremap, cow_swapped, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	check_masks(kib, PARENT_WRITES_SWAPPED, DST);
}

/* Both move their range, to the same address, before either writes. */
QUIRE_CASE_SIZES(mremap, cow_both_move, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct peer peer;

	if (!peer_fork(&peer)) {
		move_and_check(from, pages, to);
		peer_go(&peer);
		sharer_looks(&peer, to, pages, BLOCK_KIB, &mask_none);
		sharer_writes(&peer, to, pages, BLOCK_KIB, &mask_none);
	}
	peer_wait(&peer);
	move_and_check(from, pages, to);
	expect_writable(to, pages);
	peer_turn(&peer);
	peer_turn(&peer);
	expect_content(to, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that moves, too");
}

QUIRE_CASE_SIZES(mremap, cow_dontunmap, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct snapshot *before;
	struct peer peer;

	fork_sharer(&peer, from, pages, MASK_LOW_HALF);
	before = snapshot(from, pages);
	move_full(from, pages, pages, MREMAP_DONTUNMAP, to);
	expect_moved(before, to, WP_KEPT);
	expect_empty(from, pages);
	expect_writable(to, pages);
	expect_zero(from, pages);
	expect_writable(from, pages);
	peer_turn(&peer);
	peer_turn(&peer);
	expect_content(to, pages, SEED_NEW, 0);
	expect_content(from, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child of a range that stays mapped");
	free(before);
}

QUIRE_CASE_SIZES(mremap, cow_fork_after_move, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, BLOCK + 1), pages);
	char *again = range_hole(page_at(DST2_BASE, BLOCK), pages);
	struct peer peer;

	move_and_check(from, pages, to);
	fork_sharer(&peer, to, pages, MASK_HIGH_HALF);
	move_and_check(to, pages, again);
	expect_writable(again, pages);
	peer_turn(&peer);
	peer_turn(&peer);
	expect_content(again, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child forked after a move");
}

/* The child has exited. Some pages are write-protected but not shared. */
QUIRE_CASE_SIZES(mremap, cow_child_gone, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct peer peer;

	if (!fork_without(&peer, from, pages, BLOCK_KIB, MASK_EVEN)) {
		peer_wait(&peer);
		peer_end(&peer);
	}
	peer_turn(&peer);
	peer_join(&peer, "the child that only forks");
	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}
