// SPDX-License-Identifier: GPL-2.0
/*
 * Copy-on-write around a move. When parent or child writes to a shared page,
 * the other must not see it, wherever the pages were moved.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/share.h"
#include "mremap.h"

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

/* Both move their range, to the same address, before either writes. */
MOVE_CASE(cow_both_move, ALL_SIZES)
{
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

MOVE_CASE(cow_dontunmap, ALL_SIZES)
{
	struct snapshot *before;
	struct peer peer;

	fork_sharer(&peer, from, pages, MASK_LOW_HALF);
	before = snapshot(from, pages);
	move_full(from, pages, pages, MREMAP_DONTUNMAP, to);
	expect_changed(before, to, MOVED);
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
MOVE_CASE(cow_child_gone, ALL_SIZES)
{
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
