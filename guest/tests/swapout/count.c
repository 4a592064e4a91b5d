// SPDX-License-Identifier: GPL-2.0
/*
 * Swap entries with references from many processes. A slot's count holds only
 * some of them (swap_count_max()). Beyond that it needs memory, which is
 * allocated while a batch is being unmapped; that allocation may fail.
 *
 * A certain step of a batch can be made to fail without a hook in the code
 * that unmaps. If one process more than the limit maps a folio, the first pages
 * get fewer references than the rest, so that the batch of the last process
 * first needs the memory in its middle. Fault injection, or a parameter of kernels
 * with seeded bugs, then refuses it. This takes the real paths. The
 * references that the batch has already taken must be dropped before its pages
 * are counted one by one.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/fail.h"
#include "kernel/swap.h"
#include "kernel/uffd.h"
#include "kernel/wp.h"
#include "memory/pattern.h"
#include "swapout.h"

#define MAX_PEERS	90u

/* Children that all have the range; each waits for its turn. */
struct peers {
	struct peer peer[MAX_PEERS];
	size_t nr;
};

static void peers_turn(struct peers *peers)
{
	size_t i;

	for (i = 0; i < peers->nr; i++)
		peer_turn(&peers->peer[i]);
}

static void peers_join(struct peers *peers)
{
	while (peers->nr)
		peer_join(&peers->peer[--peers->nr], "one of many children");
}

/* Checks all pages, writes one page (each child another), and checks again. */
static void member(struct peer *peer, char *at, size_t pages, size_t number)
{
	size_t mine = number % pages;

	peer_wait(peer);
	expect_content(at, pages, SEED, 0);
	pattern_write_page(page_at(at, mine), SEED_CHILD + number, mine);
	peer_turn(peer);
	expect_content(page_at(at, mine), 1, SEED_CHILD + number, mine);
	expect_content(at, mine, SEED, 0);
	peer_end(peer);
}

static void check_many(unsigned long kib, size_t sharers, bool failing)
{
	size_t pages = range_pages(kib);
	char *at = swapout_range(kib, true);
	struct peers peers = { .nr = 0 };
	struct snapshot *before;

	if (failing)
		reclaim_to_swap_cache(at, pages, kib);
	for (; peers.nr < sharers; peers.nr++) {
		if (!peer_fork(&peers.peer[peers.nr]))
			member(&peers.peer[peers.nr], at, pages, peers.nr);
	}
	before = snapshot(at, pages);
	if (failing) {
		fail_counts_start();
		reclaim(at, pages, BY_MEMCG);
		fail_counts_end();
	}
	reclaim(at, pages, BY_MEMCG);
	expect_in_swap(before, at, kib);
	peers_turn(&peers);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	peers_turn(&peers);
	peers_join(&peers);
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, pages);
	free(before);
}

QUIRE_CASE_SIZES(swapout, many_sharers, 4, 16, 64)
{
	const size_t max = swap_count_max();
	const size_t sharers[] = { max - 1, max, 72 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sharers); i++) {
		swapout_start(SWAP_MIB);
		check_many(kib, sharers[i], false);
		swapout_end();
	}
}

/* The first try gets no memory for the counts. */
QUIRE_CASE_SIZES(swapout, many_sharers_cannot_grow, 16, 64)
{
	needs_failing_counts();
	swapout_start(SWAP_MIB);
	check_many(kib, 72, true);
	swapout_end();
}

/* The pages of a folio from `few` on have more references than the others. */
static void drop_few(char *at, size_t pages, unsigned long kib, size_t few)
{
	size_t n;

	for (n = 0; few && n < pages; n += folio_pages(kib))
		range_advise(page_at(at, n), few, MADV_DONTNEED);
}

static void expect_many(char *at, size_t pages, unsigned long kib, size_t few)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (n % folio_pages(kib) < few)
			expect_zero(page_at(at, n), 1);
		else
			expect_content(page_at(at, n), 1, SEED, n);
	}
}

/* The children drop the first pages, checks, writes, and checks again. */
static void dropper(struct peer *peer, char *at, size_t pages,
		    unsigned long kib, size_t few)
{
	drop_few(at, pages, kib, few);
	peer_go(peer);
	peer_wait(peer);
	expect_many(at, pages, kib, few);
	pattern_write_page(at, SEED_CHILD, 0);
	peer_end(peer);
}

