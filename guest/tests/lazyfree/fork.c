// SPDX-License-Identifier: GPL-2.0
/*
 * Lazily freed folios that two processes share. A page that one frees may still
 * be in use by the other. Neither may see what the other writes.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/env.h"
#include "lazyfree.h"
#include "memory/pattern.h"

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
static void check_before(struct trial *t)
{
	if (!peer_fork(&t->peer))
		child_keeps(&t->peer, t->at, t->pages);
	range_advise(t->at, t->pages, MADV_FREE);
	env_drain_lru();
	reclaim_shared(t->peer.pid);
	peer_turn(&t->peer);
	expect_old_or_zero(t->at, t->pages, 0);
	reclaim_shared(t->peer.pid);
	expect_old_or_zero(t->at, t->pages, 0);
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);	/* the child still has all pages, and writes */
	expect_content(t->at, t->pages, SEED_NEW, 0);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that freed nothing");
}

CALL_TRIAL_CASE(lazyfree, fork_then_free, charged, MAPPINGS, check_before(t), ALL_SIZES)
CALL_TRIAL_CASE(lazyfree, fork_then_free_swap, charged_with_swap, MAPPINGS,
		check_before(t), ALL_SIZES)

/* A child of a range that was freed before the fork: it rewrites some pages. */
static void child_rewrites(struct peer *peer, char *addr, size_t pages,
			   unsigned long kib, const struct mask *mask)
{
	size_t n;

	mask_write(addr, pages, kib, mask, SEED_CHILD);
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

TRIAL_CASE(lazyfree, free_then_fork, lazy, MASKS | MAPPINGS, ALL_SIZES)
{
	if (!peer_fork(&t->peer))
		child_rewrites(&t->peer, t->at, t->pages, t->kib, t->mask);
	peer_wait(&t->peer);
	lazy_rewrite(t->at, t->pages, t->kib, mask_opposite(t->mask));
	reclaim_shared(t->peer.pid);
	expect_survivors(t->at, t->pages, t->kib, mask_opposite(t->mask));
	peer_turn(&t->peer);
	expect_survivors(t->at, t->pages, t->kib, mask_opposite(t->mask));
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child that rewrites some pages");
	expect_content(t->at, t->pages, SEED_NEW, 0);
}

static size_t present_in(pid_t pid, char *addr, size_t pages)
{
	struct page_state *state = allocate(pages, sizeof(*state));
	size_t n, count = 0;

	pagemap_read_pid(pid, addr, pages, state);
	for (n = 0; n < pages; n++)
		count += state[n].present || state[n].swapped;
	free(state);
	return count;
}

/* Clean in both processes: dropped from both. */
TRIAL_CASE(lazyfree, shared_clean_dropped, lazy, MAPPINGS, ALL_SIZES)
{
	if (!peer_fork(&t->peer)) {
		peer_wait(&t->peer);
		expect_zero(t->at, t->pages);
		write_all(t->at, t->pages, SEED_CHILD);
		peer_turn(&t->peer);
		expect_content(t->at, t->pages, SEED_CHILD, 0);
		peer_end(&t->peer);
	}
	reclaim_shared(t->peer.pid);
	EXPECT_EQ(present_in(t->peer.pid, t->at, t->pages), 0);
	expect_dropped(t->at, t->pages);
	peer_turn(&t->peer);
	expect_zero(t->at, t->pages);
	expect_writable(t->at, t->pages);
	peer_turn(&t->peer);
	peer_join(&t->peer, "the child of a range that is dropped");
}
