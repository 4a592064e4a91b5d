// SPDX-License-Identifier: GPL-2.0
/* What DAMON's schemes do to folios between whose pages others are mapped. */
#include "base/clock.h"
#include "kernel/damon.h"
#include "kernel/env.h"
#include "memory/pattern.h"
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
	mask_write(at, pages, kib, mask, SEED);
}

/* The folios, on node 0, of which this process has copies of some pages. */
static char *folios_begin(struct peer *peer, unsigned long kib,
			  const struct mask *mask)
{
	size_t pages = BLOCKS * folio_pages(kib);
	char *at;

	nodes_allocate_from(0);
	at = range_filled(SRC_BASE, pages, kib);
	if (!peer_fork(peer)) {
		peer_wait(peer);
		expect_content(at, pages, SEED, 0);
		peer_end(peer);
	}
	copy_pages(at, pages, kib, mask);
	nodes_allocate_from(-1);
	env_drain_lru();
	return at;
}

static void folios_end(struct peer *peer, char *at, unsigned long kib)
{
	size_t pages = BLOCKS * folio_pages(kib);

	damon_stop();
	expect_content(at, pages, SEED, 0);
	peer_turn(peer);
	peer_join(peer, "the child that maps the folios");
	range_drop(at, pages);
}

static void check_moves(unsigned long kib, const struct mask *mask)
{
	size_t n, pages = BLOCKS * folio_pages(kib);
	struct peer peer;
	char *at = folios_begin(&peer, kib, mask);

	damon_start_moving(at, BLOCKS, kib * KIB, 1, WINDOW_MS);
	sleep_ms(WINDOWS * WINDOW_MS);
	for (n = 0; n < pages; n++)
		EXPECT(node_of(page_at(at, n)) == 1,
		       "page %zu is on node %d (copies: %s)", n,
		       node_of(page_at(at, n)), mask->name);
	folios_end(&peer, at, kib);
}

static void check_counts(unsigned long kib, const struct mask *mask)
{
	unsigned long all, counted;
	struct peer peer;
	char *at = folios_begin(&peer, kib, mask);

	damon_start_counting(at, BLOCKS, kib * KIB, WINDOW_MS);
	sleep_ms(WINDOWS * WINDOW_MS);
	damon_counted(&all, &counted);
	EXPECT(all >= BLOCKS * kib * KIB, "only %lu bytes were looked at", all);
	EXPECT(counted == all, "%lu of %lu bytes were counted (copies: %s)",
	       counted, all, mask->name);
	folios_end(&peer, at, kib);
}

static void each_copies(unsigned long kib,
			void (*check)(unsigned long kib, const struct mask *mask))
{
	const struct mask *const which[] = { &mask_none, MASK_MIDDLE, MASK_EVEN };
	size_t n;

	needs_nodes();
	if (!damon_can_move())
		SKIP("this kernel's DAMON does not move by virtual address");
	for (n = 0; n < ARRAY_SIZE(which); n++)
		check(kib, which[n]);
}

QUIRE_CASE_SIZES_CALL_TAGGED(fixes, damon_moves_all, FIXES,
			     each_copies(kib, check_moves), 16, 64, 256)
QUIRE_CASE_SIZES_CALL_TAGGED(fixes, damon_counts_all, FIXES,
			     each_copies(kib, check_counts), 16, 64, 256)
