// SPDX-License-Identifier: GPL-2.0
/*
 * Copy-on-write around a move: what parent and child share must stay as it was
 * for the one when the other writes, wherever its pages have been moved to.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/swap.h"
#include "memory/pattern.h"
#include "mremap.h"
#include "process/peer.h"

#define SWAP_MIB	64
#define DST		page_at(DST_BASE, BLOCK)

/*
 * Which pages of each block the child does not get (MADV_DONTFORK): 'w', they
 * stay writable and exclusive in the parent. 's' is shared, so write-protected.
 */
static const char *const shares[] = {
	"ssssssssssssssss",
	"wwwwwwwwssssssss",
	"sssssssswwwwwwww",
	"wswswswswswswsws",
	"ssssswssssssssss",
	"wwwwwwwwwwwswwww",
};

static bool is_shared(const char *share, size_t page)
{
	return share[page % BLOCK] == 's';
}

static void keep_from_fork(char *addr, size_t pages, const char *share)
{
	size_t n, run;

	for (n = 0; n < pages; n += run + 1) {
		for (run = 0; n + run < pages && !is_shared(share, n + run);
		     run++)
			;
		if (run && madvise(page_at(addr, n), run * PAGE_SIZE,
				   MADV_DONTFORK))
			die_errno("MADV_DONTFORK of page %zu", n);
	}
}

/* Fork with these pages kept back; then the range is one mapping again. */
static bool fork_sharing(struct peer *peer, char *addr, size_t pages,
			 const char *share)
{
	keep_from_fork(addr, pages, share);
	if (!peer_fork(peer))
		return false;
	if (madvise(addr, pages * PAGE_SIZE, MADV_DOFORK))
		die_errno("MADV_DOFORK");
	return true;
}

static void expect_shared_content(char *addr, size_t pages, const char *share,
				  uint64_t seed)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (is_shared(share, n))
			expect_content(page_at(addr, n), 1, seed, n);
	}
}

static void write_shared(char *addr, size_t pages, const char *share,
			 uint64_t seed)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (is_shared(share, n))
			pattern_write_page(page_at(addr, n), seed, n);
	}
	expect_shared_content(addr, pages, share, seed);
}

/* The child looks, writes and looks again, whenever the parent lets it. */
static void child_at(struct peer *peer, char *addr, size_t pages,
		     const char *share)
{
	peer_wait(peer);
	expect_shared_content(addr, pages, share, SEED);
	peer_turn(peer);
	write_shared(addr, pages, share, SEED_CHILD);
	peer_turn(peer);
	expect_shared_content(addr, pages, share, SEED_CHILD);
	peer_end(peer);
}

static void parent_writes(unsigned long kib, const char *share)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct peer peer;

	if (!fork_sharing(&peer, from, pages, share))
		child_at(&peer, from, pages, share);
	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	peer_turn(&peer);	/* the child still sees what it had */
	peer_turn(&peer);	/* the child writes */
	expect_content(to, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that looks on");
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, cow_parent_writes, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shares); i++)
		parent_writes(kib, shares[i]);
}

static void child_writes(unsigned long kib, const char *share)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(page_at(DST_BASE, 3), pages);
	struct peer peer;

	if (!fork_sharing(&peer, from, pages, share))
		child_at(&peer, from, pages, share);
	move_and_check(from, pages, to);
	peer_turn(&peer);	/* the child looks */
	peer_turn(&peer);	/* the child writes */
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
	peer_turn(&peer);	/* the child still sees what it wrote */
	peer_join(&peer, "the child that writes");
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, cow_child_writes, ALL_SIZES)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shares); i++)
		child_writes(kib, shares[i]);
}

/* Both have moved their range, to the same address, before either writes. */
QUIRE_CASE_SIZES(mremap, cow_both_move, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct peer peer;

	if (!peer_fork(&peer)) {
		move_and_check(from, pages, to);
		peer_go(&peer);
		child_at(&peer, to, pages, shares[0]);
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

/* Swap entries, of which only those the child did not get are exclusive. */
static void swapped(unsigned long kib, const char *share)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct peer peer;

	swap_out(from, pages);
	if (!fork_sharing(&peer, from, pages, share))
		child_at(&peer, from, pages, share);
	move_and_check(from, pages, to);
	expect_writable(to, pages);
	peer_turn(&peer);
	peer_turn(&peer);
	expect_content(to, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that shares swap");
	range_drop(from, pages);
	range_drop(to, pages);
}

QUIRE_CASE_SIZES(mremap, cow_swapped, ALL_SIZES)
{
	size_t i;

	swap_on(SWAP_MIB);
	for (i = 0; i < ARRAY_SIZE(shares); i++)
		swapped(kib, shares[i]);
}

QUIRE_CASE_SIZES(mremap, cow_dontunmap, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct snapshot *before;
	struct peer peer;

	if (!fork_sharing(&peer, from, pages, shares[1]))
		child_at(&peer, from, pages, shares[1]);
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
	if (!fork_sharing(&peer, to, pages, shares[2]))
		child_at(&peer, to, pages, shares[2]);
	move_and_check(to, pages, again);
	expect_writable(again, pages);
	peer_turn(&peer);
	peer_turn(&peer);
	expect_content(again, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child forked after a move");
}

/* A child that is gone leaves pages write-protected that nobody shares. */
QUIRE_CASE_SIZES(mremap, cow_child_gone, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *from = range_filled(SRC_BASE, pages, kib);
	char *to = range_hole(DST, pages);
	struct peer peer;

	if (!fork_sharing(&peer, from, pages, shares[3])) {
		peer_wait(&peer);
		peer_end(&peer);
	}
	peer_turn(&peer);
	peer_join(&peer, "the child that only forks");
	move_and_check(from, pages, to);
	expect_content(to, pages, SEED, 0);
	expect_writable(to, pages);
}
