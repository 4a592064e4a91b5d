// SPDX-License-Identifier: GPL-2.0
/* fork() of ranges that are in swap, as a whole or in part. */
#include <stdlib.h>
#include <sys/mman.h>

#include "fork.h"
#include "kernel/swap.h"
#include "memory/pattern.h"
#include "memory/share.h"
#include "proc/proc.h"
#include "process/map.h"

#define for_each_order(order) \
	for (enum order order = PARENT_FIRST; order < NR_ORDERS; order++)

FORK_CASE(swapped, ALL_SIZES)
{
	for_each_order(order) {
		char *at = fork_range(kib);

		expect_apart(at, range_pages(kib), order);
		range_drop(at, range_pages(kib));
	}
}

/* No entry is exclusive any more: the second fork() changes no parent's entry. */
FORK_CASE(swapped_twice, ALL_SIZES)
{
	for_each_order(order) {
		char *at = fork_range(kib);

		fork_and_forget();
		expect_apart(at, range_pages(kib), order);
		range_drop(at, range_pages(kib));
	}
}

/* Only the pages in the mask are exclusive when they are swapped out. */
static void check_exclusive(unsigned long kib, const struct mask *alone,
			    enum order order)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct peer first;

	if (!fork_without(&first, at, pages, kib, alone)) {
		sharer_looks(&first, at, pages, kib, alone);
		peer_wait(&first);
		expect_shared(at, pages, kib, alone, SEED);
		peer_end(&first);
	}
	reclaim_shared(first.pid);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_apart(at, pages, order);
	peer_turn(&first);	/* the first child has the old contents */
	peer_turn(&first);
	peer_join(&first, "the first child");
	range_drop(at, pages);
}

FORK_CASE(exclusive_mixed, ALL_SIZES)
{
	for_each_mask(mask) {
		check_exclusive(kib, mask, PARENT_FIRST);
		check_exclusive(kib, mask, CHILD_READS);
	}
}

/* Only the pages in the mask are in swap, each in a slot of its own. */
static void page_out_masked(char *at, size_t pages, unsigned long kib,
			    const struct mask *mask)
{
	size_t n = 0, run;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run)
		reclaim(page_at(at, n), run, BY_PAGEOUT);
}

FORK_CASE(partly_swapped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = swapout_range(kib, true);

		page_out_masked(at, pages, kib, mask);
		expect_apart(at, pages, PARENT_FIRST);
		range_drop(at, pages);
	}
}

/* Slots go down while addresses go up, or up in steps of five pages. */
FORK_CASE(slots_scattered, 4)
{
	size_t i, pages = range_pages(kib);
	char *at = swapout_range(kib, true);

	for (i = pages; i--; )
		swap_out(page_at(at, i), 1);
	fork_and_forget();
	expect_apart(at, pages, PARENT_FIRST);
	range_drop(at, pages);

	at = swapout_range(kib, true);
	if (pages < 2)
		die("a range of one page");
	for (i = 0; i < pages; i++)
		swap_out(page_at(at, i * 5 % (4 * BLOCK)), 1);
	fork_and_forget();
	expect_apart(at, pages, CHILD_READS);
	range_drop(at, pages);
}

/* Some pages are dropped: neither process has an entry for them. */
FORK_CASE(holes, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = fork_range(kib);
		struct snapshot *before;
		struct peer peer;

		for (n = 0; n < pages; n++) {
			if (masked(mask, n, BLOCK_KIB) &&
			    madvise(page_at(at, n), PAGE_SIZE, MADV_DONTNEED))
				die_errno("MADV_DONTNEED of page %zu", n);
		}
		before = snapshot(at, pages);
		if (!peer_fork(&peer)) {
			expect_copied(before, at, WP_GOES);
			expect_shared(at, pages, BLOCK_KIB, mask, SEED);
			peer_turn(&peer);
			expect_shared(at, pages, BLOCK_KIB, mask, SEED);
			peer_end(&peer);
		}
		peer_wait(&peer);
		expect_copied(before, at, WP_STAYS);
		write_shared(at, pages, BLOCK_KIB, mask, SEED_NEW);
		peer_turn(&peer);
		peer_join(&peer, "the child of a range with holes");
		expect_shared(at, pages, BLOCK_KIB, mask, SEED_NEW);
		range_drop(at, pages);
		free(before);
	}
}