/*
 * The last child has all pages, and reclaim comes to it last. After each try to
 * reclaim, it checks its PTEs.
 */
static void last(struct peer *peer, char *at, size_t pages, unsigned long kib,
		 const struct mask *protected, const struct mask *kept)
{
	int uffd = protected ? wp_protect(at, pages, kib, protected) : -1;
	struct snapshot *before = snapshot(at, pages);

	peer_turn(peer);
	if (kept) {
		/* The first try failed. */
		expect_kept(before, at, kib, kept);
		expect_content(at, pages, SEED, 0);
		peer_turn(peer);
	}
	expect_in_swap(before, at, kib);
	expect_content(at, pages, SEED, 0);
	if (uffd >= 0)
		expect_wp_stopped(uffd, at, pages, kib, protected);
	else
		expect_writable(at, pages);
	peer_end(peer);
}

static size_t kept_from;

static bool is_kept(size_t page, size_t nr __attribute__((unused)))
{
	return page >= kept_from;
}

static const struct mask kept = { "from the failing entry on", is_kept };

static void gather(struct peers *peers, char *at, size_t pages,
		   unsigned long kib, size_t few)
{
	/* With the parent's, one reference less than the limit. */
	for (peers->nr = 0; peers->nr < swap_count_max() - 1; peers->nr++) {
		struct peer *peer = &peers->peer[peers->nr];

		if (!peer_fork(peer))
			dropper(peer, at, pages, kib, few);
		peer_wait(peer);
	}
}

static void check_overflow(unsigned long kib, size_t few,
			   const struct mask *protected, bool failing)
{
	size_t pages = range_pages(kib);
	struct peers peers;
	struct peer peer;
	char *at;

	/*
	 * New folios each time: what extends the counts may stay as long as
	 * the swap area.
	 */
	swapout_start(SWAP_MIB);
	at = swapout_range(kib, true);
	if (kib > PAGE_KIB)
		reclaim_to_swap_cache(at, pages, kib);
	gather(&peers, at, pages, kib, few);
	kept_from = few;
	if (!peer_fork(&peer))
		last(&peer, at, pages, kib, protected, failing ? &kept : NULL);
	peer_wait(&peer);
	if (failing) {
		fail_counts_start();
		reclaim_shared(peer.pid);
		fail_counts_end();
		EXPECT_EQ(pagemap_swapped(at, pages), pages);
		peer_turn(&peer);
	}
	reclaim_shared(peer.pid);
	EXPECT_EQ(pagemap_swapped(at, pages), pages);
	peer_turn(&peer);
	peer_join(&peer, "the last child");
	peers_turn(&peers);
	peers_join(&peers);
	expect_content(at, pages, SEED, 0);
	expect_writable(at, pages);
	range_drop(at, pages);
	swapout_end();
}

/* The entry that needs the page is the first, second, middle or last one. */
static void check_places(unsigned long kib, bool failing)
{
	size_t i, nr = folio_pages(kib);
	const size_t few[] = { 0, 1, nr / 2, nr - 1 };

	for (i = 0; i < ARRAY_SIZE(few); i++)
		check_overflow(kib, few[i], NULL, failing);
}

QUIRE_CASE_SIZES_CALL(swapout, count_overflows, check_places(kib, false), 16, 64)

QUIRE_CASE_SIZES(swapout, count_cannot_grow, 16, 64)
{
	needs_failing_counts();
	check_places(kib, true);
}

/* The same in the first, a middle and the last batch of PTEs. */
static void check_sub_runs(unsigned long kib, bool failing)
{
	size_t i, nr = folio_pages(kib);
	const size_t few[] = { 0, nr / 2, nr / 2 + 1, nr - 1 };

	/* The last child protects pages. Without that, skip before there is one. */
	close(uffd_open(WP_FEATURES));
	for (i = 0; i < ARRAY_SIZE(few); i++) {
		check_overflow(kib, few[i], MASK_MIDDLE, failing);
		check_overflow(kib, few[i], MASK_HIGH_HALF, failing);
	}
}

QUIRE_CASE_SIZES_CALL(swapout, count_overflows_sub_run, check_sub_runs(kib, false), 16, 64)

QUIRE_CASE_SIZES(swapout, count_cannot_grow_sub_run, 16, 64)
{
	needs_failing_counts();
	check_sub_runs(kib, true);
}
