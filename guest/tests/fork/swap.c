// SPDX-License-Identifier: GPL-2.0
/* fork() of ranges that are in swap, as a whole or in part. */
#include <sys/mman.h>

#include "fork.h"
#include "kernel/swap.h"
#include "memory/share.h"

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

TRIAL_CASE(fork, partly_swapped, swapping, MASKS, ALL_SIZES)
{
	page_out_masked(t->at, t->pages, t->kib, t->mask);
	expect_apart(t->at, t->pages, PARENT_FIRST);
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
TRIAL_CASE(fork, holes, in_swap, MASKS, ALL_SIZES)
{
	mask_advise(t->at, t->pages, BLOCK_KIB, t->mask, MADV_DONTNEED);
	t->before = snapshot(t->at, t->pages);
	if (!peer_fork(&t->peer)) {
		expect_changed(t->before, t->at, MAPPED_AGAIN | WP_DROPPED);
		expect_shared(t->at, t->pages, BLOCK_KIB, t->mask, SEED);
		peer_turn(&t->peer);
		expect_shared(t->at, t->pages, BLOCK_KIB, t->mask, SEED);
		peer_end(&t->peer);
	}
	peer_wait(&t->peer);
	expect_changed(t->before, t->at, MAPPED_AGAIN);
	write_shared(t->at, t->pages, BLOCK_KIB, t->mask, SEED_NEW);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child of a range with holes");
	expect_shared(t->at, t->pages, BLOCK_KIB, t->mask, SEED_NEW);
}

/*
 * Entries that the other process has dropped are the last ones of their slots,
 * the others are not, when a process ends.
 */
TRIAL_CASE(fork, dropped_by_one, in_swap, MASKS, ALL_SIZES)
{
	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		EXPECT_EQ(pagemap_swapped(t->at, t->pages), t->pages);
		peer_end(&t->peer);
	}
	mask_advise(t->at, t->pages, BLOCK_KIB, t->mask, MADV_DONTNEED);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that has more pages");
	expect_shared(t->at, t->pages, BLOCK_KIB, t->mask, SEED);
}

/* The child of a child, while all three still have everything in swap. */
TRIAL_CASE(fork, grandchild, in_swap, 0, ALL_SIZES)
{
	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		expect_apart(t->at, t->pages, PARENT_FIRST);
		peer_end(&t->peer);
	}
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that forks");
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}

/* The child has no part of the mask, or zeroes there. */
static void check_parts(struct trial *t, int advice)
{
	size_t n = 0;
	uint64_t word;

	mask_advise(t->at, t->pages, t->kib, t->mask, advice);
	t->before = snapshot(t->at, t->pages);
	if (!peer_fork(&t->peer)) {
		for (n = 0; n < t->pages; n++) {
			if (!masked(t->mask, n, t->kib))
				expect_content(page_at(t->at, n), 1, SEED, n);
			else if (advice == MADV_WIPEONFORK)
				expect_zero(page_at(t->at, n), 1);
			else
				EXPECT(probe_read(page_at(t->at, n), &word),
				       "the child has page %zu", n);
		}
		write_shared(t->at, t->pages, t->kib, t->mask, SEED_CHILD);
		peer_end(&t->peer);
	}
	expect_changed(t->before, t->at, MAPPED_AGAIN);
	peer_wait(&t->peer);
	peer_join(&t->peer, "the child that has only parts");
	expect_content(t->at, t->pages, SEED, 0);
	expect_writable(t->at, t->pages);
}

CALL_TRIAL_CASE(fork, dont_fork, in_swap, MASKS, check_parts(t, MADV_DONTFORK), ALL_SIZES)
CALL_TRIAL_CASE(fork, wipe_on_fork, in_swap, MASKS,
		check_parts(t, MADV_WIPEONFORK), ALL_SIZES)

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

	range_unlock(at, pages);
	reclaim(at, pages, BY_PAGEOUT);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	expect_apart(at, pages, PARENT_FIRST);
	range_drop(at, pages);
}
