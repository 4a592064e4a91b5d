// SPDX-License-Identifier: GPL-2.0
/*
 * More processes than a slot's count can hold (swap_count_max()). Some entries
 * of a run reach the limit, others not yet.
 */
#include <sys/mman.h>

#include "fork.h"
#include "kernel/fail.h"
#include "kernel/swap.h"
#include "memory/pattern.h"

#define CHILDREN	70u

/*
 * The first 16 members drop the pages in the mask, so that these have fewer
 * users. The odd ones end before any page is read: they drop swap entries.
 */
static void member(struct peer *peer, char *at, size_t pages,
		   unsigned long kib, const struct mask *few, size_t number)
{
	size_t n;

	if (number < 16)
		mask_advise(at, pages, kib, few, MADV_DONTNEED);
	peer_turn(peer);
	if (number % 2)
		peer_end(peer);
	for (n = 0; n < pages; n++) {
		if (number >= 16 || !masked(few, n, kib))
			expect_content(page_at(at, n), 1, SEED, n);
	}
	pattern_write_page(page_at(at, number % BLOCK), SEED_CHILD, number);
	peer_turn(peer);
	expect_content(page_at(at, number % BLOCK), 1, SEED_CHILD, number);
	peer_end(peer);
}

static void check_many(unsigned long kib, const struct mask *few, bool failing)
{
	static struct peer children[CHILDREN];
	size_t i, pages = range_pages(kib), fails_from = swap_count_max() - 3;
	char *at;

	/* What extends the counts may stay as long as the swap area. */
	swapout_start(SWAP_MIB);
	at = fork_range(kib);
	for (i = 0; i < CHILDREN; i++) {
		bool fails = failing && i >= fails_from;

		if (fails)
			fail_counts_start();
		if (!peer_fork(&children[i])) {
			if (fails)
				fail_counts_end();
			member(&children[i], at, pages, kib, few, i);
		}
		if (fails)
			fail_counts_end();
		peer_wait(&children[i]);
	}
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	/* The last one first: it has all pages, most of them with full counts. */
	for (i = CHILDREN; i; i -= 2) {
		peer_turn(&children[i - 1]);
		peer_join(&children[i - 1], "one that ends early");
	}
	for (i = 0; i < CHILDREN; i += 2)
		peer_turn(&children[i]);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	for (i = 0; i < CHILDREN; i += 2) {
		peer_turn(&children[i]);
		peer_join(&children[i], "one of many children");
	}
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, pages);
	swapout_end();
}

#define MANY_SECONDS 60u

QUIRE_CASE_FULL(fork, many, MANY_SECONDS * 1000u, KTAP_SIZES(4, 64))
{
	check_many(kib, &mask_none, false);
	check_many(kib, MASK_FIRST, false);
	check_many(kib, MASK_MIDDLE, false);
	check_many(kib, MASK_LOW_HALF, false);
	check_many(kib, MASK_EVEN, false);
}

/* What extends them must be allocated with the page table locks dropped. */
QUIRE_CASE_FULL(fork, many_cannot_grow, MANY_SECONDS * 1000u, KTAP_SIZES(4, 64))
{
	needs_failing_counts();
	check_many(kib, &mask_none, true);
	check_many(kib, MASK_MIDDLE, true);
	check_many(kib, MASK_LOW_HALF, true);
}