/*
 * Entries that the other process has dropped are the last ones of their slots,
 * the others are not, when a process ends.
 */
FORK_CASE(dropped_by_one, ALL_SIZES)
{
	size_t n, pages = range_pages(kib);

	for_each_mask(mask) {
		char *at = fork_range(kib);
		struct peer peer;

		if (!peer_fork(&peer)) {
			peer_wait(&peer);
			EXPECT_EQ(pagemap_swapped(at, pages), pages);
			peer_end(&peer);
		}
		for (n = 0; n < pages; n++) {
			if (masked(mask, n, BLOCK_KIB) &&
			    madvise(page_at(at, n), PAGE_SIZE, MADV_DONTNEED))
				die_errno("MADV_DONTNEED of page %zu", n);
		}
		peer_turn(&peer);
		peer_join(&peer, "the child that has more pages");
		expect_shared(at, pages, BLOCK_KIB, mask, SEED);
		range_drop(at, pages);
	}
}

/* The child of a child, while all three still have everything in swap. */
FORK_CASE(grandchild, ALL_SIZES)
{
	size_t pages = range_pages(kib);
	char *at = fork_range(kib);
	struct peer peer;

	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_apart(at, pages, PARENT_FIRST);
		peer_end(&peer);
	}
	peer_turn(&peer);
	peer_join(&peer, "the child that forks");
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
}

/* The child has no part of the mask, or zeroes there. */
static void check_parts(unsigned long kib, const struct mask *mask, int advice)
{
	size_t n = 0, run, pages = range_pages(kib);
	char *at = fork_range(kib);
	struct snapshot *before;
	uint64_t word;
	struct peer peer;

	for (; (run = mask_run(mask, &n, pages, kib)); n += run) {
		if (madvise(page_at(at, n), run * PAGE_SIZE, advice))
			die_errno("madvise of page %zu", n);
	}
	before = snapshot(at, pages);
	if (!peer_fork(&peer)) {
		for (n = 0; n < pages; n++) {
			if (!masked(mask, n, kib))
				expect_content(page_at(at, n), 1, SEED, n);
			else if (advice == MADV_WIPEONFORK)
				expect_zero(page_at(at, n), 1);
			else
				EXPECT(probe_read(page_at(at, n), &word),
				       "the child has page %zu", n);
		}
		write_shared(at, pages, kib, mask, SEED_CHILD);
		peer_end(&peer);
	}
	expect_copied(before, at, WP_STAYS);
	peer_wait(&peer);
	peer_join(&peer, "the child that has only parts");
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	free(before);
}

FORK_CASE(dont_fork, ALL_SIZES)
{
	for_each_mask(mask)
		check_parts(kib, mask, MADV_DONTFORK);
}

FORK_CASE(wipe_on_fork, ALL_SIZES)
{
	for_each_mask(mask)
		check_parts(kib, mask, MADV_WIPEONFORK);
}

/* Unmapped, but still in the swap cache, because somebody holds them. */
FORK_CASE(in_swap_cache, LARGE_SIZES)
{
	size_t kept, pages = range_pages(kib);

	for_each_order(order) {
		char *at = swapout_range(kib, true);
		struct hold hold;

		reclaim_to_swap_cache(at, pages, kib);
		hold = hold_folios(at, pages, kib, 0);
		kept = hold.held * folio_pages(kib);
		reclaim(at, pages, BY_MEMCG);
		EXPECT_EQ(pagemap_swapped(at, kept), kept);
		expect_apart(at, pages, order);
		hold_end(&hold);
		range_drop(at, pages);
	}
}

/* Runs longer than a page table has entries, and than a swap cluster has. */
FORK_CASE(long_runs, 4)
{
	const size_t pages = 3 * PMD_PAGES;
	char *at = range_filled(page_at(SRC_BASE, 100), pages, kib);

	if (munlock(at, pages * PAGE_SIZE))
		die_errno("munlock");
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_apart(at, pages, PARENT_FIRST);
	range_drop(at, pages);
}
