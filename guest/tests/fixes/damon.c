// SPDX-License-Identifier: GPL-2.0
/* What DAMON's schemes do to folios between whose pages others are mapped. */
#include "base/clock.h"
#include "kernel/damon.h"
#include "kernel/env.h"
#include "memory/pattern.h"
#include "process/peer.h"
#include "tests/migrate/migrate.h"

#define BLOCKS		4u
#define WINDOW_MS	50u
#define WINDOWS		6u

/*
 * A child maps the folios, all of their pages; this process has copies of the
 * pages in the mask, in small folios of node 0.
 */
static void copy_pages(char *at, size_t pages, unsigned long kib,
		       const struct mask *mask)
{
	size_t n;

	for (n = 0; n < pages; n++) {
		if (masked(mask, n, kib))
			pattern_write_page(page_at(at, n), SEED, n);
	}
}

static void check_moves(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = BLOCKS * folio_pages(kib);
	struct peer peer;
	char *at;

	nodes_allocate_from(0);
	at = range_filled(SRC_BASE, pages, kib);
	if (!peer_fork(&peer)) {
		peer_wait(&peer);
		expect_content(at, pages, SEED, 0);
		peer_end(&peer);
	}
	copy_pages(at, pages, kib, mask);
	nodes_allocate_from(-1);
	env_drain_lru();
	damon_start_moving(at, BLOCKS, kib * KIB, 1, WINDOW_MS);
	sleep_ms(WINDOWS * WINDOW_MS);
	damon_stop();
	for (n = 0; n < pages; n++)
		EXPECT(node_of(page_at(at, n)) == 1,
		       "page %zu is on node %d (copies: %s)", n,
		       node_of(page_at(at, n)), mask->name);
	expect_content(at, pages, SEED, 0);
	peer_turn(&peer);
	peer_join(&peer, "the child that maps the folios");
	range_drop(at, pages);
}

QUIRE_CASE_SIZES_TAGGED(fixes, damon_moves_all, FIXES, 16, 64, 256)
{
	const struct mask *const which[] = { &mask_none, MASK_MIDDLE, MASK_EVEN };
	size_t n;

	needs_nodes();
	if (!damon_can_move())
		SKIP("this kernel's DAMON does not move by virtual address");
	for (n = 0; n < ARRAY_SIZE(which); n++)
		check_moves(kib, which[n]);
}
