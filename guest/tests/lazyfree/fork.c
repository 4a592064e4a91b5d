// SPDX-License-Identifier: GPL-2.0
/*
 * Lazily freed folios that two processes share. A page that one frees may still
 * be in use by the other. Neither may see what the other writes.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/env.h"
#include "kernel/swap.h"
#include "lazyfree.h"
#include "memory/pattern.h"
#include "process/peer.h"

static void write_all(char *addr, size_t pages, uint64_t seed)
{
	pattern_write(addr, pages * PAGE_SIZE, seed);
}

/* A child that does not free the pages: it checks them twice, then writes. */
static void child_keeps(struct peer *peer, char *addr, size_t pages)
{
	peer_wait(peer);
	expect_content(addr, pages, SEED, 0);
	peer_turn(peer);
	expect_content(addr, pages, SEED, 0);
	write_all(addr, pages, SEED_CHILD);
	peer_turn(peer);
	expect_content(addr, pages, SEED_CHILD, 0);
	peer_end(peer);
}

/* The parent frees the pages; the child does not. */
static void check_before(unsigned long kib, bool by_pte)
{
	size_t pages = range_pages(kib);
	char *at = range_charged(kib, by_pte);
	struct peer peer;

	if (!peer_fork(&peer))
		child_keeps(&peer, at, pages);
	if (madvise(at, pages * PAGE_SIZE, MADV_FREE))
		die_errno("MADV_FREE of shared pages");
	env_drain_lru();
	reclaim_shared(peer.pid);
	peer_turn(&peer);
	expect_old_or_zero(at, pages, 0);
	reclaim_shared(peer.pid);
	expect_old_or_zero(at, pages, 0);
	expect_writable(at, pages);
	peer_turn(&peer);	/* the child still has all pages, and writes */
	expect_content(at, pages, SEED_NEW, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that freed nothing");
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, fork_then_free, ALL_SIZES)
{
	for_each_mapping(by_pte, kib)
		check_before(kib, by_pte);
}

QUIRE_CASE_SIZES(lazyfree, fork_then_free_swap, ALL_SIZES)
{
	swap_on(SWAP_MIB);
	for_each_mapping(by_pte, kib)
		check_before(kib, by_pte);
}

/* A child of a range that was freed before the fork: it rewrites some pages. */
static void child_rewrites(struct peer *peer, char *addr, size_t pages,
			   unsigned long kib, const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			pattern_write_page(page_at(addr, n), SEED_CHILD, n);
	}
	peer_go(peer);
	peer_wait(peer);
	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			expect_content(page_at(addr, n), 1, SEED_CHILD, n);
		else
			expect_old_or_zero(page_at(addr, n), 1, n);
	}
	write_all(addr, pages, SEED_CHILD);
	peer_turn(peer);
	expect_content(addr, pages, SEED_CHILD, 0);
	peer_end(peer);
}

static void check_after(unsigned long kib, bool by_pte,
			const struct mask *child, const struct mask *parent)
{
	size_t pages = range_pages(kib);
	char *at = lazy_range(kib, by_pte);
	struct peer peer;

	if (!peer_fork(&peer))
		child_rewrites(&peer, at, pages, kib, child);
	peer_wait(&peer);
	lazy_rewrite(at, pages, kib, parent);
	reclaim_shared(peer.pid);
	expect_survivors(at, pages, kib, parent);
	peer_turn(&peer);
	expect_survivors(at, pages, kib, parent);
	expect_writable(at, pages);
	peer_turn(&peer);
	peer_join(&peer, "the child that rewrites some pages");
	expect_content(at, pages, SEED_NEW, 0);
	range_drop(at, pages);
}

QUIRE_CASE_SIZES(lazyfree, free_then_fork, ALL_SIZES)
{
	for_each_mask(mask) {
		for_each_mapping(by_pte, kib)
			check_after(kib, by_pte, mask, mask_opposite(mask));
	}
}

static size_t present_in(pid_t pid, char *addr, size_t pages)
{
	struct page_state *state = malloc(pages * sizeof(*state));
	size_t n, count = 0;

	if (!state)
		die("no memory for %zu page states", pages);
	pagemap_read_pid(pid, addr, pages, state);
	for (n = 0; n < pages; n++)
		count += state[n].present || state[n].swapped;
	free(state);
	return count;
}

/* Clean in both processes: dropped from both. */
QUIRE_CASE_SIZES(lazyfree, shared_clean_dropped, ALL_SIZES)
{
	size_t pages = range_pages(kib);

	for_each_mapping(by_pte, kib) {
		char *at = lazy_range(kib, by_pte);
		struct peer peer;

		if (!peer_fork(&peer)) {
			peer_wait(&peer);
			expect_zero(at, pages);
			write_all(at, pages, SEED_CHILD);
			peer_turn(&peer);
			expect_content(at, pages, SEED_CHILD, 0);
			peer_end(&peer);
		}
		reclaim_shared(peer.pid);
		EXPECT_EQ(present_in(peer.pid, at, pages), 0);
		expect_dropped(at, pages);
		peer_turn(&peer);
		expect_zero(at, pages);
		expect_writable(at, pages);
		peer_turn(&peer);
		peer_join(&peer, "the child of a range that is dropped");
		range_drop(at, pages);
	}
}
